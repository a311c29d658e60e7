/* steps_math.js -- the head of a worked example in double precision, and its gradients: what the
 * Steps view computes again when its reader changes a number. Matrices are arrays of rows; nothing
 * here touches the document. The order of every sum is the program's own (src/inspect/lesson.c), so
 * that the numbers are the same. */
"use strict";
(() => {
    const copy = (m) => m.map((row) => row.slice());
    const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
    const total = heed.math.sum;
    const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
    const minus = (a, b) => a.map((row, i) => row.map((x, j) => x - (b ? b[i][j] : 0)));
    const sums = (d) => [d[0].map((_, j) => total(d.map((row) => row[j])))];

    /* a (n,d) times b (d,e). */
    const product = (a, b) =>
        a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
    /* x W + b. */
    const project = (x, w, bias) =>
        product(x, w).map((row) => (bias ? row.map((v, j) => v + bias[0][j]) : row));

    const softmax = (row) => heed.math.choose(row, false),
          hardmax = (row) => heed.math.choose(row, true);
    /* The keys with the highest score of a row: more than one is a tie. */
    const winners = (row) => {
        const top = Math.max(...row);
        return top === -Infinity ? [] : row.flatMap((s, j) => (s === top ? [j] : []));
    };
    /* A row to mean 0 and deviation 1: [(x - mean) scale, scale]. */
    const rowNormed = (row, eps) => {
        const mean = row.reduce((sum, x) => sum + x / row.length, 0),
              variance = row.reduce((sum, x) => sum + ((x - mean) * (x - mean)) / row.length, 0);
        const scale = 1 / Math.sqrt(variance + eps);
        return [row.map((x) => (x - mean) * scale), scale];
    };
    /* X + all heads as the norm sees it: rows of [N, 1 / deviation]. */
    const normRows = (m, all) => plus(m.X, all).map((row) => rowNormed(row, m.eps));
    /* What the layer makes of a head: its share, with the other heads and the bias, and LN(X +
     * that) where there is a norm. */
    const layer = (m, output) => {
        const share = product(output, m.W_h),
              all_heads = share.map(
                  (row, i) => row.map((x, j) => x + m.others[i][j] + (m.B_O ? m.B_O[0][j] : 0)));
        if (!m.gain) return {share, all_heads};
        const rows = normRows(m, all_heads), N = rows.map(([row]) => row);
        const normed = N.map((row) => row.map((x, j) => x * m.gain[0][j] + m.bias[0][j]));
        return {share, all_heads, N, deviation: rows.map(([, scale]) => 1 / scale), normed};
    };

    /* Rotary positions: the two products whose sum is number j of the row at place p, as [factor,
     * number it is of]. */
    const turn = (theta, width, p, j, back) => {
        const half = width / 2, angle = p * theta ** ((-2 * (j % half)) / width),
              sine = back ? -Math.sin(angle) : Math.sin(angle);
        return [[Math.cos(angle), j], j < half ? [-sine, j + half] : [sine, j - half]];
    };
    const rotated = (m, theta, back) => m.map(
        (row, p) => row.map(
            (_, j) => total(turn(theta, row.length, p, j, back).map(([f, k]) => f * row[k]))));

    /* All that follows from m: {X, Z or none, W_Q, W_K, W_V, B_Q, B_K, B_V or none, rotary: theta
     * or none, beta, causal, hard, hidden: 0 or 1 a key; W_h or none, others, B_O or none, gain or
     * none, bias, eps}. */
    const compute = (m) => {
        const memory = m.Z || m.X;
        const Q = project(m.X, m.W_Q, m.B_Q), K = project(memory, m.W_K, m.B_K),
              V = project(memory, m.W_V, m.B_V);
        const turned = m.rotary ? {Q_R: rotated(Q, m.rotary), K_R: rotated(K, m.rotary)} : {};
        const raw = product(turned.Q_R || Q, transpose(turned.K_R || K));
        const unseen = (i, j) => (m.causal && j > i) || m.hidden[j];
        const scaled = raw.map((row) => row.map((s) => m.beta * s)),
              scores = scaled.map((row, i) => row.map((s, j) => (unseen(i, j) ? -Infinity : s)));
        const weights = scores.map(m.hard ? hardmax : softmax), output = product(weights, V);
        return {
            Q, K, V, ...turned, raw, scaled, scores, weights, output,
            ...(m.W_h ? layer(m, output) : {}),
        };
    };

    /* ---- gradients of L = 1/2 sum (output - target)^2 or, of a layer, the same of what it gives
     * ---- */

    const throughNorm = (m, r) => {
        const dY = minus(r.normed, m.X), rows = normRows(m, r.all_heads), n = dY[0].length;
        const dU = dY.map((row, i) => {
            const [N, scale] = rows[i], g = row.map((d, j) => d * m.gain[0][j]);
            const mean = g.reduce((sum, x) => sum + x / n, 0),
                  along = g.reduce((sum, x, j) => sum + (x * N[j]) / n, 0);
            return g.map((x, j) => scale * (x - mean - N[j] * along));
        });
        const ofGain = dY.map((row, i) => row.map((d, j) => d * rows[i][0][j]));
        return {dY, dgain: sums(ofGain), dbias: sums(dY), dU};
    };
    const throughLayer = (m, r) => {
        const back = m.gain ? throughNorm(m, r) : {dU: r.all_heads};
        return {
            ...back, dB_O: sums(back.dU), dW_h: product(transpose(r.output), back.dU),
            dO: product(back.dU, transpose(m.W_h)),
        };
    };
    /* A hard selection passes on what the soft one would. */
    const gradients = (m, r, target) => {
        const memory = m.Z || m.X, soft = r.scores.map(softmax);
        const end = m.W_h && !target ? throughLayer(m, r) : {dO: minus(r.output, target)},
              dO = end.dO;
        const dV = product(transpose(r.weights), dO), dP = product(dO, transpose(r.V));
        const dS = soft.map((row, i) => {
            const mean = total(row.map((p, j) => p * dP[i][j]));
            return row.map((p, j) => p * (dP[i][j] - mean));
        });
        const dR = dS.map((row) => row.map((x) => m.beta * x)), ofQ = product(dR, r.K_R || r.K),
              ofK = product(transpose(dR), r.Q_R || r.Q);
        const turned = m.rotary ? {dQ_R: ofQ, dK_R: ofK} : {},
              dQ = m.rotary ? rotated(ofQ, m.rotary, true) : ofQ,
              dK = m.rotary ? rotated(ofK, m.rotary, true) : ofK;
        const back = product(dQ, transpose(m.W_Q)),
              behind = plus(product(dK, transpose(m.W_K)), product(dV, transpose(m.W_V)));
        return {
            ...end, dV, dP, dS, dR, ...turned, dQ, dK, dW_Q: product(transpose(m.X), dQ),
            dW_K: product(transpose(memory), dK), dW_V: product(transpose(memory), dV),
            dB_Q: sums(dQ), dB_K: sums(dK), dB_V: sums(dV), dX: m.Z ? back : plus(back, behind),
            dZ: behind,
        };
    };
    const loss = (g) => total((g.dY || g.dU || g.dO).flat().map((x) => (x * x) / 2));

    /* Largest difference of two matrices of one shape. */
    const distance = (a, b) => Math.max(0,
        ...a.flatMap((row, i) => row.map((x, j) => (x === b[i][j] ? 0 : Math.abs(x - b[i][j])))));
    const swapped = (rows, a, b) => rows.map((row, i) => rows[i === a ? b : i === b ? a : i]);

    heed.stepsMath =
        {compute, gradients, loss, copy, winners, distance, swapped, total, turn, softmax};
})();

/* steps_slopes.js -- the Steps view goes on with gradients: what L = 1/2 sum (output - target)^2
 * or, of a layer, the same of what it gives says of every matrix, worked out as the program does it
 * (src/inspect/lesson.c). A gradient has the labels of what it belongs to. */
"use strict";
(() => {
    const {transpose, product, plus, softmax, rowNormed, turn, rotated, total} = heed.stepsMath;
    const column = (m, j) => m.map((row) => row[j]);
    const pairs = (a, b) => a.map((x, k) => [x, b[k]]);
    const sums = (d) => [d[0].map((_, j) => total(column(d, j)))];
    const minus = (a, b) => a.map((row, i) => row.map((x, j) => x - (b ? b[i][j] : 0)));

    /* The loss is of what the layer gives: the head has W_h, and nobody named a target of its
     * output. */
    const ofLayer = (m, target) => !!m.W_h && !target;
    /* X + all heads as the norm sees it: rows of [N, 1 / deviation]. */
    const normRows = (m, r) => plus(m.X, r.all_heads).map((row) => rowNormed(row, m.eps));
    const throughNorm = (m, r) => {
        const dY = minus(r.normed, m.X), rows = normRows(m, r), n = dY[0].length;
        const dU = dY.map((row, i) => {
            const [N, scale] = rows[i], g = row.map((d, j) => d * m.gain[0][j]);
            const mean = g.reduce((sum, x) => sum + x / n, 0),
                  along = g.reduce((sum, x, j) => sum + (x * N[j]) / n, 0);
            return g.map((x, j) => scale * (x - mean - N[j] * along));
        });
        return {
            dY,
            dgain: sums(dY.map((row, i) => row.map((d, j) => d * rows[i][0][j]))), dbias: sums(dY),
            dU
        };
    };
    const throughLayer = (m, r) => {
        const back = m.gain ? throughNorm(m, r) : {dU: r.all_heads};
        return {
            ...back, dB_O: sums(back.dU), dW_h: product(transpose(r.output), back.dU),
            dO: product(back.dU, transpose(m.W_h))
        };
    };

    /* A hard selection passes on what the soft one would. */
    const compute = (m, r, target) => {
        const memory = m.Z || m.X, soft = r.scores.map(softmax);
        const end = ofLayer(m, target) ? throughLayer(m, r) : {dO: minus(r.output, target)},
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
            ...end, dV, dP, dS, dR, ...turned, dQ, dK,
            dW_Q: product(transpose(m.X), dQ), dW_K: product(transpose(memory), dK),
            dW_V: product(transpose(memory), dV), dB_Q: sums(dQ), dB_K: sums(dK), dB_V: sums(dV),
            dX: m.Z ? back : plus(back, behind), dZ: behind,
        };
    };
    const loss = (g) => total((g.dY || g.dU || g.dO).flat().map((x) => (x * x) / 2));

    const is = (name) => /^d([A-Z]|gain$|bias$)/.test(name);
    /* What a gradient is of: "dO" of the output, "dW_Q" of W_Q. */
    const of = (name) =>
        ({dY: "normed",
          dU: "all_heads", dO: "output", dP: "weights", dS: "scores",
          dR: "raw"}[name] ||
         name.slice(1));
    /* Of which gradient one of a bias is the sum over tokens. */
    const summed = (name) =>
        (name === "dB_O"              ? "dU"
             : name === "dbias"       ? "dY"
             : name.startsWith("dB_") ? "d" + name[3]
                                      : null);

    const titles = {
        dY: ["dY = Y − X", "dY = Y − X"],
        dU: [
            "dU = (G − mean G − N mean(G N)) / deviation, G = dY gain",
            "dU = (G − mean G − N mean(G N)) / deviation, G = dY gain"
        ],
        dgain: ["dgain = sum of dY N over tokens", "dgain = sum of dY N over tokens"],
        dW_h: ["dW_h = output′ dU", "dW_h′ = dU′ H"], dV: ["dV = A′ dO", "dV′ = dH A′"],
        dP: ["dA = dO V′", "dA = V dH"],
        dS: ["dS = A (dA − row's sum of A dA)", "dS = A (dA − column's sum of A dA)"],
        dR: ["d raw = beta dS", "d raw = beta dS"],
        dQ_R: ["dQ_R = d raw K_R", "dQ_R′ = K_R′ d raw"],
        dK_R: ["dK_R = d raw′ Q_R", "dK_R′ = Q_R′ d raw′"], dQ: ["dQ = d raw K", "dQ′ = K′ d raw"],
        dK: ["dK = d raw′ Q", "dK′ = Q′ d raw′"],
    };
    const end = (name, columns, g) =>
        (name === "dU" && !g.dY ? "dU = all heads"
             : name !== "dO"    ? ""
             : g.dU             ? (columns ? "dH = W_h dU′" : "dO = dU W_h′")
             : columns          ? "dH = H − target"
                                : "dO = output − target");
    const title = (name, columns, memory, g) => {
        const first = end(name, columns, g);
        if (first) return first;
        if (g[name + "_R"]) return `${name}: ${name}_R rotated back`;
        if (titles[name]) return titles[name][columns ? 1 : 0];
        if (summed(name)) return `${name} = sum of ${summed(name)} over tokens`;
        const x = name === "dW_Q" ? "X" : memory, y = "d" + name[3];
        return name[1] !== "W" ? name + (columns ? "′" : "")
            : columns          ? `${name}′ = ${y}′ ${x}`
                               : `${name} = ${x}′ ${y}`;
    };

    /* The pairs of numbers whose products a cell is the sum of; null where it is none. */
    const terms = (s, name, i, j) => {
        const g = s.gradients;
        if (summed(name)) return column(g[summed(name)], j).map((x) => [1, x]);
        if (name === "dR") return [[s.model.beta, g.dS[i][j]]];
        if (g[name + "_R"])
            return turn(s.model.rotary, g[name][i].length, i, j, true)
                .map(([f, k]) => [f, g[name + "_R"][i][k]]);
        if (name === "dgain")
            return pairs(column(g.dY, j), column(normRows(s.model, s.result).map(([N]) => N), j));
        return ["dY", "dU", "dS"].includes(name) || (name === "dO" && !g.dU)
            ? null
            : products(s, sources(s, name, i, j));
    };
    /* Of the rows and columns that a cell is made of, two by two. */
    const products = (s, made) => {
        const lists = Object.entries(made).map(
            ([name, [row, col]]) =>
                (row === null ? column(s.matrix(name), col) : s.matrix(name)[row]));
        return lists.flatMap((list, k) => (k % 2 ? pairs(lists[k - 1], list) : []));
    };
    const words = (s, name, i, j, n) => {
        const g = s.gradients, r = s.result, row = r.scores.map(softmax)[i];
        if (name === "dY") return ` = ${n(r.normed[i][j])} − ${n(s.model.X[i][j])}`;
        if (name === "dU")
            return g.dY ? " = (G − mean G − N mean(G N)) / deviation, of this token's numbers"
                        : ` = all heads`;
        if (name === "dO") return ` = ${n(r.output[i][j])} − ${n(r.output[i][j] - g.dO[i][j])}`;
        return ` = ${n(row[j])} · (${n(g.dP[i][j])} − ` +
            `${n(total(row.map((p, k) => p * g.dP[i][k])))})`;
    };
    /* What a cell is made of: {matrix: [row, column]}, null for all of them. */
    const sources = (s, name, i, j) => {
        const memory = s.model.Z ? "Z" : "X",
              behind = {dK: [i, null], W_K: [j, null], dV: [i, null], W_V: [j, null]},
              g = s.gradients;
        if (summed(name)) return {[summed(name)]: [null, j]};
        if (name === "dW_h") return {output: [null, i], dU: [null, j]};
        if (g[name + "_R"]) return {[name + "_R"]: [i, null]};
        if (name[1] === "W")
            return {[name === "dW_Q" ? "X" : memory]: [null, i], ["d" + name[3]]: [null, j]};
        return {
            dY: {normed: [i, j], X: [i, j]}, dgain: {dY: [null, j], normed: [null, j]},
            dU: g.dY ? {dY: [i, null], gain: [0, null]} : {all_heads: [i, j]},
            dO: g.dU ? {dU: [i, null], W_h: [j, null]} : {output: [i, j]},
            dV: {weights: [null, i], dO: [null, j]}, dP: {dO: [i, null], V: [j, null]},
            dS: {weights: [i, null], dP: [i, null]}, dR: {dS: [i, j]},
            dQ_R: {dR: [i, null], K_R: [null, j]}, dK_R: {dR: [null, i], Q_R: [null, j]},
            dQ: {dR: [i, null], K: [null, j]}, dK: {dR: [null, i], Q: [null, j]},
            dX: {dQ: [i, null], W_Q: [j, null], ...(s.model.Z ? {} : behind)}, dZ: behind,
        }[name];
    };

    heed.stepsSlopes = {compute, loss, ofLayer, is, of, title, terms, products, words, sources};
})();

/* steps_slopes.js -- the Steps view goes on with gradients: what L = 1/2 sum (output - target)^2 says of every matrix, worked out
 * as the program does it (src/inspect/lesson_backward.c). A gradient has the labels of what it belongs to. */
"use strict";
(() => {
    const {transpose, product, softmax, total} = heed.stepsMath;
    const column = (m, j) => m.map((row) => row[j]);
    const pairs = (a, b) => a.map((x, k) => [x, b[k]]);
    const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
    const sums = (d) => [d[0].map((_, j) => total(column(d, j)))];

    /* A hard selection passes on what the soft one would. */
    const compute = (m, r, target) => {
        const memory = m.Z || m.X, soft = r.scores.map(softmax);
        const dO = r.output.map((row, i) => row.map((x, j) => x - (target ? target[i][j] : 0)));
        const dV = product(transpose(r.weights), dO), dP = product(dO, transpose(r.V));
        const dS = soft.map((row, i) => { const mean = total(row.map((p, j) => p * dP[i][j])); return row.map((p, j) => p * (dP[i][j] - mean)); });
        const dR = dS.map((row) => row.map((x) => m.beta * x)), dQ = product(dR, r.K), dK = product(transpose(dR), r.Q);
        const back = product(dQ, transpose(m.W_Q)), behind = plus(product(dK, transpose(m.W_K)), product(dV, transpose(m.W_V)));
        return {
            dO, dV, dP, dS, dR, dQ, dK, dW_Q: product(transpose(m.X), dQ), dW_K: product(transpose(memory), dK), dW_V: product(transpose(memory), dV),
            dB_Q: sums(dQ), dB_K: sums(dK), dB_V: sums(dV), dX: m.Z ? back : plus(back, behind), dZ: behind,
        };
    };
    const loss = (g) => total(g.dO.flat().map((x) => (x * x) / 2));

    const is = (name) => /^d[A-Z]/.test(name);
    /* What a gradient is of: "dO" of the output, "dW_Q" of W_Q. */
    const of = (name) => ({dO: "output", dP: "weights", dS: "scores", dR: "raw"}[name] || name.slice(1));

    const titles = {
        dO: ["dO = output − target", "dH = H − target"], dV: ["dV = A′ dO", "dV′ = dH A′"], dP: ["dA = dO V′", "dA = V dH"],
        dS: ["dS = A (dA − row's sum of A dA)", "dS = A (dA − column's sum of A dA)"], dR: ["d raw = beta dS", "d raw = beta dS"],
        dQ: ["dQ = d raw K", "dQ′ = K′ d raw"], dK: ["dK = d raw′ Q", "dK′ = Q′ d raw′"],
    };
    const title = (name, columns, memory) => {
        if (titles[name]) return titles[name][columns ? 1 : 0];
        if (name[1] === "B") return `${name} = sum of d${name[3]} over tokens`;
        const x = name === "dW_Q" ? "X" : memory, y = "d" + name[3];
        return name[1] !== "W" ? name + (columns ? "′" : "") : columns ? `${name}′ = ${y}′ ${x}` : `${name} = ${x}′ ${y}`;
    };

    /* The pairs of numbers whose products a cell is the sum of; null where it is none. */
    const terms = (s, name, i, j) => {
        const g = s.gradients, r = s.result, m = s.model, memory = m.Z || m.X, values = () => [...pairs(g.dK[i], m.W_K[j]), ...pairs(g.dV[i], m.W_V[j])];
        const made = {
            dV: () => pairs(column(r.weights, i), column(g.dO, j)), dP: () => pairs(g.dO[i], r.V[j]), dR: () => [[m.beta, g.dS[i][j]]],
            dQ: () => pairs(g.dR[i], column(r.K, j)), dK: () => pairs(column(g.dR, i), column(r.Q, j)),
            dW_Q: () => pairs(column(m.X, i), column(g.dQ, j)), dW_K: () => pairs(column(memory, i), column(g.dK, j)), dW_V: () => pairs(column(memory, i), column(g.dV, j)),
            dX: () => [...pairs(g.dQ[i], m.W_Q[j]), ...(m.Z ? [] : values())], dZ: values,
        }[name];
        return made ? made() : name[1] === "B" ? column(g["d" + name[3]], j).map((x) => [1, x]) : null;
    };
    const words = (s, name, i, j, n) => {
        const g = s.gradients, row = s.result.scores.map(softmax)[i];
        if (name === "dO") return ` = ${n(s.result.output[i][j])} − ${n(s.result.output[i][j] - g.dO[i][j])}`;
        return ` = ${n(row[j])} · (${n(g.dP[i][j])} − ${n(total(row.map((p, k) => p * g.dP[i][k])))})`;
    };
    /* What a cell is made of: {matrix: [row, column]}, null for all of them. */
    const sources = (s, name, i, j) => {
        const memory = s.model.Z ? "Z" : "X", behind = {dK: [i, null], W_K: [j, null], dV: [i, null], W_V: [j, null]};
        if (name[1] === "B") return {["d" + name[3]]: [null, j]};
        if (name[1] === "W") return {[name === "dW_Q" ? "X" : memory]: [null, i], ["d" + name[3]]: [null, j]};
        return {
            dO: {output: [i, j]}, dV: {weights: [null, i], dO: [null, j]}, dP: {dO: [i, null], V: [j, null]}, dS: {weights: [i, null], dP: [i, null]}, dR: {dS: [i, j]},
            dQ: {dR: [i, null], K: [null, j]}, dK: {dR: [null, i], Q: [null, j]}, dX: {dQ: [i, null], W_Q: [j, null], ...(s.model.Z ? {} : behind)}, dZ: behind,
        }[name];
    };

    heed.stepsSlopes = {compute, loss, is, of, title, terms, words, sources};
})();

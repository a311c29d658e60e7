/* steps_words.js -- what the Steps view says: a cell's computation written out, questions with
 * their answers from the numbers at hand, the names that the notes give to the sizes. s is the
 * view's worked example (steps.js). */
"use strict";
(() => {
    const MOST = 16; /* terms of a sum that are written out */
    const bold = (text) => heed.el("b", {text});

    const cellName = (s, name, i, j) => {
        const [rows, cols] = s.labels(name),
              place = [rows[i], cols[j]].map((label) => heed.within(heed.show(label)));
        return `${name}[${(s.columns() ? place.reverse() : place).join(", ")}]`;
    };

    /* A number as it is shown, and whether what such numbers give is the result as it is shown. */
    const rounded = (x, n) => Number(n(x).replace("−", "-"));
    const equals = (shown, x, n) => (rounded(shown, n) === rounded(x, n) ? " = " : " ≈ ");
    const sumOf = (list, n) => heed.stepsMath.total(list.map(
        ([a, b], k) => (k < MOST ? rounded(a, n) * rounded(b, n) : a * b)));
    /* The sum of the products of pairs. */
    const writeSum = (list, n) => {
        const product = ([a, b]) => heed.el("span", {
            class: a * b === 0 ? "nothing" : "term",
            text: `${n(a)}·${b < 0 ? `(${n(b)})` : n(b)}`
        });
        const words = list.slice(0, MOST).flatMap((pair, k) => [k ? " + " : "", product(pair)]);
        return list.length > MOST ? [...words, ` + … (${list.length} terms)`] : words;
    };

    const writeScore = (s, i, j, n) => {
        const {scores, raw} = s.result;
        if (scores[i][j] === -Infinity)
            return [" = −∞: the mask hides this key, so its weight is 0"];
        const same = equals(rounded(s.model.beta, n) * rounded(raw[i][j], n), scores[i][j], n);
        return [
            ` = beta · raw = ${n(s.model.beta)} · ${n(raw[i][j])}${same}`, bold(n(scores[i][j]))
        ];
    };
    const writeHard = (row, j) => {
        const best = heed.stepsMath.winners(row);
        const tie =
            best.length > 1 ? `; ${best.length} keys tie, and the first of them is taken` : "";
        return [
            j === best[0] ? ` = 1: the highest score of the row${tie}`
                          : ` = 0: not the one that is selected${tie}`
        ];
    };
    const writeWeight = (s, i, j, n) => {
        const row = s.result.scores[i], top = Math.max(...row);
        if (top === -Infinity) return [" = 0: the whole row is hidden"];
        if (s.model.hard) return writeHard(row, j);
        const sum = heed.stepsMath.total(row.map((x) => Math.exp(x - top))),
              part = Math.exp(row[j] - top), weight = s.result.weights[i][j],
              same = equals(rounded(part, n) / rounded(sum, n), weight, n);
        return [
            " = e", heed.el("sup", {text: `${n(row[j])} − ${n(top)}`}),
            ` / ${n(sum)} = ${n(part)} / ${n(sum)}${same}`, bold(n(weight)),
            `. ${n(top)} is the highest score of the row; ${n(sum)} is the sum over all keys`
        ];
    };

    const writeNormed = (s, i, j, n) => {
        const {X, gain, bias, eps} = s.model,
              row = X[i].map((x, k) => x + s.result.all_heads[i][k]),
              [N, scale] = heed.stepsMath.rowNormed(row, eps);
        const last = `${n(gain[0][j])} + ${n(bias[0][j])}`;
        return [
            ` = (${n(row[j])} − ${n(heed.stepsMath.total(row) / row.length)}) / ${n(1 / scale)}`,
            ` · ${last} = ${n(N[j])} · ${last} = `,
            bold(n(s.result.normed[i][j])),
            ": the token's number minus the token's mean, over its deviation, times gain, plus bias"
        ];
    };

    /* The computation of one cell, as nodes. */
    const writtenOut = (s, name, i, j) => {
        const n = (x) => heed.stepsNumber(x, s.digits(name)), head = bold(cellName(s, name, i, j));
        if (name === "scores") return [head, ...writeScore(s, i, j, n)];
        if (name === "weights") return [head, ...writeWeight(s, i, j, n)];
        if (heed.stepsSlopes.is(name)) {
            const list = heed.stepsSlopes.terms(s, name, i, j), x = s.matrix(name)[i][j],
                  value = bold(n(x));
            return list
                ? [head, " = ", ...writeSum(list, n), equals(sumOf(list, n), x, n), value]
                : [head, heed.stepsSlopes.words(s, name, i, j, n), " = ", value];
        }
        if (name === "all_heads") {
            const added = ["share", "others", "B_O"].filter((x) => s.matrix(x));
            const terms = added.map((x) => s.matrix(x)[x === "B_O" ? 0 : i][j]),
                  x = s.matrix(name)[i][j], shown = terms.map((term) => rounded(term, n));
            return [
                head, ` = ${terms.map(n).join(" + ")}`,
                equals(heed.stepsMath.total(shown), x, n), bold(n(x))
            ];
        }
        if (name === "Q_R" || name === "K_R") {
            const row = s.result[name[0]][i],
                  list = heed.stepsMath.turn(s.model.rotary, row.length, i, j)
                             .map(([f, k]) => [row[k], f]);
            const x = s.result[name][i][j];
            return [
                head, " = ", ...writeSum(list, n), equals(sumOf(list, n), x, n), bold(n(x)),
                `: the pair ${list.map(([x]) => n(x)).join(", ")} rotated by its place, ${i}`
            ];
        }
        if (name === "normed") return [head, ...writeNormed(s, i, j, n)];
        const {[`B_${name}`]: _, ...made} = sources(s, name, i, j), bias = s.model[`B_${name}`],
              list = heed.stepsSlopes.products(s, made), x = s.matrix(name)[i][j],
              shown = sumOf(list, n) + (bias ? rounded(bias[0][j], n) : 0);
        return [
            head, " = ", ...writeSum(list, n), bias ? ` + ${n(bias[0][j])} (bias)` : "",
            equals(shown, x, n), bold(n(x))
        ];
    };

    /* What a cell is made of: {matrix: [row, column]}, null for all of them. */
    const sources = (s, name, i, j) => {
        const memory = s.model.Z ? "Z" : "X", [q, k] = s.model.rotary ? ["Q_R", "K_R"] : ["Q", "K"];
        if (heed.stepsSlopes.is(name)) return heed.stepsSlopes.sources(s, name, i, j);
        return {
            Q: {X: [i, null], W_Q: [null, j], B_Q: [0, j]},
            K: {[memory]: [i, null], W_K: [null, j], B_K: [0, j]},
            V: {[memory]: [i, null], W_V: [null, j], B_V: [0, j]},
            raw: {[q]: [i, null], [k]: [j, null]}, Q_R: {Q: [i, null]}, K_R: {K: [i, null]},
            scores: {raw: [i, j], [q]: [i, null], [k]: [j, null]}, weights: {scores: [i, null]},
            output: {weights: [i, null], V: [null, j]}, share: {output: [i, null], W_h: [null, j]},
            all_heads: {share: [i, j], others: [i, j], B_O: [0, j]},
            normed: {X: [i, null], all_heads: [i, null], gain: [0, j], bias: [0, j]},
        }[name] ||
            {};
    };

    /* What to compute for a cell, without its numbers. */
    const hint = (s, name, i, j) => {
        if (name === "scores")
            return `It is beta times ` +
                `${cellName(s, "raw", i, j)}, or −∞ where a mask hides the key.`;
        const [across, down] = s.columns() ? ["column", "row"] : ["row", "column"],
              quote = (label) => `‘${heed.within(heed.show(label))}’`;
        const named = ([from, [r, c]]) => {
            const [rows, cols] = s.labels(from);
            if (c === null) return `${across} ${quote(rows[r])} of ${from}`;
            return r === null ? `${down} ${quote(cols[c])} of ${from}` : cellName(s, from, r, c);
        };
        const made = Object.entries(sources(s, name, i, j)).filter(([from]) => s.matrix(from));
        const parts = made.map(named);
        const [a, b, ...more] = parts;
        if (!["Q", "K", "V", "raw", "output", "share"].includes(name))
            return `It is made of ${parts.join(" and ")}.`;
        return `Multiply ${a} with ${b}, number by number, and add up` +
            `${more.length ? `, with ${more.join(" and ")}` : ""}.`;
    };

    /* [question, answer] about the row at hand. */
    const questions = (s) => {
        const now = s.result, [rows, keys] = s.labels("weights"), i = s.row();
        const n = (x) => heed.stepsNumber(x, heed.state.digits, false),
              names = (list) => list.map((k) => `‘${heed.within(heed.show(k))}’`).join(", ");
        const asked = now.Q_R || now.Q,
              same = rows.filter((_, k) => k !== i && asked[k].every((x, c) => x === asked[i][c]));
        const best = heed.stepsMath.winners(now.scores[i]).map((k) => keys[k]),
              word = `‘${heed.within(heed.show(rows[i]))}’`;
        const mean =
            now.V[0].map((_, c) => heed.stepsMath.total(now.V.map((row) => row[c])) / now.V.length);
        return [
            [
                `Who asks for exactly the same as ${word}?`,
                same.length
                    ? `${names(same)}: equal queries, so equal scores and weights, unless a mask ` +
                        "tells them apart."
                    : "Nobody: no other query is equal."
            ],
            [
                `Whose key fits the query of ${word} best?`,
                best.length ? `${names(best)} with the score ${n(Math.max(...now.scores[i]))}` +
                                  `${best.length > 1 ? ": a tie" : ""}.`
                            : "Nobody's: the row is hidden."
            ],
            [
                "What will the output be with beta = 0?",
                `Every score is 0 and every weight ${n(1 / keys.length)}: the mean of the ` +
                    `values, (${mean.map(n).join(", ")}), for every query; with a mask, the mean ` +
                    "of what it leaves."
            ],
            [
                "Two words change places. What happens to the output?",
                s.model.rotary
                    ? "Their rows change places, and the weights change too: queries and keys " +
                        "are rotated by their places, so a score depends on how far apart two " +
                        "words are."
                    : s.model.Z
                    ? "Nothing: the output is a sum over the keys, and a sum has no order."
                    : "The same two rows change places and nothing else: attention knows no " +
                        "order. With the causal mask this no longer holds."
            ],
        ];
    };

    const symbols = (s) => {
        const inputs = s.model.Z || s.model.X;
        const sizes = [
            ["tokens, each with a key and a value", inputs.length, "m", "t", "N_X"],
            ["queries", s.model.X.length, "", "", "N_Q"],
            ["width of a token", inputs[0].length, "d", "n", "D_X"],
            ["width of a query and of a key", s.result.Q[0].length, "e", "d'", "D_Q"],
            ["width of a value", s.result.V[0].length, "d2", "d''", "D_V"],
        ];
        const heads = ["", "here", "Self Attention", "Canziani", "Lecture 5"].map(
            (text) => heed.el("th", {scope: "col", text}));
        const rows = sizes.map(
            ([what, ...rest]) => heed.el(
                "tr", {}, heed.el("th", {scope: "row", text: what}),
                ...rest.map((text) => heed.el("td", {text}))));
        return heed.el(
            "table", {}, heed.el("thead", {}, heed.el("tr", {}, ...heads)),
            heed.el("tbody", {}, ...rows));
    };

    heed.stepsWords = {writtenOut, sources, hint, questions, symbols, cellName};
})();

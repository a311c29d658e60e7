/* math.js -- the arithmetic of what a reader of the page changes or chooses, in double precision:
 * it touches no document, and tests/page/check.py compares it with the program's own. */
"use strict";
heed.math = {
    sum: (list) => list.reduce((sum, x) => sum + x, 0),
    /* How evenly n weights are spread: 2^H / n, from 1/n to 1 (heed__evenness in focus.c). */
    evenness(weights) {
        const some = [...weights].filter((w) => w > 0), sum = heed.math.sum(some);
        const bits = -heed.math.sum(some.map((w) => (w / sum) * Math.log2(w / sum)));
        return sum > 0 ? 2 ** bits / weights.length : 0;
    },
    /* heed__nearly_uniform in focus.c. */
    isEven(weights) {
        const mean = heed.math.sum(weights.map((w) => Math.max(0, w))) / weights.length;
        return heed.math.evenness(weights) >= 0.9 && Math.max(...weights) < 2 * mean;
    },
    /* Weights of a row of scores, of which hidden ones are -Infinity: their softmax, or all on the
     * highest, the first of equal ones. A row that is hidden throughout gives zeros. */
    choose(scores, hard) {
        const top = Math.max(...scores), first = scores.indexOf(top);
        if (top === -Infinity) return scores.map(() => 0);
        if (hard) return scores.map((_, i) => Number(i === first));
        const e = scores.map((s) => Math.exp(s - top)), sum = heed.math.sum(e);
        return e.map((x) => x / sum);
    },
    /* What the units of a query and a key add to their score: products, or of the additive form
     * v tanh(q + k) (Bahdanau et al. 2015), for which align is v. */
    shares: (q, k, align) =>
        Array.from(q, (x, i) => (align ? align[i] * Math.tanh(x + k[i]) : x * k[i])),
    /* Of a head's weights (rows, cols), means over the queries. entropy: bits. distance: far(q, k)
     * by weight. special: share on special tokens. previous: on the token before. diagonal: on the
     * token itself. */
    measures({rows, cols, data}, special, far) {
        const out = {entropy: 0, distance: 0, special: 0, previous: 0, diagonal: 0};
        data.forEach((w, i) => {
            if (!(w > 0)) return;
            const q = Math.floor(i / cols), k = i % cols;
            out.entropy -= (w * Math.log2(w)) / rows;
            out.distance += (w * far(q, k)) / rows;
            if (special[k]) out.special += w / rows;
            if (k === q - 1) out.previous += w / rows;
            if (k === q) out.diagonal += w / rows;
        });
        return out;
    },
    /* The strongest values that make up a share of all; others become NaN. */
    strongest(values, share) {
        const out = values.slice(), order = [...values.keys()];
        order.sort((a, b) => values[b] - values[a]);
        let left = share * heed.math.sum(values.map((w) => Math.max(0, w)));
        for (const i of order) {
            if (left <= 0) out[i] = NaN;
            left -= Math.max(0, values[i]);
        }
        return out;
    },
    /* Of each element of the list a the place of its counterpart in b; -1: it has none. Equal ones
     * are paired in order, as many as possible (the longest common subsequence); others between the
     * same two pairs in order, if they are as many in a as in b. */
    counterparts(a, b) {
        const common = Array.from({length: a.length + 1}, () => new Uint32Array(b.length + 1)),
              out = a.map(() => -1);
        for (let i = a.length - 1; i >= 0; i--)
            for (let j = b.length - 1; j >= 0; j--)
                common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1
                                             : Math.max(common[i + 1][j], common[i][j + 1]);
        let i = 0, j = 0, x = 0, y = 0; /* x and y: behind the last pair of equal ones */
        const others = () => { if (i - x === j - y) while (x < i) out[x++] = y++; };
        while (i < a.length || j < b.length) {
            if (a[i] === b[j]) {
                others();
                out[i] = j;
                x = ++i;
                y = ++j;
            } else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1]))
                i++;
            else j++;
        }
        others();
        return out;
    },
};

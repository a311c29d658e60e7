/* heatmap.js -- a matrix of values with its labels: where things go, what is painted, and the scale
 * that its colours have. */
"use strict";
(() => {
    const LEAST = 9;  /* the smallest letters */
    const WHOLE = 12; /* of usual ones: cells are that high also where the window is lower */
    /* more: beside the text, as a row's number is. */
    const labelWidth = (axis, list, more, most) => {
        let widest = 24;
        for (const i of list.slice(0, 400))
            widest =
                Math.max(widest, heed.width(heed.token(axis, i), {size: 12, weight: 700}) + more);
        return Math.min(most, Math.ceil(widest));
    };
    /* Where things go: m {queries, keys, rows: [places], cols: [places]}, width: at hand; cell:
     * wished, 0: what fits. */
    heed.matrixLayout = (m, width, cell = 0, height = Math.max(340, window.innerHeight - 330)) => {
        const left = labelWidth(m.queries, m.rows, 40, Math.min(170, width * 0.3)),
              top = labelWidth(m.keys, m.cols, 18, 130);
        const high = Math.max(Math.max(height - top, 200) / m.rows.length, WHOLE);
        const fits = Math.min((width - left - 8) / m.cols.length, high);
        const natural = fits > 6 ? Math.floor(fits) : fits > 3 ? Math.floor(fits * 2) / 2 : 3;
        const side = Math.max(2, Math.min(64, cell || natural));
        /* Where all rows have room they are high enough to be read, also if columns are narrow. */
        const room = !cell && m.rows.length * WHOLE <= height,
              tall = room ? Math.max(side, WHOLE) : side;
        const every = Math.ceil((LEAST - 1) / side), wide = left + side * m.cols.length + 8;
        const low = top + tall * m.rows.length + 8;
        return {
            left, top, cell: side, tall, every, low,
            everyRow: Math.ceil((LEAST - 1) / tall), width: every > 1 ? Math.max(wide, 200) : wide,
            height: every > 1 ? low + 16 : low,
        };
    };
    heed.matrixAt = (m, l, x, y) => {
        const r = Math.floor((y - l.top) / l.tall), c = Math.floor((x - l.left) / l.cell);
        if (r < 0 || r >= m.rows.length || c >= m.cols.length) return null;
        return {query: m.rows[r], key: c < 0 ? -1 : m.cols[c]};
    };
    /* Letters are as small as cells are, down to LEAST; labels of smaller cells are at intervals,
     * and a line says so. The chosen one always is there, its neighbours make room for it. */
    const labelled = (list, chosen, cell, every, paint) => {
        const own = list.indexOf(chosen), size = Math.max(LEAST, Math.min(WHOLE, cell + 1));
        list.forEach((x, i) => {
            const mine = i === own, near = every > 1 && own >= 0 && Math.abs(i - own) < every;
            const style = {
                size, color: mine ? heed.theme.ink : heed.theme.muted, weight: mine ? 700 : 400
            };
            if (mine || (i % every === 0 && !near)) paint(x, (i + 0.5) * cell, style);
        });
    };
    /* The label of a column, which ends at (x, y): from below upwards, or upright if it is one
     * letter. */
    heed.columnLabel = (pen, text, x, y, o) => {
        if ([...text].length > 1) return pen.text(text, x, y, {...o, turn: -90});
        pen.text(text, x, y - o.size / 2, {...o, align: "center"});
    };
    const paintLabels = (pen, m, l, at) => {
        labelled(m.rows, at.query, l.tall, l.everyRow, (q, y, o) => {
            const number = {...o, size: Math.min(o.size, 10), color: heed.theme.muted};
            pen.text(
                heed.token(m.queries, q), l.left - 6, l.top + y,
                {...o, align: "right", width: l.left - 34});
            pen.text(String(heed.nth(q)), 2, l.top + y, number);
        });
        labelled(m.cols, at.key, l.cell, l.every, (k, x, o) => heed.columnLabel(
            pen, heed.token(m.keys, k), l.left + x, l.top - 6, {...o, width: l.top - 14}));
        const nth = l.every + (["", "", "nd", "rd"][l.every] || "th");
        const which = l.everyRow < l.every ? "label of columns" : "label";
        if (l.every > 1)
            pen.text(
                `Every ${nth} ${which} is shown.`, l.left, l.low + 6,
                {size: 11, color: heed.theme.muted});
    };
    const paintNumbers = (pen, m, l) => {
        const size = l.cell >= 44 ? 12 : 10;
        m.rows.forEach((q, i) => m.cols.forEach((k, j) => {
            const v = m.value(q, k);
            if (m.void(q, k) || Number.isNaN(v)) return;
            const text = m.signed ? heed.number(v, 2)
                : v < 0.005       ? "·"
                : v >= 1          ? "1"
                                  : Math.min(v, 0.99).toFixed(2).slice(1);
            pen.text(
                text, l.left + (j + 0.5) * l.cell, l.top + (i + 0.5) * l.tall,
                {size, align: "center", color: heed.ink(m.color(v))});
        }));
    };
    /* A frame that is seen on dark cells and on light ones. */
    heed.frame = (pen, x, y, w, h, width) => {
        pen.rect(x, y, w, h, {stroke: heed.css(heed.theme.surface), width: width + 3});
        pen.rect(x, y, w, h, {stroke: heed.theme.accent, width});
    };
    /* Where no query may look nothing is of a colour, which would be a weight's: it is hatched. */
    const paintHatch = (pen, m, l) => {
        const rows = m.rows.length, cols = m.cols.length, apart = Math.ceil(8 / l.cell),
              color = heed.theme.line;
        const at = (d, i) => [l.left + (i + d) * l.cell, l.top + i * l.tall],
              put = (d, from, to) => pen.line([at(d, from), at(d, to)], {color});
        for (let d = apart * Math.ceil((1 - rows) / apart); m.hatched && d < cols; d += apart)
            for (let i = Math.max(0, -d), from = -1; i <= rows; i++) {
                const empty = i < rows && i + d < cols && m.void(m.rows[i], m.cols[i + d]);
                if (empty && from < 0) from = i;
                if (!empty && from >= 0) {
                    put(d, from, i);
                    from = -1;
                }
                if (i + d >= cols) break;
            }
    };
    /* m: {queries, keys, rows, cols, value(q, k), color(v) -> [r,g,b], void(q, k), hatched: some
     * are void, signed}; at: {query, key}. */
    heed.paintMatrix = (pen, m, l, at) => {
        const w = l.cell * m.cols.length, h = l.tall * m.rows.length;
        pen.cells(l.left, l.top, w, h, m.rows.length, m.cols.length, (i, j) => {
            const q = m.rows[i], k = m.cols[j];
            return m.void(q, k) ? heed.theme.surface : m.color(m.value(q, k));
        });
        paintHatch(pen, m, l);
        if (l.cell >= 28 && !m.plain) paintNumbers(pen, m, l);
        paintLabels(pen, m, l, at);
        const r = m.rows.indexOf(at.query), c = m.cols.indexOf(at.key);
        pen.rect(l.left - 0.5, l.top - 0.5, w + 1, h + 1, {stroke: heed.theme.line});
        if (r >= 0)
            pen.rect(l.left, l.top + r * l.tall, w, l.tall, {stroke: heed.theme.ink, width: 1.5});
        if (r >= 0 && c >= 0)
            heed.frame(pen, l.left + c * l.cell, l.top + r * l.tall, l.cell, l.tall, 3);
    };
    /* Values over two axes as such a matrix; more: what else it has. */
    heed.matrixOf = (m, {queries, keys}, top, more) => {
        const signed = m.min < 0,
              color = signed ? (v) => heed.signed(v / top) : (v) => heed.color(v / top);
        return {
            queries, keys, rows: heed.visible(queries), cols: heed.visible(keys), value: m.at,
            signed, top, color, ...more
        };
    };
    /* The weights of a block's head. */
    heed.weightMatrix = (b, head) => {
        const w = heed.weights(b, head), top = heed.scaleOf(w);
        return heed.matrixOf(w, b, top, {
            void: (q, k) => heed.masked(b, q, k), hatched: heed.hatched(b), uniform: w.uniform,
            mean: b.triangle, above: heed.isAbove(w, top), even: heed.nearlyUniform(b, head),
        });
    };
    /* Full scale: the largest value, of weights that of the layer's heads, at least twice the
     * uniform one and the same on all inputs, as in the terminal and in PNG files; or 1. */
    heed.scaleOf = (m) => {
        if (heed.state.scale === "one" && m.min >= 0) return 1;
        return (m.of ? heed.scaleEnd(...m.of) : Math.max(m.max, -m.min)) || 1;
    };
    /* Where that scale of weights ends, in words. */
    heed.scaleWords = (m) => {
        const top = heed.scaleOf(m);
        const several = heed.severalInputs() ? " on all inputs" : " at all steps";
        const among = heed.data.records.length < 2 ? "" : several;
        const whose =
            heed.scaledAlone(m.of[1]) ? "its largest" : "the largest of the layer's heads";
        if (top > 2 * m.uniform) return `, up to ${whose}${among}`;
        return top === 1 ? "" : ", up to twice the uniform weight";
    };
})();

/* figure.js -- a matrix of values as every view draws it: where its cells and labels go, how they
 * are painted, the scale that its colours have, its legend and its table. */
"use strict";
{
    const LEAST = 9;  /* the smallest letters */
    const WHOLE = 12; /* of usual ones: cells are that high also where the window is lower */

    /* ---- a matrix: {queries, keys: axes, rows, cols: places that are drawn, value(q, k), color(v)
     * -> [r,g,b], void(q, k), hatched: some are void, signed, top: the end of its scale} ---- */

    heed.matrixOf = (m, {queries, keys}, top, more) => {
        const signed = m.min < 0;
        return {
            queries, keys, rows: heed.visible(queries), cols: heed.visible(keys), value: m.at, top,
            signed, color: (v) => (signed ? heed.signed(v / top) : heed.color(v / top)), ...more,
        };
    };
    /* The weights of a block's head. */
    heed.weightMatrix = (b = heed.block(), head = heed.state.head) => {
        const w = heed.weights(b, head), top = heed.scaleOf(w);
        return heed.matrixOf(w, b, top, {
            void: (q, k) => heed.masked(b, q, k), hatched: heed.hatched(b), uniform: w.uniform,
            mean: b.triangle, above: heed.isAbove(w, top), even: heed.nearlyUniform(b, head),
        });
    };

    /* Where the scale of weights ends, in words. */
    heed.scaleWords = (m) => {
        const top = heed.scaleOf(m), {length} = heed.data.records,
              among = length < 2 ? "" : heed.severalInputs() ? " on all inputs" : " at all steps",
              alone = heed.scaledAlone(m.of[1]);
        return top > 2 * m.uniform
            ? `, up to ${alone ? "its largest" : "the largest of the layer's heads"}${among}`
            : top === 1 ? "" : ", up to twice the uniform weight";
    };

    /* ---- where things go ---- */

    /* The room of labels; more: beside the text, as a row's number is. */
    const labelWidth = (axis, list, more, most) => {
        const bold = {size: 12, weight: 700},
              widths = list.slice(0, 400).map((i) => heed.width(heed.token(axis, i), bold) + more);
        return Math.min(most, Math.ceil(Math.max(24, ...widths)));
    };
    /* width: at hand; cell: wished, 0: what fits. */
    heed.matrixLayout = (m, width, cell = 0, height = Math.max(340, window.innerHeight - 330)) => {
        const left = labelWidth(m.queries, m.rows, 40, Math.min(170, width * 0.3)),
              top = labelWidth(m.keys, m.cols, 18, 130);
        const high = Math.max(Math.max(height - top, 200) / m.rows.length, WHOLE),
              fits = Math.min((width - left - 8) / m.cols.length, high);
        const natural = fits > 6 ? Math.floor(fits) : fits > 3 ? Math.floor(fits * 2) / 2 : 3,
              side = heed.clamp(cell || natural, 2, 64);
        /* Where all rows have room they are high enough to be read, also if columns are narrow. */
        const room = !cell && m.rows.length * WHOLE <= height,
              tall = room ? Math.max(side, WHOLE) : side;
        const every = Math.ceil((LEAST - 1) / side), wide = left + side * m.cols.length + 8,
              low = top + tall * m.rows.length + 8;
        return {
            left, top, cell: side, tall, every, low, everyRow: Math.ceil((LEAST - 1) / tall),
            width: every > 1 ? Math.max(wide, 200) : wide, height: every > 1 ? low + 16 : low,
        };
    };
    heed.matrixAt = (m, l, x, y) => {
        const r = Math.floor((y - l.top) / l.tall), c = Math.floor((x - l.left) / l.cell);
        return m.rows[r] === undefined || c >= m.cols.length
            ? null
            : {query: m.rows[r], key: m.cols[c] ?? -1};
    };

    /* ---- painting ---- */

    /* Letters are as small as cells are, down to LEAST; labels of smaller cells are at intervals,
     * and a line says so. The chosen one always is there, its neighbours make room for it. */
    const labelled = (list, chosen, cell, every, paint) => {
        const own = list.indexOf(chosen), size = heed.clamp(cell + 1, LEAST, WHOLE),
              {ink, muted} = heed.theme;
        list.forEach((x, i) => {
            const mine = i === own, near = own >= 0 && Math.abs(i - own) < every;
            const style = {size, color: mine ? ink : muted, weight: mine ? 700 : 400};
            if (mine || (i % every === 0 && !near)) paint(x, (i + 0.5) * cell, style);
        });
    };
    /* The label of a column, which ends at (x, y): from below upwards, or upright if it is one
     * letter. */
    heed.columnLabel = (pen, text, x, y, o) => {
        if ([...text].length > 1) pen.text(text, x, y, {...o, turn: -90});
        else pen.text(text, x, y - o.size / 2, {...o, align: "center"});
    };
    const paintLabels = (pen, m, l, at) => {
        const {muted} = heed.theme;
        labelled(m.rows, at.query, l.tall, l.everyRow, (q, dy, o) => {
            const label = heed.token(m.queries, q), y = l.top + dy;
            pen.text(label, l.left - 6, y, {...o, align: "right", width: l.left - 34});
            pen.text(String(heed.nth(q)), 2, y, {...o, size: Math.min(o.size, 10), color: muted});
        });
        labelled(m.cols, at.key, l.cell, l.every, (k, dx, o) => heed.columnLabel(
            pen, heed.token(m.keys, k), l.left + dx, l.top - 6, {...o, width: l.top - 14}));
        const nth = l.every + (["", "", "nd", "rd"][l.every] || "th"),
              which = l.everyRow < l.every ? "label of columns" : "label";
        if (l.every > 1)
            pen.text(
                `Every ${nth} ${which} is shown.`, l.left, l.low + 6, {size: 11, color: muted});
    };
    const paintNumbers = (pen, m, l) => m.rows.forEach((q, i) => m.cols.forEach((k, j) => {
        const v = m.value(q, k);
        if (m.void(q, k) || Number.isNaN(v)) return;
        const text = m.signed ? heed.number(v, 2)
            : v < 0.005       ? "·"
            : v >= 1          ? "1"
                              : Math.min(v, 0.99).toFixed(2).slice(1);
        pen.text(
            text, l.left + (j + 0.5) * l.cell, l.top + (i + 0.5) * l.tall,
            {size: l.cell >= 44 ? 12 : 10, align: "center", color: heed.ink(m.color(v))});
    }));
    /* Where no query may look nothing is of a colour, which would be a weight's: it is hatched. */
    const paintHatch = (pen, m, l) => {
        const rows = m.rows.length, cols = m.cols.length, apart = Math.ceil(8 / l.cell);
        const at = (d, i) => `${l.left + (i + d) * l.cell} ${l.top + i * l.tall}`;
        let path = "";
        for (let d = apart * Math.ceil((1 - rows) / apart); d < cols; d += apart)
            for (let i = Math.max(0, -d), from = -1; i <= rows && i + d <= cols; i++) {
                const empty = i < rows && i + d < cols && m.void(m.rows[i], m.cols[i + d]);
                if (empty && from < 0) from = i;
                if (empty || from < 0) continue;
                path += `M${at(d, from)}L${at(d, i)}`;
                from = -1;
            }
        pen.path(path, {stroke: heed.theme.line});
    };
    /* A frame that is seen on dark cells and on light ones. */
    heed.frame = (pen, x, y, w, h, width) => {
        pen.rect(x, y, w, h, {stroke: heed.css(heed.theme.surface), width: width + 3});
        pen.rect(x, y, w, h, {stroke: heed.theme.accent, width});
    };
    /* at: {query, key}. */
    heed.paintMatrix = (pen, m, l, at) => {
        const w = l.cell * m.cols.length, h = l.tall * m.rows.length, {ink, line} = heed.theme;
        pen.cells(l.left, l.top, w, h, m.rows.length, m.cols.length, (i, j) => {
            const q = m.rows[i], k = m.cols[j];
            return m.void(q, k) ? heed.theme.surface : m.color(m.value(q, k));
        });
        if (m.hatched) paintHatch(pen, m, l);
        if (l.cell >= 28 && !m.plain) paintNumbers(pen, m, l);
        paintLabels(pen, m, l, at);
        const r = m.rows.indexOf(at.query), c = m.cols.indexOf(at.key), y = l.top + r * l.tall;
        pen.rect(l.left - 0.5, l.top - 0.5, w + 1, h + 1, {stroke: line});
        if (r >= 0) pen.rect(l.left, y, w, l.tall, {stroke: ink, width: 1.5});
        if (r >= 0 && c >= 0) heed.frame(pen, l.left + c * l.cell, y, l.cell, l.tall, 3);
    };
    /* A strip of colours, with a mark at a share of it. */
    heed.paintRamp = (pen, x, y, w, h, color, mark) => {
        pen.cells(x, y, w, h, 1, 64, (_, i) => color(i / 63));
        pen.rect(x - 0.5, y - 0.5, w + 1, h + 1, {stroke: heed.theme.line});
        if (mark) pen.rect(x + w * mark - 1, y - 3, 2, h + 6, {fill: heed.theme.ink});
    };

    /* ---- legends ---- */

    /* {label, lo, hi, color(t in 0..1) -> [r,g,b], uniform, at} or null: the colours of the current
     * view, always in sight. lo and hi are numbers, or words where parts of the view have scales of
     * their own; uniform, if given, is marked, `at` a share of the scale; of: of which rows
     * it is. above: some weights are larger than hi. Which way the colours of weights run is
     * said. */
    heed.legend = (label, lo, hi, color, {uniform = 0, of = "", above = false} = {}) => {
        const end = (x) => (typeof x === "number" ? heed.number(x) : x),
              way = heed.dark() ? "; brighter is more" : "; darker is more";
        return {
            label: color === heed.color ? label + way : label, lo: end(lo),
            hi: end(hi) + (above ? " and more" : ""), color, at: Math.min(1, uniform / hi),
            uniform: uniform ? `uniform = ${heed.number(uniform)}${of}` : "",
        };
    };
    heed.signedLegend = (top, below = true) => below
        ? heed.legend("blue below 0, orange above", -top, top, (t) => heed.signed(2 * t - 1))
        : heed.legend("more orange is more", 0, top, heed.signed);
    heed.matrixLegend = (m) => heed.legend(
        "weight: share of a row's attention (1 = 100 %)" +
            (m.hatched ? "; hatched: may not attend" : "") +
            (m.even ? "; this head is nearly uniform" : ""),
        0, m.top, heed.color,
        {uniform: m.uniform, of: m.mean ? ", mean of rows" : "", above: m.above});
    heed.drawLegend = (v) => {
        const box = heed.id("legend"), l = v.legend();
        box.hidden = !l;
        if (!l) return;
        const strip = heed.bitmap(1, 128, (_, i) => l.color(i / 127)), span = (text, name) =>
            heed.el("span", {class: name, text});
        strip.className = "strip";
        strip.setAttribute("role", "img");
        strip.setAttribute("aria-label", `colours from ${l.lo} to ${l.hi}`);
        const ramp = heed.el("span", {class: "ramp"}, strip),
              mark = heed.el("span", {class: "mark", "aria-hidden": "true"});
        mark.style.left = `${(100 * l.at).toFixed(1)}%`;
        if (l.uniform) ramp.append(mark);
        box.replaceChildren(
            span(l.lo), ramp, span(l.hi), l.uniform ? span(l.uniform, "marked") : "",
            span(l.label, "muted"));
    };

    /* ---- tables ---- */

    /* Of a query and a key in a saved table, in words that the program's CSV has, too. */
    heed.placeColumns = ["query_position", "query_token", "key_position", "key_token"];
    heed.placeCells =
        (queries, q, keys, k) => [heed.nth(q), queries.labels[q], heed.nth(k), keys.labels[k]];
    /* {caption, head, rows, label(row, column), all}: of a large matrix the chosen row. */
    heed.matrixTable = (m, at, caption) => {
        const whole = m.rows.length * m.cols.length <= 600, rows = whole ? m.rows : [at.query];
        const cell = (q, k) => (m.void(q, k) ? "masked" : heed.weight(m.value(q, k))),
              name = (axis, i) => `${heed.nth(i)} ${heed.token(axis, i)}`;
        const exact = (q) => m.cols.filter((k) => !m.void(q, k))
            .map((k) => [...heed.placeCells(m.queries, q, m.keys, k), m.value(q, k)]);
        return {
            caption: whole ? caption
                           : `${caption}: row ${heed.nth(at.query)} of ${m.rows.length}; ` +
                                 "choose another one with the arrow keys",
            head: ["query", ...m.cols.map((k) => name(m.keys, k))],
            rows: rows.map((q) => [name(m.queries, q), ...m.cols.map((k) => cell(q, k))]),
            label: (i, j) => `row ${heed.placed(m.queries, rows[i])} attends ` +
                `${cell(rows[i], m.cols[j - 1])} to ${heed.quote(m.keys, m.cols[j - 1])}`,
            all: () => [[...heed.placeColumns, "weight"], ...m.rows.flatMap(exact)],
        };
    };
    const tableOf = (t) => {
        const cell = (tag, text, more) => heed.el(tag, {dir: "auto", text: String(text), ...more});
        const row = (cells, i) => heed.el(
            "tr", {}, cell("th", cells[0], {scope: "row"}),
            ...cells.slice(1).map(
                (text, j) => cell("td", text, {"aria-label": t.label?.(i, j + 1)})));
        return heed.el(
            "table", {}, heed.el("caption", {text: t.caption}),
            heed.el(
                "thead", {},
                heed.el("tr", {}, ...t.head.map((text) => cell("th", text, {scope: "col"})))),
            heed.el("tbody", {}, ...t.rows.map(row)));
    };
    /* Always there for screen readers; to be seen with the button "Table". Filled when the hand
     * rests. */
    let later = 0;
    heed.drawTable = (v) => {
        const box = heed.id("table"), {table} = heed.state;
        box.classList.toggle("aside", !table);
        box.tabIndex = table ? 0 : -1; /* what scrolls is reached by the keyboard */
        clearTimeout(later);
        later = setTimeout(() => box.replaceChildren(tableOf(v.table())), table ? 0 : 150);
    };
}

/* overview.js -- the Overview: a thumbnail of every head, sorted by what a head does. A click opens
 * it. */
"use strict";
(() => {
    const sorts = {
        place: ["layer and head", null],
        entropy: ["entropy", "bits: low looks at one token, high at all"],
        distance: ["mean distance", "how far away the keys are"],
        special: ["share on special tokens", ""],
        previous: ["share on the previous token", ""], diagonal: ["share on the token itself", ""],
    };
    const edge = 14, foot = 38;
    let order, scroll, list = [], columns = 1, side = 112, top = 1; /* top: of one scale for all */

    const collect = () => {
        const by = heed.state.sort, r = heed.record(), all = [];
        for (const b of r.blocks)
            for (const h of b.heads) all.push({b, h, of: heed.measures(b, h)});
        if (by !== "place")
            all.sort((x, y) => (heed.state.falling ? y.of[by] - x.of[by] : x.of[by] - y.of[by]));
        return all;
    };
    /* A matrix shrunk to n x n at most: the largest weight of each patch, so that a thin line
     * stays. */
    const shrunk = (m, n) => {
        const rows = Math.min(m.rows, n), cols = Math.min(m.cols, n),
              out = new Float32Array(rows * cols);
        const place = Int32Array.from({length: m.cols}, (_, k) => Math.floor((k * cols) / m.cols));
        for (let q = 0, j = 0; q < m.rows; q++)
            for (let k = 0, row = Math.floor((q * rows) / m.rows) * cols; k < m.cols; k++, j++) {
                const w = Math.abs(m.data[j]);
                if (w > out[row + place[k]]) out[row + place[k]] = w;
            }
        return {rows, cols, out};
    };
    const many = () => heed.stacks(heed.record()).length > 1;
    const byRows = () =>
        heed.state.sort === "place" && heed.record().blocks.every((b) => b.heads.length <= 16);
    const ratio = (b) => b.queries.count / b.keys.count;
    /* The room of the longest label. */
    const widest = (b) => 5 + Math.ceil(Math.max(...[b.queries, b.keys].flatMap((axis) =>
        axis.order.map((i) => heed.width(heed.token(axis, i), {size: 10})))));
    /* A thumbnail: its cells, and left of them and above them, where there is room, their
     * labels. */
    const shapeOf = (b) => {
        const most = Math.max(b.queries.count, b.keys.count),
              limit = Math.min(64, Math.round(side / 3)),
              wished = 10 * most < side ? Math.min(limit, widest(b)) : side;
        /* Labels say something where all are whole, or some letters of each fit. */
        const large = side - wished >= 10 * most && (wished < limit || limit >= 30),
              gutter = large ? wished : 0;
        const inner = side - gutter,
              share = (x) => Math.max(24, Math.round(inner * Math.min(1, x)));
        return {gutter, inner, wide: share(1 / ratio(b)), high: share(ratio(b))};
    };
    /* Where each is: a row of few queries is as low as they are, and as wide as the window. */
    const layout = () => {
        const width = heed.widthIn(scroll), {blocks} = heed.record(),
              sideOf = (n) => Math.floor((width - edge) / n) - edge;
        list = collect();
        const heads = Math.max(...blocks.map((b) => b.heads.length)),
              flat = Math.max(...blocks.map((b) => Math.min(1, ratio(b))));
        columns = byRows() && sideOf(heads) >= 64
            ? heads
            : Math.max(1, Math.floor((width - edge) / (112 + edge)));
        side = Math.max(64, Math.min(420 / flat, sideOf(columns)));
        top = list.reduce((most, t) => Math.max(most, heed.scaleOf(heed.weights(t.b, t.h))), 0);
        let y = edge, col = 0, tall = 0, last = null;
        for (const t of list) {
            if (col >= columns || (last && byRows() && t.b !== last)) {
                y += tall + foot + edge;
                col = tall = 0;
            }
            Object.assign(t, shapeOf(t.b), {x: edge + col++ * (side + edge), y});
            t.end = t.gutter + t.high;
            tall = Math.max(tall, t.end);
            last = t.b;
        }
        return {width: edge + columns * (side + edge), height: y + tall + foot + edge};
    };
    const shortly = {encoder: "enc", decoder: "dec", cross: "cross"};
    const named = (t) => `${many() ? (side < 90 ? shortly[t.b.stack] : t.b.stack) + " " : ""}` +
        `${t.b.layer + 1}.${t.h + 1}`;
    const measureText = (t) => {
        const by = heed.state.sort;
        if (by !== "place") return heed.number(t.of[by], 2);
        return heed.nearlyUniform(t.b, t.h) ? "nearly uniform"
                                            : `${heed.number(t.of.entropy, 2)} bits`;
    };
    /* Tokens or patches beside the cells, where they are large enough to be read. */
    const paintLabels = (pen, t, gutter, cell) => {
        const {queries, keys} = t.b, o = {size: 10, color: heed.theme.muted, width: gutter - 5};
        queries.order.forEach(
            (q, i) => pen.text(
                heed.token(queries, q), t.x + gutter - 4, t.y + gutter + (i + 0.5) * cell,
                {...o, align: "right"}));
        keys.order.forEach(
            (k, i) => heed.columnLabel(
                pen, heed.token(keys, k), t.x + gutter + (i + 0.5) * cell, t.y + gutter - 4, o));
    };
    const paintThumb = (pen, t) => {
        const m = heed.weights(t.b, t.h), n = Math.max(m.rows, m.cols),
              chosen = t.b === heed.block() && t.h === heed.state.head;
        const {gutter, inner, wide, high} = t, s = shrunk(m, Math.round(inner));
        pen.cells(t.x + gutter, t.y + gutter, wide, high, s.rows, s.cols, (r, c) => {
            if (t.b.triangle &&
                Math.floor((c * m.cols) / s.cols) > Math.ceil(((r + 1) * m.rows) / s.rows) - 1)
                return heed.theme.surface;
            return heed.color(s.out[r * s.cols + c] / top);
        });
        if (gutter) paintLabels(pen, t, gutter, inner / n);
        pen.rect(
            t.x + gutter - 0.5, t.y + gutter - 0.5, wide + 1, high + 1, {stroke: heed.theme.line});
        if (chosen)
            pen.rect(
                t.x - 4, t.y - 4, side + 8, t.end + foot, {stroke: heed.theme.accent, width: 2});
        /* Its name and what was measured, below one another where they do not fit side by side. */
        const name = {size: 13, weight: 600, width: side}, text = measureText(t),
              said = {size: 12, color: heed.theme.muted, width: side}, y = t.y + t.end + 12;
        const fit = heed.width(named(t), name) + 8 + heed.width(text, said) <= side;
        pen.text(named(t), t.x, y, name);
        pen.text(
            text, fit ? t.x + side : t.x, fit ? y : y + 15,
            {...said, align: fit ? "right" : "left"});
    };
    const under = (x, y) =>
        list.find((t) => x >= t.x && x < t.x + side && y >= t.y && y < t.y + t.end + foot);
    const tip = (t) =>
        [`${t.b.path || t.b.stack}: layer ${t.b.layer + 1}, head ${t.h + 1}`,
         `entropy ${heed.number(t.of.entropy, 2)} bits, mean distance ` +
             `${heed.number(t.of.distance, 1)}`,
         `special ${heed.number(t.of.special, 2)}, previous ` +
             `${heed.number(t.of.previous, 2)}, itself ${heed.number(t.of.diagonal, 2)}`,
    ];
    const pick = (t, open) => heed.update({
        stack: t.b.stack, layer: t.b.layer, head: t.h,
        ...(t.b.stack !== heed.state.stack ? {query: -1, key: -1} : {}),
        ...(open ? {view: "head"} : {}),
    });
    const walkBy = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: "up", ArrowDown: "down"};

    heed.view({
        id: "overview",
        title: "Overview",
        help: "every head as a thumbnail, sorted by entropy, distance or share",
        uses: ["record", "scale"],
        state: {sort: "place", falling: false},
        allowed: {sort: Object.keys(sorts)},
        open(box) {
            this.canvas = heed.canvas("thumbnails of all heads", {
                move(x, y, e) {
                    const t = under(x, y);
                    e.target.style.cursor = t ? "pointer" : "";
                    heed.tip(t && tip(t), e);
                },
                click(x, y) {
                    const t = under(x, y);
                    if (t) pick(t, true);
                },
            });
            const sort = heed.bind(
                "sort", "Sort by",
                {choices: Object.entries(sorts).map(([id, [text]]) => [id, text])});
            order = heed.bind("falling", "Largest first", {check: true});
            scroll = heed.el("div", {class: "scroll whole"}, this.canvas);
            box.append(
                heed.el("div", {class: "tools"}, sort.box, order.box),
                heed.el("p", {class: "muted small", id: "sort-note"}), scroll);
        },
        draw() {
            order.input.disabled = heed.state.sort === "place";
            const [name, unit] = sorts[heed.state.sort];
            heed.id("sort-note").textContent = heed.state.sort === "place"
                ? "A thumbnail is queries (down) x keys (across); 2.3 is layer 2, head 3. " +
                    "Choose one to open it."
                : `${name}: ${
                      (heed.state.sort === "special" && heed.specials()) || unit ||
                      "mean over the queries"}`;
            heed.drawCanvas(this);
        },
        layout,
        paint: (pen) => list.forEach((t) => paintThumb(pen, t)),
        keys(e) {
            const by = walkBy[e.key];
            if (e.key === "Enter" && document.activeElement === this.canvas) {
                heed.update({view: "head"});
                return true;
            }
            if (!by || (e.target.closest && e.target.closest("#tabs"))) return false;
            const i = list.findIndex((t) => t.b === heed.block() && t.h === heed.state.head);
            const n = typeof by === "number" ? by : by === "up" ? -columns : columns;
            const next = list[Math.max(0, Math.min(list.length - 1, Math.max(i, 0) + n))];
            if (next) pick(next, false);
            return true;
        },
        caption() {
            const t = list.find((x) => x.b === heed.block() && x.h === heed.state.head);
            return `${list.length} heads by ${sorts[heed.state.sort][0]}` +
                (t ? `; chosen: ${named(t)}, entropy ${heed.number(t.of.entropy, 2)} bits` : "");
        },
        legend() {
            const uniform = new Set(list.map((t) => heed.weights(t.b, t.h).uniform)),
                  one = uniform.size === 1 ? [...uniform][0] : 0,
                  above = list.some((t) => heed.isAbove(heed.weights(t.b, t.h), top)),
                  of = list.some((t) => t.b.triangle) ? ", mean of rows" : "";
            return heed.legend(
                "weight: share of a row's attention (1 = 100 %), one scale for all heads", 0, top,
                heed.color, {uniform: one, of, above});
        },
        table() {
            const head = [
                "stack", "layer", "head", "entropy", "distance", "special", "previous", "diagonal"
            ];
            const rows = collect().map(
                ({b, h, of}) =>
                    [b.stack, b.layer + 1, h + 1,
                     ...head.slice(3).map((n) => Number(of[n].toFixed(4)))]);
            return {
                caption: "What each head does: means over the queries", head, rows,
                all: () => [head, ...rows]
            };
        },
    });
})();

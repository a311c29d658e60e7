/* overview.js -- the Overview: a thumbnail of every head, sorted by what a head does. A click opens
 * it. */
"use strict";
{
    const sorts = { /* on screen, and how the measure reads */
        place: ["layer and head"],
        entropy: ["entropy", "bits: low looks at one token, high at all"],
        distance: ["mean distance", "how far away the keys are"],
        special: ["share on special tokens"], previous: ["share on the previous token"],
        diagonal: ["share on the token itself"],
    };
    const EDGE = 14, FOOT = 38;
    let order, scroll, list = [], columns = 1, side = 112, top = 1; /* top: of one scale for all */

    const collect = () => {
        const {sort, falling} = heed.state, all = heed.record().blocks.flatMap(
            (b) => b.heads.map((h) => ({b, h, of: heed.measures(b, h)})));
        if (sort !== "place")
            all.sort((x, y) => (x.of[sort] - y.of[sort]) * (falling ? -1 : 1));
        return all;
    };
    /* The largest weight of each patch of cells if there are more than n rows or columns, so that a
     * thin line stays. */
    const shrunk = (m, n) => {
        const rows = Math.min(m.rows, n), cols = Math.min(m.cols, n),
              out = new Float32Array(rows * cols);
        m.data.forEach((w, i) => {
            const r = Math.floor((Math.floor(i / m.cols) * rows) / m.rows),
                  at = r * cols + Math.floor(((i % m.cols) * cols) / m.cols);
            out[at] = Math.max(out[at], Math.abs(w));
        });
        return {rows, cols, out};
    };
    const byRows = () =>
        heed.state.sort === "place" && heed.record().blocks.every((b) => b.heads.length <= 16);
    const ratio = (b) => b.queries.count / b.keys.count;
    /* A thumbnail: its cells, and left of them and above them, where there is room, their
     * labels. */
    const shapeOf = (b) => {
        const most = Math.max(b.queries.count, b.keys.count),
              limit = Math.min(64, Math.round(side / 3)), roomy = 10 * most < side;
        const widths = (axis) => axis.order.map((i) => heed.width(heed.token(axis, i), {size: 10}));
        const wished = roomy
            ? Math.min(limit, 5 + Math.ceil(Math.max(...widths(b.queries), ...widths(b.keys))))
            : side;
        /* Labels say something where all are whole, or some letters of each fit. */
        const large = side - wished >= 10 * most && (wished < limit || limit >= 30),
              gutter = large ? wished : 0, inner = side - gutter;
        const share = (x) => Math.max(24, Math.round(inner * Math.min(1, x)));
        return {gutter, inner, wide: share(1 / ratio(b)), high: share(ratio(b))};
    };
    /* Where each is: a row of few queries is as low as they are, and as wide as the window. */
    const layout = () => {
        const width = heed.widthIn(scroll), {blocks} = heed.record(),
              sideOf = (n) => Math.floor((width - EDGE) / n) - EDGE;
        const heads = Math.max(...blocks.map((b) => b.heads.length)),
              flat = Math.max(...blocks.map((b) => Math.min(1, ratio(b))));
        columns = byRows() && sideOf(heads) >= 64
            ? heads
            : Math.max(1, Math.floor((width - EDGE) / (112 + EDGE)));
        side = heed.clamp(sideOf(columns), 64, Math.max(64, 420 / flat));
        list = collect();
        top = Math.max(0, ...list.map((t) => heed.scaleOf(heed.weights(t.b, t.h))));
        let y = EDGE, col = 0, tall = 0, last = list[0]?.b;
        for (const t of list) {
            if (col >= columns || (byRows() && t.b !== last)) {
                y += tall + FOOT + EDGE;
                col = tall = 0;
            }
            Object.assign(t, shapeOf(t.b), {x: EDGE + col++ * (side + EDGE), y});
            t.end = t.gutter + t.high;
            tall = Math.max(tall, t.end);
            last = t.b;
        }
        return {width: EDGE + columns * (side + EDGE), height: y + tall + FOOT + EDGE};
    };
    const isChosen = (t) => t.b === heed.block() && t.h === heed.state.head;
    const named = ({b, h}) => {
        const short = {encoder: "enc", decoder: "dec", cross: "cross"}[b.stack],
              stack = heed.stacks().length < 2 ? "" : `${side < 90 ? short : b.stack} `;
        return `${stack}${b.layer + 1}.${h + 1}`;
    };
    const measureText = (t) => {
        const by = heed.state.sort;
        return by !== "place"              ? heed.number(t.of[by], 2)
            : heed.nearlyUniform(t.b, t.h) ? "nearly uniform"
                                           : `${heed.number(t.of.entropy, 2)} bits`;
    };
    const paintThumb = (pen, t) => {
        const m = heed.weights(t.b, t.h), {b, gutter, inner, wide, high} = t, {muted} = heed.theme,
              s = shrunk(m, Math.round(inner)), x = t.x + gutter, y = t.y + gutter;
        const cell = inner / Math.max(m.rows, m.cols),
              o = {size: 10, color: muted, width: gutter - 5};
        pen.cells(x, y, wide, high, s.rows, s.cols, (r, c) => {
            const unseen = b.triangle &&
                Math.floor((c * m.cols) / s.cols) >= Math.ceil(((r + 1) * m.rows) / s.rows);
            return unseen ? heed.theme.surface : heed.color(s.out[r * s.cols + c] / top);
        });
        for (const i of gutter ? b.queries.order : [])
            pen.text(
                heed.token(b.queries, i), x - 4, y + (i + 0.5) * cell, {...o, align: "right"});
        for (const i of gutter ? b.keys.order : [])
            heed.columnLabel(pen, heed.token(b.keys, i), x + (i + 0.5) * cell, y - 4, o);
        pen.rect(x - 0.5, y - 0.5, wide + 1, high + 1, {stroke: heed.theme.line});
        if (isChosen(t))
            pen.rect(
                t.x - 4, t.y - 4, side + 8, t.end + FOOT, {stroke: heed.theme.accent, width: 2});
        /* Its name and what was measured, below one another where they do not fit side by side. */
        const name = {size: 13, weight: 600, width: side}, text = measureText(t),
              said = {size: 12, color: muted, width: side}, low = t.y + t.end + 12,
              fit = heed.width(named(t), name) + 8 + heed.width(text, said) <= side;
        pen.text(named(t), t.x, low, name);
        if (fit) pen.text(text, t.x + side, low, {...said, align: "right"});
        else pen.text(text, t.x, low + 15, said);
    };
    const under = (x, y) =>
        list.find((t) => x >= t.x && x < t.x + side && y >= t.y && y < t.y + t.end + FOOT);
    const tip = ({b, h, of}) => {
        const say = (name, digits = 2) => heed.number(of[name], digits);
        return [
            `${b.path || b.stack}: layer ${b.layer + 1}, head ${h + 1}`,
            `entropy ${say("entropy")} bits, mean distance ${say("distance", 1)}`,
            `special ${say("special")}, previous ${say("previous")}, itself ${say("diagonal")}`,
        ];
    };
    const pick = ({b, h}, more) => heed.update({
        stack: b.stack, layer: b.layer, head: h,
        ...(b.stack !== heed.state.stack ? {query: -1, key: -1} : {}), ...more,
    });

    heed.view({
        id: "overview", title: "Overview",
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
                    if (t) pick(t, {view: "head"});
                },
            });
            const choices = Object.entries(sorts).map(([id, [text]]) => [id, text]);
            order = heed.bind("falling", "Largest first", {check: true});
            scroll = heed.el("div", {class: "scroll whole"}, this.canvas);
            box.append(
                heed.tools(heed.bind("sort", "Sort by", {choices}), order),
                heed.el("p", {class: "muted small", id: "sort-note"}), scroll);
        },
        draw() {
            const {sort} = heed.state, [name, unit = "mean over the queries"] = sorts[sort];
            order.input.disabled = sort === "place";
            heed.id("sort-note").textContent = sort === "place"
                ? "A thumbnail is queries (down) x keys (across); 2.3 is layer 2, head 3. " +
                    "Choose one to open it."
                : `${name}: ${(sort === "special" && heed.specials()) || unit}`;
            heed.drawCanvas(this);
        },
        layout,
        paint: (pen) => list.forEach((t) => paintThumb(pen, t)),
        keys(e) {
            const [down, right] = heed.arrows[e.key] ?? [0, 0];
            if (e.key === "Enter" && document.activeElement === this.canvas) {
                heed.update({view: "head"});
                return true;
            }
            if (!heed.arrows[e.key] || e.target.closest?.("#tabs")) return false;
            const at = Math.max(0, list.findIndex(isChosen)) + down * columns + right;
            if (list.length) pick(list[heed.clamp(at, 0, list.length - 1)]);
            return true;
        },
        caption() {
            const t = list.find(isChosen);
            return `${list.length} heads by ${sorts[heed.state.sort][0]}` +
                (t ? `; chosen: ${named(t)}, entropy ${heed.number(t.of.entropy, 2)} bits` : "");
        },
        legend() {
            const all = list.map((t) => heed.weights(t.b, t.h)),
                  uniform = new Set(all.map((m) => m.uniform));
            return heed.legend(
                "weight: share of a row's attention (1 = 100 %), one scale for all heads", 0, top,
                heed.color, {
                    uniform: uniform.size === 1 ? all[0].uniform : 0,
                    of: list.some((t) => t.b.triangle) ? ", mean of rows" : "",
                    above: all.some((m) => heed.isAbove(m, top)),
                });
        },
        table() {
            const names = ["entropy", "distance", "special", "previous", "diagonal"];
            const row = ({b, h, of}) =>
                [b.stack, b.layer + 1, h + 1, ...names.map((n) => Number(of[n].toFixed(4)))];
            return {
                caption: "What each head does: means over the queries",
                head: ["stack", "layer", "head", ...names], rows: collect().map(row),
            };
        },
    });
}

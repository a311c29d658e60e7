/* qk.js -- the Q.K view: one query against one key, unit by unit, then the scale, the mask and the
 * softmax over the row. Of the additive form (Bahdanau et al. 2015) a unit adds v tanh(q + k) in
 * place of q k; what the page calls q is W s there, k is U h. It computes from the halves of q and
 * k that the page keeps, and says how near it comes to the model's own weight. */
"use strict";
(() => {
    let canvas, bars, scroll, flow, head, parts;
    const unit = 30, label = 84;

    const able = () => { const b = heed.block(); return Boolean(b && b.qk); };
    const choose = () => {
        const b = heed.block(), s = heed.selected();
        const h = typeof heed.state.head === "number" ? heed.state.head : b.heads[0],
              m = heed.weights(b, h);
        const row = m.data.subarray(s.query * m.cols, (s.query + 1) * m.cols);
        let key = s.key;
        if (key < 0) key = row.reduce((best, w, k) => (w > row[best] ? k : best), 0);
        return {b, h, m, query: s.query, key};
    };
    /* The share of each unit in a score: [name, how it is made] of what is drawn, the share
     * last. */
    const product = [["q", (q) => q], ["k", (_, k) => k], ["q × k", (q, k) => q * k]];
    const rotated = product.map(([name, made], i) => [i < 2 ? `${name} rotated` : name, made]);
    const additive = [
        ["W s", (q) => q], ["U h", (_, k) => k], ["tanh of both", (q, k) => Math.tanh(q + k)],
        ["v", (q, k, v) => v], ["v × tanh", (q, k, v) => v * Math.tanh(q + k)],
    ];
    const formOf = (b) =>
        (b.align ? {lines: additive, name: "v·tanh(W s + U h)"}
                 : {lines: b.rotary ? rotated : product, name: "q·k"});
    /* The row as the page computes it: sums over the units, scores, weights. */
    const compute = (c) => {
        const q = heed.vectors(c.b, c.h, "q"), k = heed.vectors(c.b, c.h, "k"), e = c.b.width,
              beta = c.b.beta || 1 / Math.sqrt(e), n = k.rows;
        const form = formOf(c.b), share = form.lines[form.lines.length - 1][1],
              align = c.b.align ? c.b.align[c.b.heads.indexOf(c.h)] : [];
        const dots = new Float64Array(n), scores = new Float64Array(n),
              weights = new Float64Array(n);
        let top = -Infinity, sum = 0;
        for (let j = 0; j < n; j++) {
            for (let i = 0; i < e; i++)
                dots[j] += share(q.data[c.query * e + i], k.data[j * e + i], align[i]);
            scores[j] = heed.masked(c.b, c.query, j) ? -Infinity : beta * dots[j];
            top = Math.max(top, scores[j]);
        }
        for (let j = 0; j < n; j++)
            sum += weights[j] = scores[j] === -Infinity ? 0
                : c.b.hard                              ? Number(scores[j] === top)
                                                        : Math.exp(scores[j] - top);
        for (let j = 0; j < n; j++) weights[j] /= sum || 1;
        const units = form.lines.map(([name, made]) => {
            const values = Array.from(
                {length: e},
                (_, i) => made(q.data[c.query * e + i], k.data[c.key * e + i], align[i]));
            return {name, values, most: Math.max(1e-9, ...values.map(Math.abs))};
        });
        units[0].most = units[1].most = Math.max(units[0].most, units[1].most);
        return {...c, e, form, beta, dots, scores, weights, units, sum, top};
    };
    const blockHeight = (p) => p.units.length * 24 + 34;
    const paint = (pen, p, width) => {
        const per = Math.max(1, Math.floor((width - label - 8) / unit));
        for (let from = 0, y = 4; from < p.e; from += per, y += blockHeight(p)) {
            p.units.forEach(
                ({name}, r) => pen.text(
                    name, label - 8, y + 30 + r * 24,
                    {size: 12, align: "right", color: heed.theme.muted}));
            for (let i = from; i < Math.min(p.e, from + per); i++) {
                const x = label + (i - from) * unit;
                pen.text(
                    String(heed.nth(i)), x + unit / 2, y + 9,
                    {size: 10, align: "center", color: heed.theme.muted});
                p.units.forEach(({values, most}, r) => {
                    const color = heed.signed(values[i] / most);
                    pen.rect(x, y + 19 + r * 24, unit - 1, 23, {fill: heed.css(color)});
                    pen.text(
                        short(values[i]), x + unit / 2, y + 31 + r * 24,
                        {size: 10, align: "center", color: heed.ink(color)});
                });
            }
        }
    };
    const short = (v) => (Math.abs(v) < 10 ? v.toFixed(1) : v.toFixed(0))
                             .replace(/^-0\.0$/, "0.0")
                             .replace("-", "−");
    const heightOf = (p, width) =>
        Math.ceil(p.e / Math.max(1, Math.floor((width - label - 8) / unit))) * blockHeight(p);
    /* A line per key: its dot product, score and weight. */
    const rowHeight = 20;
    const paintKeys = (pen, p, width) => {
        const cols = heed.visible(p.b.keys), far = Math.max(1e-9, ...p.dots.map(Math.abs)),
              name = Math.min(150, width * 0.3);
        const a = name + 40, span = (width - a - 150) / 2,
              edge = {stroke: heed.theme.line, width: 0.5};
        [p.form.name, "weight"].forEach(
            (text, i) =>
                pen.text(text, a + i * (span + 75) + 4, 10, {size: 11, color: heed.theme.muted}));
        cols.forEach((k, j) => {
            const y = 20 + j * rowHeight, mine = k === p.key, dot = p.dots[k] / far,
                  hidden = p.scores[k] === -Infinity;
            if (mine) pen.rect(0, y, width, rowHeight, {fill: heed.theme.accent, alpha: 0.13});
            pen.text(
                String(heed.nth(k)), 4, y + rowHeight / 2, {size: 10, color: heed.theme.muted});
            pen.text(
                heed.token(p.b.keys, k), 34, y + rowHeight / 2,
                {size: 13, weight: mine ? 700 : 400, width: name});
            const mid = a + span / 2, c = heed.css(heed.signed(dot));
            pen.rect(
                dot < 0 ? mid + (dot * span) / 2 : mid, y + 4,
                Math.max(1, (Math.abs(dot) * span) / 2), rowHeight - 8, {fill: c, ...edge});
            pen.text(
                hidden ? "masked" : heed.number(p.dots[k], 2), a + span + 66, y + rowHeight / 2,
                {size: 11, align: "right", color: heed.theme.muted});
            const fill = heed.css(heed.color(0.35 + 0.65 * p.weights[k]));
            pen.rect(a + span + 75, y + 4, p.weights[k] * span, rowHeight - 8, {fill, ...edge});
            pen.text(
                heed.weight(p.weights[k]), width - 6, y + rowHeight / 2,
                {size: 11, align: "right", color: heed.theme.muted});
        });
    };
    const stage = (title, value, note) => {
        const small = (text) => heed.el("span", {class: "muted small", text});
        return heed.el("li", {}, small(title), heed.el("strong", {text: value}), small(note));
    };
    const drawFlow = (p) => {
        const own = p.m.at(p.query, p.key), off = Math.abs(own - p.weights[p.key]),
              masked = p.scores[p.key] === -Infinity;
        flow.replaceChildren(
            stage("sum over the units", heed.number(p.dots[p.key], 3), p.form.name),
            stage(
                "scale", heed.number(p.beta * p.dots[p.key], 3),
                `times β = ${heed.number(p.beta, 4)}`),
            stage(
                "mask", masked ? "−∞" : heed.number(p.scores[p.key], 3),
                masked ? "this key may not be seen" : "allowed"),
            stage(
                p.b.hard ? "hard selection" : "softmax", heed.weight(p.weights[p.key]),
                p.b.hard ? "1 at the largest score of the row" : "e^score over the row's sum"),
            stage(
                "the model's own", heed.weight(own),
                off < 0.01 ? "agrees" : "differs: a bias or another rule takes part here"));
    };
    const now = () => compute(choose());
    const keyAt = (y) => heed.visible(heed.block().keys)[Math.floor((y - 20) / rowHeight)];

    heed.view({
        id: "qk",
        title: "Q·K",
        help: "one query against one key, unit by unit, then scale, mask and softmax",
        uses: ["layer", "head", "special", "side"],
        available: (data) => data.records.some((r) => r.blocks.some((b) => b.qk)),
        open(box) {
            head = heed.el("p", {class: "lead", dir: "auto"});
            flow = heed.el("ol", {class: "flow"});
            canvas = heed.canvas("query and key, unit by unit");
            bars = heed.canvas("dot product and weight of every key of the row", {
                move(x, y, e) {
                    const k = keyAt(y);
                    heed.tip(
                        k !== undefined && able() && heed.show(heed.block().keys.labels[k]), e);
                },
                click(x, y) {
                    const k = keyAt(y);
                    if (k !== undefined) heed.lock(heed.selected().query, k);
                },
            });
            scroll = heed.el("div", {class: "scroll"}, canvas);
            parts = heed.el(
                "div", {}, scroll, flow, heed.el("h3", {text: "The whole row: choose a key"}),
                heed.el("div", {class: "scroll"}, bars));
            box.append(head, parts);
        },
        draw() {
            parts.hidden = !able();
            if (!able()) {
                head.textContent = heed.block() && heed.block().additive
                    ? "What this additive attention is made of is not in the page: it was " +
                        "written without it. A score is v·tanh(W s + U h), no product of q and k."
                    : "q and k of this layer are not in the page: it was written without them.";
                return;
            }
            const p = now(), width = heed.widthIn(scroll, 280),
                  fused = typeof heed.state.head !== "number";
            const asks = `${heed.quote(p.b.queries, p.query)} (query ${heed.nth(p.query)}) asks ` +
                `${heed.quote(p.b.keys, p.key)} (key ${heed.nth(p.key)})`;
            head.textContent = asks +
                (fused ? `; head ${p.h + 1}, because a ` +
                             `${heed.headName(heed.state.head)} has no q and k`
                       : "") +
                (p.b.rotary ? `; q and k as they are compared, rotated by their places (theta ` +
                                  `${p.b.rotary})`
                            : "");
            heed.paint(canvas, width, heightOf(p, width), (pen) => paint(pen, p, width));
            heed.paint(
                bars, width, 26 + heed.visible(p.b.keys).length * rowHeight,
                (pen) => paintKeys(pen, p, width));
            canvas.setAttribute("aria-label", this.caption());
            drawFlow(p);
        },
        caption() {
            if (!able()) return "no q and k here";
            const p = now();
            const of = `${heed.quote(p.b.queries, p.query)} and ${heed.quote(p.b.keys, p.key)}`,
                  dot = heed.number(p.dots[p.key], 3);
            return `layer ${p.b.layer + 1}, head ${p.h + 1}: ${p.form.name} of ${of} = ` +
                `${dot}, weight ${heed.weight(p.weights[p.key])}`;
        },
        picture() {
            const width = heed.widthIn(scroll, 280), p = able() ? now() : null,
                  first = p ? heightOf(p, width) : 0;
            return {
                width, height: p ? first + 36 + heed.visible(p.b.keys).length * rowHeight : 40,
                paint(pen) {
                    if (!p) return;
                    paint(pen, p, width);
                    pen.group(0, first + 10, () => paintKeys(pen, p, width));
                },
            };
        },
        legend() {
            if (!able()) return null;
            const [a, b, ...own] = now().units, end = (u) => `±${heed.number(u.most, 2)}`,
                  color = (t) => heed.signed(2 * t - 1);
            return heed.legend(
                `blue below 0, orange above; ${a.name} and ${b.name} share a scale, ${end(a)}; ` +
                    `others have their own: ${own.map((u) => `${u.name} ${end(u)}`).join(", ")}`,
                "− largest", "largest", color);
        },
        table() {
            if (!able()) return {caption: "no q and k here", head: [], rows: []};
            const p = now(), sum = p.b.align ? "sum" : "qk", more = [sum, "score", "weight"];
            const {queries, keys} = p.b,
                  score = (k, none, say) =>
                      (p.scores[k] === -Infinity ? none : say(p.scores[k]));
            const shown = (k) =>
                [heed.nth(k), heed.show(keys.labels[k]), heed.number(p.dots[k]),
                 score(k, "masked", heed.number), heed.weight(p.weights[k])];
            const rows = heed.visible(keys).map(shown);
            const cells = (k) =>
                [...heed.placeCells(queries, p.query, keys, k), p.dots[k], score(k, "-inf", Number),
                 p.weights[k]];
            const exact = () => [[...heed.placeColumns, ...more], ...heed.visible(keys).map(cells)];
            return {caption: this.caption(), head: ["key", "key_token", ...more], rows, all: exact};
        },
    });
})();

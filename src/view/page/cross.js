/* cross.js -- the Cross view: a sentence that is read and one that is written, the matrix between
 * them, and of each row the key with the most weight. For the stacks of a transformer and for the
 * alignment of a recurrent one alike. */
"use strict";
(() => {
    let scroll, lines, pick, m, l;
    const bestOf = (q) => m.cols.reduce(
        (best, k) =>
            (m.void(q, k) || !(m.value(q, k) > (best < 0 ? -1 : m.value(q, best))) ? best : k),
        -1);
    /* The way through the matrix: the strongest key of each row. */
    const path = () => m.rows.map((q, i) => [m.cols.indexOf(bestOf(q)), i]).filter(([j]) => j >= 0)
        .map(([j, i]) => [l.left + (j + 0.5) * l.cell, l.top + (i + 0.5) * l.tall]);
    const paint = (pen) => {
        heed.paintMatrix(pen, m, l, heed.selected());
        if (!heed.state.path) return;
        const large = l.cell >= 28,
              half = l.cell / 2 - 2; /* large cells hold numbers: they are framed, not crossed */
        if (!large) pen.line(path(), {color: heed.theme.accent, width: 2});
        for (const [x, y] of path()) {
            if (large) heed.frame(pen, x - half, y - half, 2 * half, 2 * half, 2);
            else pen.rect(x - 2, y - 2, 4, 4, {fill: heed.theme.accent});
        }
    };
    /* A sentence as words one can click; shade(i) in [0,1] is its ground. */
    const sentence = (title, axis, chosen, shade, act) => {
        const words = heed.visible(axis).slice(0, 600).map((i) => {
            const t = shade(i), word = heed.el("button", {
                type: "button", class: "word", dir: "auto", "aria-pressed": String(i === chosen),
                title: heed.cut(heed.show(axis.labels[i]), 2000), text: heed.token(axis, i, 24),
                onclick: () => act(i),
            });
            if (t !== null) {
                const c = heed.color(t);
                word.style.background = heed.css(c);
                word.style.color = heed.ink(c);
            }
            return word;
        });
        const name = heed.el("span", {class: "muted small", text: title});
        return heed.el(
            "div", {class: "sentence"}, name,
            heed.el("span", {class: "words", dir: "auto"}, ...words));
    };
    const drawSentences = () => {
        const b = heed.block(), s = heed.selected(),
              [reads, writes] = b.stack === "cross" ? ["reads", "writes"] : ["keys", "queries"];
        const shade = (k) => (m.void(s.query, k) ? null : Math.max(0, m.value(s.query, k) / m.top));
        heed.refill(
            lines, sentence(reads, b.keys, s.key, shade, (k) => heed.lock(s.query, k)),
            sentence(writes, b.queries, s.query, () => null, (q) => heed.lock(q, -1)));
    };
    const names = {encoder: "Encoder", decoder: "Decoder", cross: "Cross"};
    const drawPick = () => {
        pick.hidden = heed.stacks(heed.record()).length < 2;
        heed.refill(pick, ...heed.stacks(heed.record()).map((s) => heed.el("button", {
            type: "button", "aria-pressed": String(s === heed.state.stack), text: names[s],
            onclick: () => heed.update({stack: s, query: -1, key: -1}),
        })));
    };

    heed.view({
        id: "cross",
        title: "Cross",
        help: "encoder, decoder and what the one reads of the other: the alignment",
        uses: ["layer", "head", "scale", "special", "side"],
        state: {path: true},
        available: (data) => data.records.some(
            (r) => r.blocks.some((b) => b.stack === "cross") || heed.stacks(r).length > 1),
        open(box) {
            pick =
                heed.el("div", {class: "segments", role: "group", "aria-label": "whose attention"});
            const path = heed.bind("path", "Mark the strongest key of each row", {check: true});
            lines = heed.el("div", {class: "sentences"});
            this.canvas = heed.choiceCanvas("alignment", (x, y) => heed.matrixAt(m, l, x, y));
            scroll = heed.el("div", {class: "scroll"}, this.canvas);
            box.append(heed.el("div", {class: "tools"}, pick, path.box), lines, scroll);
            /* Who comes without a choice wants to see what the one reads of the other. */
            if (!heed.asked().has("stack") && heed.stacks(heed.record()).includes("cross"))
                heed.update({stack: "cross"});
        },
        layout() {
            m = heed.weightMatrix(heed.block(), heed.state.head);
            l = heed.matrixLayout(m, heed.widthIn(scroll));
            return l;
        },
        paint,
        draw() {
            drawPick();
            this.layout();
            drawSentences();
            heed.drawCanvas(this);
        },
    });
})();

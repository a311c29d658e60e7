/* matrix.js -- the Matrix view: queries x keys of one head as a heat map, with numbers where cells
 * are large enough. And the Cross view: a sentence that is read and one that is written, the matrix
 * between them, and of each row the key with the most weight, for the stacks of a transformer and
 * for the alignment of a recurrent one alike. */
"use strict";
{
    let lines, pick, m, l;
    const open = (view, label, box, ...above) => {
        view.canvas = heed.choiceCanvas(label, (x, y) => heed.matrixAt(m, l, x, y));
        box.append(...above, heed.el("div", {class: "scroll"}, view.canvas));
    };
    const usual = {
        uses: ["layer", "head", "scale", "special", "side"],
        layout() {
            const cell = this.id === "matrix" ? heed.state.cell : 0;
            m = heed.weightMatrix();
            l = heed.matrixLayout(m, heed.widthIn(this.canvas.parentNode), cell);
            return l;
        },
    };
    heed.view({
        ...usual, id: "matrix", title: "Matrix",
        help: "queries x keys of a head as a heat map; numbers where there is room",
        state: {cell: 0},
        open(box) {
            const zoom = heed.bind(
                "cell", "Cell size", {range: [0, 48, 2], say: (v) => (v ? v + " px" : "fits")});
            open(this, "heat map of queries and keys", box, heed.tools(zoom));
        },
        paint: (pen) => heed.paintMatrix(pen, m, l, heed.selected()),
    });

    const bestOf = (q) => {
        const open = m.cols.filter((k) => !m.void(q, k));
        return open.reduce((best, k) => (m.value(q, k) > m.value(q, best) ? k : best), open[0]);
    };
    /* A sentence as words one can click; shade(i) in [0,1] is its ground. */
    const sentence = (title, axis, chosen, shade, act) => {
        const words = heed.visible(axis).slice(0, 600).map((i) => {
            const t = shade(i), word = heed.el("button", {
                type: "button", class: "word", dir: "auto", "aria-pressed": String(i === chosen),
                title: heed.cut(heed.show(axis.labels[i]), 2000), text: heed.token(axis, i),
                onclick: () => act(i),
            });
            if (t !== null) {
                word.style.background = heed.css(heed.color(t));
                word.style.color = heed.ink(heed.color(t));
            }
            return word;
        });
        return heed.el(
            "div", {class: "sentence"}, heed.el("span", {class: "muted small", text: title}),
            heed.el("span", {class: "words", dir: "auto"}, ...words));
    };
    const drawSentences = () => {
        const b = heed.block(), s = heed.selected(),
              [reads, writes] = b.stack === "cross" ? ["reads", "writes"] : ["keys", "queries"];
        const shade = (k) => (m.void(s.query, k) ? null : m.value(s.query, k) / m.top);
        heed.refill(
            lines, sentence(reads, b.keys, s.key, shade, (k) => heed.lock(s.query, k)),
            sentence(writes, b.queries, s.query, () => null, heed.lock));
    };
    const drawPick = () => {
        const names = {encoder: "Encoder", decoder: "Decoder", cross: "Cross"};
        pick.hidden = heed.stacks().length < 2;
        heed.refill(pick, ...heed.stacks().map((s) => heed.el("button", {
            type: "button", "aria-pressed": String(s === heed.state.stack), text: names[s],
            onclick: () => heed.update({stack: s, query: -1, key: -1}),
        })));
    };
    heed.view({
        ...usual, id: "cross", title: "Cross",
        help: "encoder, decoder and what the one reads of the other: the alignment",
        state: {path: true},
        available: (data) => data.records.some(
            (r) => heed.stacks(r).includes("cross") || heed.stacks(r).length > 1),
        open(box) {
            const path = heed.bind("path", "Mark the strongest key of each row", {check: true});
            pick = heed.group("segments", "whose attention");
            lines = heed.el("div", {class: "sentences"});
            open(this, "alignment", box, heed.tools({box: pick}, path), lines);
            /* Who comes without a choice wants to see what the one reads of the other. */
            if (!heed.asked().has("stack") && heed.stacks().includes("cross"))
                heed.update({stack: "cross"});
        },
        paint(pen) {
            heed.paintMatrix(pen, m, l, heed.selected());
            if (!heed.state.path) return;
            /* Large cells hold numbers: they are framed, not crossed. */
            const large = l.cell >= 28, half = l.cell / 2 - 2, {accent} = heed.theme;
            const way = m.rows.map((q, i) => [m.cols.indexOf(bestOf(q)), i]).filter(([j]) => j >= 0)
                .map(([j, i]) => [l.left + (j + 0.5) * l.cell, l.top + (i + 0.5) * l.tall]);
            if (!large) pen.line(way, {color: accent, width: 2});
            for (const [x, y] of way)
                if (large) heed.frame(pen, x - half, y - half, 2 * half, 2 * half, 2);
                else pen.rect(x - 2, y - 2, 4, 4, {fill: accent});
        },
        draw() {
            drawPick();
            this.layout();
            drawSentences();
            heed.drawCanvas(this);
        },
    });
}

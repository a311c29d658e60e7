/* matrix.js -- the Matrix view: queries x keys of one head as a heat map, with numbers where cells are large enough. */
"use strict";
(() => {
    let canvas, zoom, scroll, m, l;
    const width = () => Math.max(260, scroll.clientWidth - 4);
    const place = (x, y) => heed.matrixAt(m, l, x, y);
    const layout = () => {
        m = heed.weightMatrix(heed.block(), heed.state.head);
        l = heed.matrixLayout(m, width(), heed.state.cell);
    };

    heed.view({
        id: "matrix",
        title: "Matrix",
        help: "queries x keys of a head as a heat map; numbers where there is room",
        uses: ["layer", "head", "scale", "special", "side"],
        state: {cell: 0},
        available: (data) => data.records.some((r) => r.blocks.length),
        open(room) {
            canvas = heed.canvas("heat map of queries and keys", {
                move(x, y, e) {
                    const p = place(x, y);
                    heed.preview(p);
                    heed.tip(p && heed.cellTip(heed.block(), heed.matrix(), p.query, p.key), e);
                },
                click(x, y) { const p = place(x, y); if (p) heed.lock(p.query, p.key); },
                leave: () => heed.preview(null),
            });
            zoom = heed.bind("cell", "Cell size", {range: [0, 48, 2], say: (v) => (v ? v + " px" : "fits")});
            scroll = heed.el("div", {class: "scroll"}, canvas);
            room.append(heed.el("div", {class: "tools"}, zoom.box), scroll);
        },
        draw() {
            zoom.sync();
            layout();
            const at = heed.selected();
            canvas.setAttribute("aria-label", heed.selectionText());
            heed.paint(canvas, l.width, l.height, (pen) => heed.paintMatrix(pen, m, l, at));
        },
        picture() {
            layout();
            return {width: l.width, height: l.height, paint: (pen) => heed.paintMatrix(pen, m, l, heed.selected())};
        },
        legend: () => heed.matrixLegend(heed.weightMatrix(heed.block(), heed.state.head)),
        table: () => heed.matrixTable(heed.weightMatrix(heed.block(), heed.state.head), heed.selected(), "Attention weights, queries in rows"),
    });
})();

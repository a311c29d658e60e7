/* matrix.js -- the Matrix view: queries x keys of one head as a heat map, with numbers where cells
 * are large enough. */
"use strict";
(() => {
    let scroll, m, l;

    heed.view({
        id: "matrix",
        title: "Matrix",
        help: "queries x keys of a head as a heat map; numbers where there is room",
        uses: ["layer", "head", "scale", "special", "side"],
        state: {cell: 0},
        open(box) {
            const zoom = heed.bind(
                "cell", "Cell size", {range: [0, 48, 2], say: (v) => (v ? v + " px" : "fits")});
            this.canvas = heed.choiceCanvas(
                "heat map of queries and keys", (x, y) => heed.matrixAt(m, l, x, y));
            scroll = heed.el("div", {class: "scroll"}, this.canvas);
            box.append(heed.el("div", {class: "tools"}, zoom.box), scroll);
        },
        layout() {
            m = heed.weightMatrix(heed.block(), heed.state.head);
            l = heed.matrixLayout(m, heed.widthIn(scroll), heed.state.cell);
            return l;
        },
        paint: (pen) => heed.paintMatrix(pen, m, l, heed.selected()),
    });
})();

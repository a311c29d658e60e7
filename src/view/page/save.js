/* save.js -- Save PNG, SVG and CSV: the current view as it stands, selected token included. */
"use strict";
{
    const MARGIN = 20, HEADING = 58, FOOTING = 44;

    /* The view's picture under a line that says what it shows, over its legend. */
    const frame = (v) => {
        const p = v.picture(), l = v.legend(), {title, model} = heed.record() ?? {},
              inner = Math.max(p.width, 360), low = HEADING + p.height + 10,
              width = inner + 2 * MARGIN, height = low + FOOTING + MARGIN;
        const paint = (pen) => {
            const small = {size: 11, color: heed.theme.muted, width: inner},
                  of = [title, model].filter(Boolean).map(heed.show).join(" · ");
            pen.rect(0, 0, width, height, {fill: heed.css(heed.theme.surface)});
            pen.text(v.caption(), MARGIN, MARGIN + 2, {size: 14, weight: 600, width: inner});
            pen.text(of, MARGIN, MARGIN + 20, small);
            pen.group(MARGIN, HEADING, () => p.paint(pen));
            if (l) {
                const mark = l.uniform ? `, mark: ${l.uniform}` : "";
                heed.paintRamp(pen, MARGIN, low + 8, 120, 10, l.color, l.uniform && l.at);
                pen.text(
                    `${l.lo} to ${l.hi}${mark}: ${l.label}`, MARGIN + 130, low + 13,
                    {...small, width: inner - 130});
            }
            const hidden =
                heed.id("badge").hidden ? "" : "Special tokens are hidden, weights as they were. ";
            if (v.id !== "curves")
                pen.text(
                    hidden + "Attention alone is no explanation.", MARGIN, low + 32, small);
        };
        return {width, height, paint};
    };
    const asSvg = (v) => {
        const {width, height, paint} = frame(v), pen = heed.svgPen();
        paint(pen);
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
            `viewBox="0 0 ${width} ${height}">\n<title>${heed.escape(v.caption())}</title>\n` +
            `${pen.out.join("\n")}\n</svg>\n`;
    };
    const asPng = (v) => {
        const {width, height, paint} = frame(v), canvas = heed.el("canvas");
        heed.paint(canvas, width, height, paint, 0, width * height > 4e6 ? 1 : 2);
        return new Promise((done) => canvas.toBlob(done, "image/png"));
    };
    /* RFC 4180: texts in quotes, as they are. */
    const asCsv = (v) => {
        const {all, head, rows} = v.table(), text = (x) => `"${String(x).replaceAll('"', '""')}"`;
        const cell = (x) => (typeof x !== "number" ? text(x)
                                 : Number.isNaN(x) ? ""
                                                   : String(Number(x.toPrecision(7))));
        return (all ? all() : [head, ...rows])
            .map((row, i) => (i ? row.map(cell) : row).join(",") + "\r\n").join("");
    };
    const kinds = {
        png: ["image/png", asPng], svg: ["image/svg+xml", asSvg],
        csv: ["text/csv;charset=utf-8", asCsv],
    };
    const nameOf = (v, end) => {
        const {head} = heed.state, b = heed.block();
        const words = b ? [
            b.stack, `layer${b.layer + 1}`, typeof head === "number" ? `head${head + 1}` : head,
            `row${heed.nth(heed.selected().query)}`,
        ] : [];
        return ["heed", v.id, ...words].join("-") + "." + end;
    };
    heed.download = (blob, name) => {
        const url = URL.createObjectURL(blob);
        heed.el("a", {href: url, download: name}).click();
        setTimeout(() => URL.revokeObjectURL(url), 60000);
    };
    heed.dressSaves = () => {
        for (const [kind, [type, make]] of Object.entries(kinds)) {
            const name = kind.toUpperCase(), title = `Save what is shown as ${name}`;
            heed.id("saves").append(heed.el("button", {
                type: "button", id: "save-" + kind, text: name, title, "aria-label": title,
                onclick: async () => {
                    const v = heed.current();
                    heed.download(new Blob([await make(v)], {type}), nameOf(v, kind));
                },
            }));
        }
    };
}

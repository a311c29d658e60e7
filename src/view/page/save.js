/* save.js -- Save PNG, SVG and CSV: the current view as it stands, selected token included. */
"use strict";
(() => {
    const margin = 20, heading = 58, footing = 44;

    /* The view's picture under a line that says what it shows, over its legend. */
    const frame = (v) => {
        const p = v.picture(), width = Math.max(p.width, 360), l = v.legend();
        const low = heading + p.height + 10, record = heed.record();
        const hidden = !heed.id("badge").hidden;
        const paint = (pen) => {
            pen.rect(
                0, 0, width + 2 * margin, low + footing + margin,
                {fill: heed.css(heed.theme.surface)});
            const small = {size: 11, color: heed.theme.muted},
                  texts = record ? [record.title, record.model].filter(Boolean) : [];
            pen.text(v.caption(), margin, margin + 2, {size: 14, weight: 600, width});
            pen.text(
                texts.map((x) => heed.show(x)).join(" · "), margin, margin + 20, {...small, width});
            pen.group(margin, heading, () => p.paint(pen));
            if (l) {
                pen.cells(margin, low + 8, 120, 10, 1, 64, (_, i) => l.color(i / 63));
                pen.rect(margin - 0.5, low + 7.5, 121, 11, {stroke: heed.theme.line});
                if (l.uniform)
                    pen.rect(margin + 120 * l.at - 1, low + 5, 2, 16, {fill: heed.theme.ink});
                const mark = l.uniform ? `, mark: ${l.uniform}` : "";
                pen.text(
                    `${l.lo} to ${l.hi}${mark}: ${l.label}`, margin + 130, low + 13,
                    {...small, width: width - 130});
            }
            const note = (hidden ? "Special tokens are hidden, weights as they were. " : "") +
                "Attention alone is no explanation.";
            if (v.id !== "curves") pen.text(note, margin, low + 32, {...small, width});
        };
        return {width: width + 2 * margin, height: low + footing + margin, paint};
    };
    const asSvg = (v) => {
        const f = frame(v), pen = heed.svgPen();
        f.paint(pen);
        return `<svg xmlns="http://www.w3.org/2000/svg" width="${f.width}" ` +
                   `height="${f.height}" viewBox="0 0 ${f.width} ${f.height}">\n` +
            `<title>${heed.escape(v.caption())}</title>\n${pen.out.join("\n")}\n</svg>\n`;
    };
    const asPng = (v) => {
        const f = frame(v), scale = f.width * f.height > 4e6 ? 1 : 2;
        const canvas = heed.el(
                  "canvas",
                  {width: Math.ceil(f.width * scale), height: Math.ceil(f.height * scale)}),
              c = canvas.getContext("2d");
        c.scale(scale, scale);
        f.paint(heed.canvasPen(c));
        return new Promise((done) => canvas.toBlob(done, "image/png"));
    };
    /* RFC 4180: texts in quotes, as they are. */
    const cell = (x) =>
        (typeof x === "number" ? (Number.isNaN(x) ? "" : String(Number(x.toPrecision(7))))
                               : `"${String(x).replace(/"/g, '""')}"`);
    const asCsv = (v) => {
        const {all, head, rows} = v.table();
        return (all ? all() : [head, ...rows])
            .map((row, i) => (i ? row.map(cell).join(",") : row.join(",")) + "\r\n")
            .join("");
    };

    const nameOf = (v, end) => {
        const s = heed.state, b = heed.block();
        const head = typeof s.head === "number" ? "head" + (s.head + 1) : s.head;
        const row = "row" + heed.nth(heed.selected().query);
        const words = b ? [b.stack, "layer" + (b.layer + 1), head, row] : [];
        return ["heed", v.id, ...words].join("-") + "." + end;
    };
    heed.download = (blob, name) => {
        const url = URL.createObjectURL(blob), a = heed.el("a", {href: url, download: name});
        document.body.append(a);
        a.click();
        a.remove();
        setTimeout(() => URL.revokeObjectURL(url), 60000);
    };
    heed.makeFile = async (kind) => {
        const v = heed.current();
        if (kind === "png") return asPng(v);
        return new Blob(
            [kind === "svg" ? asSvg(v) : asCsv(v)],
            {type: kind === "svg" ? "image/svg+xml" : "text/csv;charset=utf-8"});
    };
    const save = async (kind) =>
        heed.download(await heed.makeFile(kind), nameOf(heed.current(), kind));

    heed.dressSaves = () => {
        for (const kind of ["png", "svg", "csv"])
            heed.id("saves").append(heed.el("button", {
                type: "button", id: "save-" + kind, text: kind.toUpperCase(),
                title: `Save what is shown as ${kind.toUpperCase()}`,
                "aria-label": `Save what is shown as ${kind.toUpperCase()}`,
                onclick: () => save(kind),
            }));
    };
})();

/* draw.js -- colours, pens and the parts that several views draw: a pen paints on a canvas or writes SVG, by the same calls.
 *
 * A pen has rect, line, curve, text, cells, image and group, which draws with its origin at (x, y). Sizes are CSS pixels. What is put
 * on a pen is on the surface colour.
 */
"use strict";
(() => {
    /* ---- numbers and tokens ---- */

    /* "0.42", "-1.3e-5": short, with as many digits as a reader can use. */
    heed.number = (x, digits = 3) => {
        if (x === null || x === undefined || Number.isNaN(x)) return "–";
        if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
        const size = Math.abs(x);
        if (x === 0) return "0";
        if (size < 10 ** -digits / 2 || size >= 1e6) return x.toExponential(1).replace(/-/g, "−");
        let text = x.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : digits);
        if (size < 1 && Math.abs(text) === 1) text = String(Math.sign(x) * Number(Math.min(size, 0.9999).toFixed(size < 0.9995 ? 3 : 4))); /* 1.00 is certain */
        return text.replace("-", "−");
    };
    heed.weight = (x) => (x > 0 && x < 0.0005 ? "<0.001" : heed.number(x));
    /* With two to four digits, so that none between 0 and 1 is shown as 0 or 1, as in the terminal. */
    heed.probability = (p) => {
        if (Number.isNaN(p)) return "–";
        const texts = [2, 3, 4].map((digits) => p.toFixed(digits)), fits = (text) => (text > 0 || p <= 0) && (text < 1 || p >= 1);
        return texts.find(fits) ?? (p < 0.5 ? "<0.0001" : ">0.9999");
    };
    /* "p = 0.42", "p > 0.9999" */
    heed.probable = (p) => `p = ${heed.probability(p)}`.replace(/= ([<>])/, "$1 ");
    const pictures = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\u0000": "␀"};
    /* Control, format and direction characters are named, but for the joiners that emoji and scripts need. */
    const odd = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u180e\u2060-\u206f\ufeff\ufff9-\ufffc\u{1d173}-\u{1d17a}\u{e0001}]/gu;
    const named = (c) => pictures[c] || `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
    /* Spaces of any width, and letters that are drawn as nothing. */
    const blanks = /^[\p{Zs}\u2800\u3164\uffa0]+|[\p{Zs}\u2800\u3164\uffa0]+$/gu;
    /* What has no letter before it to join or to be placed on: joiners, variation selectors and tags are named, marks get a circle. */
    const alone = /^[\u200c\u200d\ufe00-\ufe0f\u034f\u{e0020}-\u{e01ef}]+/u, mark = /^\p{M}/u;
    /* A token as it is shown: spaces at its ends, newlines and invisible characters made visible. */
    heed.show = (token) => {
        if (token === "") return "∅";
        const spaced = token.replace(blanks, (all) => "␣".repeat(all.length));
        return spaced.replace(odd, named).replace(alone, (all) => [...all].map(named).join("")).replace(mark, "◌$&");
    };
    /* A token within a sentence: letters that run from right to left leave the words around them in place. */
    heed.within = (text) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text);
    heed.cut = (text, n) => {
        if (text.length <= n) return text;
        const all = [...text.slice(0, 2 * n)];
        return all.length <= n ? text : all.slice(0, n - 1).join("") + "…";
    };
    /* Tokens count from 1 on screen, as layers and heads do. */
    heed.nth = (i) => i + 1;
    heed.token = (axis, i, n = 24) => heed.cut(heed.show(axis.labels[i]), n);

    /* ---- colours ---- */

    const hex = (text) => text.match(/../g).map((x) => parseInt(x, 16));
    const maps = {
        viridis: ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"].map(hex),
        cividis: ["00204d", "00336f", "39486b", "575c6d", "707173", "8a8779", "a69d75", "c4b56c", "e4cf5b", "ffea46"].map(hex),
        grey: ["141414", "fafafa"].map(hex),
    };
    heed.palettes = Object.keys(maps);
    const between = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
    const along = (stops, t) => {
        const at = Math.max(0, Math.min(1, t)) * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
        return between(stops[i], stops[i + 1], at - i);
    };
    heed.dark = () => document.documentElement.dataset.theme === "dark";
    /* [r,g,b] of t in [0,1]. Light pages run from light to dark, dark ones from dark to light, and what is near 0 fades into the
     * page's own colour: lightness stays in order, and what matters stands out. */
    const shades = (stops, at) => between(heed.theme.surface, along(stops, heed.dark() ? 0.1 + 0.9 * at : 0.9 - 0.9 * at), Math.min(1, at * 5) ** 0.6);
    const levels = 1023, tables = heed.memory();
    let table = [];
    heed.color = (t) => (t === t ? table[t <= 0 ? 0 : t >= 1 ? levels : Math.round(t * levels)] : heed.theme.unknown);
    /* Of t in [-1,1]: blue below 0, orange above, the page's colour at 0. */
    heed.signed = (t) => {
        if (Number.isNaN(t)) return heed.theme.unknown;
        const end = heed.dark() ? (t < 0 ? [110, 176, 255] : [255, 163, 72]) : t < 0 ? [20, 84, 160] : [168, 72, 0];
        return between(heed.theme.surface, end, Math.min(1, Math.abs(t)) ** 0.8);
    };
    heed.css = (c, alpha = 1) => (alpha < 1 ? `rgba(${c[0]},${c[1]},${c[2]},${alpha})` : `rgb(${c[0]},${c[1]},${c[2]})`);
    const light = (c) => {
        const [r, g, b] = c.map((x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    /* Black or white, whichever reads better on c (WCAG 2.1: at least 4.5:1 always). */
    heed.ink = (c) => (light(c) > 0.179 ? "#000" : "#fff");
    /* Heads: a colour of Okabe and Ito (2008) and a pattern, and their number is always beside. */
    const hues = {
        light: ["0072b2", "c04e00", "007a5a", "a0497c", "7a6200", "1f77a8", "8b3a1d", "444444"].map(hex),
        dark: ["56b4e9", "f0a030", "2fc59a", "e79cc4", "f0e442", "9ad0f5", "ff8f5a", "cccccc"].map(hex),
    };
    const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2], [12, 4], [6, 2, 2, 2, 2, 2]];
    heed.hue = (i) => hues[heed.dark() ? "dark" : "light"][i % 8];
    heed.dash = (i) => dashes[i % 8];
    heed.readTheme = () => {
        const style = getComputedStyle(document.documentElement), read = (name) => style.getPropertyValue("--" + name).trim();
        const rgb = (name) => hex(read(name).replace("#", ""));
        heed.theme = {
            surface: rgb("surface"), ink: read("ink"), muted: read("muted"), line: read("line"), accent: read("accent"),
            unknown: rgb("unknown"), empty: rgb("empty"), bar: rgb("bar"), font: read("font"),
        };
        table = tables(heed.state.palette + heed.dark(), () => Array.from({length: levels + 1}, (_, i) => shades(maps[heed.state.palette], i / levels)));
    };

    /* ---- pens ---- */

    const ruler = document.createElement("canvas").getContext("2d");
    const fontOf = (o) => `${o.weight || 400} ${o.size || 13}px ${heed.theme.font}`;
    const fitted = (text, o) => (o.width ? heed.fit(text, o.width, o) : heed.cut(text, 200));
    heed.width = (text, o = {}) => {
        ruler.font = fontOf(o);
        return ruler.measureText(text).width;
    };
    /* text, or as much of its beginning as fits `width` pixels, with an ellipsis. */
    heed.fit = (text, width, o = {}) => {
        const short = heed.cut(text, 200);
        if (heed.width(short, o) <= width) return short;
        const all = [...short];
        let lo = 0, hi = all.length;
        while (lo < hi) {
            const mid = (lo + hi + 1) >> 1;
            if (heed.width(all.slice(0, mid).join("") + "…", o) <= width) lo = mid;
            else hi = mid - 1;
        }
        return all.slice(0, lo).join("") + "…";
    };
    /* text in at most `most` lines of that width, broken between words. */
    heed.lines = (text, width, o, most) => {
        const out = [""];
        for (const word of text.split(" ")) {
            const longer = out[out.length - 1] ? `${out[out.length - 1]} ${word}` : word;
            if (out.length === most || heed.width(longer, o) <= width) out[out.length - 1] = longer;
            else out.push(word);
        }
        return out;
    };
    /* A small canvas, a pixel a cell. colorAt(r, c) is [r,g,b] or [r,g,b,a]. */
    heed.bitmap = (rows, cols, colorAt) => {
        const canvas = heed.el("canvas", {width: cols, height: rows}), c = canvas.getContext("2d"), data = c.createImageData(cols, rows);
        for (let r = 0, i = 0; r < rows; r++)
            for (let k = 0; k < cols; k++, i += 4) {
                const color = colorAt(r, k);
                data.data[i] = color[0];
                data.data[i + 1] = color[1];
                data.data[i + 2] = color[2];
                data.data[i + 3] = color.length > 3 ? color[3] : 255;
            }
        c.putImageData(data, 0, 0);
        return canvas;
    };

    /* Runs draw, which adds to the path that is stroked. */
    const stroke = (c, {color, width = 1, dash = [], alpha = 1}, draw) => {
        c.globalAlpha = alpha;
        c.strokeStyle = color;
        c.lineWidth = width;
        c.setLineDash(dash);
        c.beginPath();
        draw();
        c.stroke();
        c.globalAlpha = 1;
    };
    heed.canvasPen = (c) => ({
        rect(x, y, w, h, {fill, stroke, width = 1, alpha = 1, dash = []}) {
            c.globalAlpha = alpha;
            if (fill) { c.fillStyle = fill; c.fillRect(x, y, w, h); }
            if (stroke) { c.strokeStyle = stroke; c.lineWidth = width; c.setLineDash(dash); c.strokeRect(x, y, w, h); }
            c.globalAlpha = 1;
        },
        line(points, o) {
            c.lineJoin = "round";
            stroke(c, o, () => points.forEach(([x, y]) => c.lineTo(x, y)));
        },
        curve(x0, y0, x1, y1, o) {
            const mid = (x0 + x1) / 2;
            stroke(c, o, () => { c.moveTo(x0, y0); c.bezierCurveTo(mid, y0, mid, y1, x1, y1); });
        },
        group(x, y, draw) { c.save(); c.translate(x, y); draw(); c.restore(); },
        text(text, x, y, o = {}) {
            c.save();
            c.font = fontOf(o);
            c.fillStyle = o.color || heed.theme.ink;
            c.textAlign = o.align || "left";
            c.textBaseline = "middle";
            c.direction = "ltr";
            c.translate(x, y);
            if (o.turn) c.rotate((o.turn * Math.PI) / 180);
            c.fillText(fitted(text, o), 0, 0);
            c.restore();
        },
        cells(x, y, w, h, rows, cols, colorAt) { this.image(heed.bitmap(rows, cols, colorAt), x, y, w, h, {}); },
        image(picture, x, y, w, h, {smooth = false, alpha = 1}) {
            c.globalAlpha = alpha; c.imageSmoothingEnabled = smooth; c.imageSmoothingQuality = "high";
            c.drawImage(picture, x, y, w, h);
            c.globalAlpha = 1;
        },
    });

    const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};
    heed.escape = (text) => String(text).replace(/[&<>"']/g, (c) => escapes[c]);
    const places = (x) => String(Math.round(x * 100) / 100);
    const strokeText = ({color, width = 1, dash = [], alpha = 1}) =>
        ` stroke="${color}" stroke-width="${places(width)}"` + (dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "") +
        (alpha < 1 ? ` stroke-opacity="${places(alpha)}"` : "");
    const asUrl = (picture) => {
        if (picture.toDataURL) return picture.toDataURL();
        const canvas = heed.el("canvas", {width: picture.naturalWidth, height: picture.naturalHeight});
        canvas.getContext("2d").drawImage(picture, 0, 0);
        return canvas.toDataURL();
    };
    heed.svgPen = () => {
        const out = [];
        return {
            out,
            rect(x, y, w, h, {fill, stroke, width = 1, alpha = 1, dash = []}) {
                const line = stroke ? strokeText({color: stroke, width, dash}) : "";
                out.push(`<rect x="${places(x)}" y="${places(y)}" width="${places(w)}" height="${places(h)}" fill="${fill || "none"}"${line}` +
                    (alpha < 1 ? ` opacity="${places(alpha)}"` : "") + "/>");
            },
            line(points, o) { out.push(`<polyline points="${points.map((p) => p.map(places).join(",")).join(" ")}" fill="none"${strokeText(o)}/>`); },
            curve(x0, y0, x1, y1, o) {
                const [a, b, c, d, mid] = [x0, y0, x1, y1, (x0 + x1) / 2].map(places);
                out.push(`<path d="M${a} ${b}C${mid} ${b} ${mid} ${d} ${c} ${d}" fill="none"${strokeText(o)}/>`);
            },
            group(x, y, draw) { out.push(`<g transform="translate(${x} ${y})">`); draw(); out.push("</g>"); },
            text(text, x, y, o = {}) {
                const anchor = {left: "start", center: "middle", right: "end"}[o.align || "left"];
                const turn = o.turn ? ` transform="rotate(${o.turn} ${places(x)} ${places(y)})"` : "";
                out.push(`<text x="${places(x)}" y="${places(y)}" dominant-baseline="central" text-anchor="${anchor}" font-size="${o.size || 13}"` +
                    ` font-weight="${o.weight || 400}" font-family="${heed.escape(heed.theme.font)}"` +
                    ` fill="${o.color || heed.theme.ink}"${turn}>${heed.escape(fitted(text, o))}</text>`);
            },
            cells(x, y, w, h, rows, cols, colorAt) {
                if (rows * cols > 4096) return this.image(heed.bitmap(rows, cols, colorAt), x, y, w, h, {});
                for (let r = 0; r < rows; r++)
                    for (let k = 0; k < cols; k++) {
                        const color = colorAt(r, k), alpha = color.length > 3 ? color[3] / 255 : 1;
                        this.rect(x + (k * w) / cols, y + (r * h) / rows, w / cols, h / rows, {fill: heed.css(color), alpha});
                    }
            },
            image(picture, x, y, w, h, {smooth = false, alpha = 1}) {
                out.push(`<image x="${places(x)}" y="${places(y)}" width="${places(w)}" height="${places(h)}" preserveAspectRatio="none"` +
                    (smooth ? "" : ' style="image-rendering:pixelated"') + (alpha < 1 ? ` opacity="${places(alpha)}"` : "") + ` href="${asUrl(picture)}"/>`);
            },
        };
    };

    /* ---- canvases on the page ---- */

    /* A canvas that a keyboard can reach. on: {move(x, y), click(x, y), leave()}. */
    heed.canvas = (label, on = {}) => {
        const canvas = heed.el("canvas", {tabindex: "0", role: "img", "aria-label": label});
        const at = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
        if (on.move) canvas.addEventListener("pointermove", (e) => on.move(...at(e), e));
        if (on.click) canvas.addEventListener("click", (e) => on.click(...at(e), e));
        canvas.addEventListener("pointerleave", () => { heed.tip(null); if (on.leave) on.leave(); });
        return canvas;
    };
    /* A canvas of queries and keys: what place(x, y) gives, {query, key} or null, is previewed, and locked by a click. */
    heed.choiceCanvas = (label, place) => heed.canvas(label, {
        move(x, y, e) {
            const p = place(x, y);
            heed.preview(p);
            heed.tip(p && heed.cellTip(heed.block(), heed.matrix(), p.query, p.key), e);
        },
        click(x, y) { const p = place(x, y); if (p) heed.lock(p.query, p.key); },
        leave: () => heed.preview(null),
    });
    /* The canvas of a view, as wide as its box is. */
    heed.widthIn = (box, least = 260) => Math.max(least, box.clientWidth - 4);
    heed.drawCanvas = (v) => {
        const {width, height} = v.layout();
        v.canvas.setAttribute("aria-label", v.caption());
        heed.paint(v.canvas, width, height, v.paint);
    };
    /* Sizes the canvas (in CSS pixels), clears it and hands a pen to paint; what is painted at height `from` is its upper edge.
     * Backs off from sharp to plain on huge ones. */
    heed.paint = (canvas, width, height, paint, from = 0) => {
        const sharp = Math.min(window.devicePixelRatio || 1, 2), scale = width * height * sharp * sharp > 3e7 ? 1 : sharp;
        canvas.width = Math.max(1, Math.round(width * scale));
        canvas.height = Math.max(1, Math.round(height * scale));
        canvas.style.width = width + "px";
        canvas.style.height = height + "px";
        const c = canvas.getContext("2d");
        c.scale(scale, scale);
        c.translate(0, -from);
        paint(heed.canvasPen(c));
    };

    /* ---- a matrix with labels ---- */

    /* more: beside the text, as a row's number is. */
    const labelWidth = (axis, list, more, most) => {
        let widest = 24;
        for (const i of list.slice(0, 400)) widest = Math.max(widest, heed.width(heed.token(axis, i), {size: 12, weight: 700}) + more);
        return Math.min(most, Math.ceil(widest));
    };
    /* Where things go: m {queries, keys, rows: [places], cols: [places]}, width: at hand; cell: wished, 0: what fits. */
    heed.matrixLayout = (m, width, cell = 0, height = Math.max(340, window.innerHeight - 330)) => {
        const left = labelWidth(m.queries, m.rows, 40, Math.min(170, width * 0.3)), top = labelWidth(m.keys, m.cols, 18, 130);
        const fits = Math.min((width - left - 8) / m.cols.length, Math.max(height - top, 200) / m.rows.length);
        const side = Math.max(2, Math.min(64, cell || (fits > 6 ? Math.floor(fits) : fits > 3 ? Math.floor(fits * 2) / 2 : 3)));
        return {left, top, cell: side, width: left + side * m.cols.length + 8, height: top + side * m.rows.length + 8};
    };
    heed.matrixAt = (m, l, x, y) => {
        const r = Math.floor((y - l.top) / l.cell), c = Math.floor((x - l.left) / l.cell);
        if (r < 0 || r >= m.rows.length || c >= m.cols.length) return null;
        return {query: m.rows[r], key: c < 0 ? -1 : m.cols[c]};
    };
    /* Small cells are labelled at intervals; the chosen one always is, its neighbours make room for it. */
    const labelled = (list, chosen, cell, paint) => {
        const every = Math.ceil(12 / cell), own = list.indexOf(chosen);
        list.forEach((x, i) => {
            const mine = i === own, near = every > 1 && own >= 0 && Math.abs(i - own) < every;
            const style = {size: 12, color: mine ? heed.theme.ink : heed.theme.muted, weight: mine ? 700 : 400};
            if (mine || (i % every === 0 && !near)) paint(x, (i + 0.5) * cell, style);
        });
    };
    const paintLabels = (pen, m, l, at) => {
        labelled(m.rows, at.query, l.cell, (q, y, o) => {
            pen.text(heed.token(m.queries, q), l.left - 6, l.top + y, {...o, align: "right", width: l.left - 34});
            pen.text(String(heed.nth(q)), 2, l.top + y, {...o, size: 10, color: heed.theme.muted});
        });
        labelled(m.cols, at.key, l.cell, (k, x, o) => pen.text(heed.token(m.keys, k), l.left + x, l.top - 6, {...o, turn: -90, width: l.top - 14}));
    };
    const paintNumbers = (pen, m, l) => {
        const size = l.cell >= 44 ? 12 : 10;
        m.rows.forEach((q, i) => m.cols.forEach((k, j) => {
            const v = m.value(q, k);
            if (m.void(q, k) || Number.isNaN(v)) return;
            const text = m.signed ? heed.number(v, 2) : v < 0.005 ? "·" : v >= 1 ? "1" : Math.min(v, 0.99).toFixed(2).slice(1);
            pen.text(text, l.left + (j + 0.5) * l.cell, l.top + (i + 0.5) * l.cell, {size, align: "center", color: heed.ink(m.color(v))});
        }));
    };
    /* A frame that is seen on dark cells and on light ones. */
    heed.frame = (pen, x, y, w, h, width) => {
        pen.rect(x, y, w, h, {stroke: heed.css(heed.theme.surface), width: width + 3});
        pen.rect(x, y, w, h, {stroke: heed.theme.accent, width});
    };
    /* Where no query may look nothing is of a colour, which would be a weight's: it is hatched. */
    const paintHatch = (pen, m, l) => {
        const rows = m.rows.length, cols = m.cols.length, apart = Math.ceil(8 / l.cell), color = heed.theme.line;
        const at = (d, i) => [l.left + (i + d) * l.cell, l.top + i * l.cell], put = (d, from, to) => pen.line([at(d, from), at(d, to)], {color});
        for (let d = apart * Math.ceil((1 - rows) / apart); m.hatched && d < cols; d += apart)
            for (let i = Math.max(0, -d), from = -1; i <= rows; i++) {
                const empty = i < rows && i + d < cols && m.void(m.rows[i], m.cols[i + d]);
                if (empty && from < 0) from = i;
                if (!empty && from >= 0) { put(d, from, i); from = -1; }
                if (i + d >= cols) break;
            }
    };
    /* m: {queries, keys, rows, cols, value(q, k), color(v) -> [r,g,b], void(q, k), hatched: some are void, signed}; at: {query, key}. */
    heed.paintMatrix = (pen, m, l, at) => {
        const w = l.cell * m.cols.length, h = l.cell * m.rows.length;
        pen.cells(l.left, l.top, w, h, m.rows.length, m.cols.length, (i, j) => {
            const q = m.rows[i], k = m.cols[j];
            return m.void(q, k) ? heed.theme.surface : m.color(m.value(q, k));
        });
        paintHatch(pen, m, l);
        if (l.cell >= 28 && !m.plain) paintNumbers(pen, m, l);
        if (!l.bare) paintLabels(pen, m, l, at);
        const r = m.rows.indexOf(at.query), c = m.cols.indexOf(at.key);
        pen.rect(l.left - 0.5, l.top - 0.5, w + 1, h + 1, {stroke: heed.theme.line});
        if (r >= 0) pen.rect(l.left, l.top + r * l.cell, w, l.cell, {stroke: heed.theme.ink, width: 1.5});
        if (r >= 0 && c >= 0) heed.frame(pen, l.left + c * l.cell, l.top + r * l.cell, l.cell, l.cell, 3);
    };
    /* Values over two axes as such a matrix; more: what else it has. */
    heed.matrixOf = (m, {queries, keys}, top, more) => {
        const signed = m.min < 0, color = signed ? (v) => heed.signed(v / top) : (v) => heed.color(v / top);
        return {queries, keys, rows: heed.visible(queries), cols: heed.visible(keys), value: m.at, signed, top, color, ...more};
    };
    /* The weights of a block's head. */
    heed.weightMatrix = (b, head) => {
        const w = heed.weights(b, head), top = heed.scaleOf(w);
        return heed.matrixOf(w, b, top, {
            void: (q, k) => heed.masked(b, q, k), hatched: heed.hatched(b), uniform: w.uniform, above: w.max > top, even: heed.nearlyUniform(b, head),
        });
    };
    /* Full scale: the largest value, of weights at least twice the uniform one and the same on all inputs, as in PNG files; or 1. */
    heed.scaleOf = (m) => (heed.state.scale === "one" && m.min >= 0 ? 1 : m.of ? heed.scaleEnd(...m.of) : Math.max(m.max, -m.min)) || 1;
    /* Where that scale of weights ends, in words. */
    heed.scaleWords = (m) => {
        const top = heed.scaleOf(m);
        const among = heed.data.records.length < 2 ? "" : heed.severalInputs() ? " on all inputs" : " at all steps";
        return top > 2 * m.uniform ? `, up to the head's largest${among}` : top === 1 ? "" : ", up to twice the uniform weight";
    };
})();

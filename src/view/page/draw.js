/* draw.js -- colours, pens and the parts that several views draw: a pen paints on a canvas or
 * writes SVG, by the same calls.
 *
 * A pen has rect, line, curve, text, cells, image and group, which draws with its origin at (x, y).
 * Sizes are CSS pixels. What is put on a pen is on the surface
 * colour. */
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
        if (size < 1 && Math.abs(text) === 1)
            text = String(
                Math.sign(x) *
                Number(
                    Math.min(size, 0.9999).toFixed(size < 0.9995 ? 3 : 4))); /* 1.00 is certain */
        return text.replace("-", "−");
    };
    /* "1,200", as in the terminal and in PNG files. */
    heed.count = (x) => x.toLocaleString("en");
    heed.weight = (x) => (x > 0 && x < 0.0005 ? "<0.001" : heed.number(x));
    /* With two to four digits, so that none between 0 and 1 is shown as 0 or 1, as in the
     * terminal. */
    heed.probability = (p) => {
        if (Number.isNaN(p)) return "–";
        const texts = [2, 3, 4].map((digits) => p.toFixed(digits)),
              fits = (text) => (text > 0 || p <= 0) && (text < 1 || p >= 1);
        return texts.find(fits) ?? (p < 0.5 ? "<0.0001" : ">0.9999");
    };
    /* "p = 0.42", "p > 0.9999" */
    heed.probable = (p) => `p = ${heed.probability(p)}`.replace(/= ([<>])/, "$1 ");
    const pictures = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\u0000": "␀"};
    /* Control, format and direction characters are named, except for the joiners that emoji and
     * scripts need. */
    const odd = new RegExp(
        "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u180e" +
            "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffc\\u{1d173}-\\u{1d17a}\\u{e0001}]",
        "gu");
    const named = (c) =>
        pictures[c] || `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
    /* Spaces of any width, and letters that are drawn as nothing. */
    const blanks = /^[\p{Zs}\u2800\u3164\uffa0]+|[\p{Zs}\u2800\u3164\uffa0]+$/gu;
    /* What has no letter before it to join or to be placed on: joiners, variation selectors and
     * tags are named, marks get a circle. */
    const alone = /^[\u200c\u200d\ufe00-\ufe0f\u034f\u{e0020}-\u{e01ef}]+/u, mark = /^\p{M}/u;
    /* A token as it is shown: spaces at its ends, newlines and invisible characters made
     * visible. */
    heed.show = (token) => {
        if (token === "") return "∅";
        const spaced = token.replace(blanks, (all) => "␣".repeat(all.length));
        return spaced.replace(odd, named)
            .replace(alone, (all) => [...all].map(named).join(""))
            .replace(mark, "◌$&");
    };
    /* A token within a sentence: letters that run from right to left leave the words around them in
     * place. */
    heed.within = (text) =>
        (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text);
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
        viridis: [
            "440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"
        ].map(hex),
        cividis: [
            "00204d", "00336f", "39486b", "575c6d", "707173", "8a8779", "a69d75", "c4b56c",
            "e4cf5b", "ffea46"
        ].map(hex),
        grey: ["141414", "fafafa"].map(hex),
    };
    heed.palettes = Object.keys(maps);
    const between = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
    const along = (stops, t) => {
        const at = Math.max(0, Math.min(1, t)) * (stops.length - 1),
              i = Math.min(stops.length - 2, Math.floor(at));
        return between(stops[i], stops[i + 1], at - i);
    };
    heed.dark = () => document.documentElement.dataset.theme === "dark";
    /* [r,g,b] of t in [0,1]. Light pages run from light to dark, dark ones from dark to light, and
     * what is near 0 fades into the page's own colour: lightness stays in order, and what matters
     * stands out. */
    const shades = (stops, at) => between(
        heed.theme.surface, along(stops, heed.dark() ? 0.1 + 0.9 * at : 0.9 - 0.9 * at),
        Math.min(1, at * 5) ** 0.6);
    const levels = 1023, tables = heed.memory();
    let table = [];
    heed.color = (t) =>
        (t === t ? table[Math.round(Math.max(0, Math.min(1, t)) * levels)] : heed.theme.unknown);
    /* Of t in [-1,1]: blue below 0, orange above, the page's colour at 0. */
    heed.signed = (t) => {
        if (Number.isNaN(t)) return heed.theme.unknown;
        const end = heed.dark() ? (t < 0 ? [110, 176, 255] : [255, 163, 72])
            : t < 0             ? [20, 84, 160]
                                : [168, 72, 0];
        return between(heed.theme.surface, end, Math.min(1, Math.abs(t)) ** 0.8);
    };
    heed.css = (c, alpha = 1) =>
        (alpha < 1 ? `rgba(${c[0]},${c[1]},${c[2]},${alpha})` : `rgb(${c[0]},${c[1]},${c[2]})`);
    const light = (c) => {
        const [r, g, b] = c.map(
            (x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    /* Black or white, whichever reads better on c (WCAG 2.1: at least 4.5:1 always). */
    heed.ink = (c) => (light(c) > 0.179 ? "#000" : "#fff");
    /* Heads: a colour of Okabe and Ito (2008) and a pattern, and their number is always beside. */
    const hues = {
        light: ["0072b2", "c04e00", "007a5a", "a0497c", "7a6200", "1f77a8", "8b3a1d", "444444"].map(
            hex),
        dark: ["56b4e9", "f0a030", "2fc59a", "e79cc4", "f0e442", "9ad0f5", "ff8f5a", "cccccc"].map(
            hex),
    };
    const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2], [12, 4], [6, 2, 2, 2, 2, 2]];
    heed.hue = (i) => hues[heed.dark() ? "dark" : "light"][i % 8];
    heed.dash = (i) => dashes[i % 8];
    heed.readTheme = () => {
        const style = getComputedStyle(document.documentElement),
              read = (name) => style.getPropertyValue("--" + name).trim();
        const rgb = (name) => hex(read(name).replace("#", ""));
        heed.theme = {
            surface: rgb("surface"), ink: read("ink"), muted: read("muted"), line: read("line"),
            accent: read("accent"), unknown: rgb("unknown"), empty: rgb("empty"), bar: rgb("bar"),
            font: read("font"),
        };
        table = tables(
            heed.state.palette + heed.dark(),
            () => Array.from(
                {length: levels + 1}, (_, i) => shades(maps[heed.state.palette], i / levels)));
    };

    /* ---- pens ---- */

    const ruler = document.createElement("canvas").getContext("2d");
    const fontOf = (o) => `${o.weight || 400} ${o.size || 13}px ${heed.theme.font}`;
    /* The sign of a space hangs below the letters: where it is alone it is raised to them. */
    const drop = (text, o) => (/^␣+$/u.test(text) ? -0.3 * (o.size || 13) : 0);
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
        const canvas = heed.el("canvas", {width: cols, height: rows}), c = canvas.getContext("2d"),
              data = c.createImageData(cols, rows);
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
            if (fill) {
                c.fillStyle = fill;
                c.fillRect(x, y, w, h);
            }
            if (stroke) {
                c.strokeStyle = stroke;
                c.lineWidth = width;
                c.setLineDash(dash);
                c.strokeRect(x, y, w, h);
            }
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
        group(x, y, draw) {
            c.save();
            c.translate(x, y);
            draw();
            c.restore();
        },
        text(text, x, y, o = {}) {
            c.save();
            c.font = fontOf(o);
            c.fillStyle = o.color || heed.theme.ink;
            c.textAlign = o.align || "left";
            c.textBaseline = "middle";
            c.direction = "ltr";
            c.translate(x, y);
            if (o.turn) c.rotate((o.turn * Math.PI) / 180);
            c.fillText(fitted(text, o), 0, drop(text, o));
            c.restore();
        },
        cells(x, y, w, h, rows, cols, colorAt) {
            this.image(heed.bitmap(rows, cols, colorAt), x, y, w, h, {});
        },
        image(picture, x, y, w, h, {smooth = false, alpha = 1}) {
            c.globalAlpha = alpha;
            c.imageSmoothingEnabled = smooth;
            c.imageSmoothingQuality = "high";
            c.drawImage(picture, x, y, w, h);
            c.globalAlpha = 1;
        },
    });

    const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"};
    heed.escape = (text) => String(text).replace(/[&<>"']/g, (c) => escapes[c]);
    const places = (x) => String(Math.round(x * 100) / 100);
    const strokeText = ({color, width = 1, dash = [], alpha = 1}) =>
        ` stroke="${color}" stroke-width="${places(width)}"` +
        (dash.length ? ` stroke-dasharray="${dash.map(places).join(" ")}"` : "") +
        (alpha < 1 ? ` stroke-opacity="${places(alpha)}"` : "");
    const asUrl = (picture) => {
        if (picture.toDataURL) return picture.toDataURL();
        const canvas =
            heed.el("canvas", {width: picture.naturalWidth, height: picture.naturalHeight});
        canvas.getContext("2d").drawImage(picture, 0, 0);
        return canvas.toDataURL();
    };
    heed.svgPen = () => {
        const out = [];
        return {
            out,
            rect(x, y, w, h, {fill, stroke, width = 1, alpha = 1, dash = []}) {
                const line = stroke ? strokeText({color: stroke, width, dash}) : "";
                out.push(
                    `<rect x="${places(x)}" y="${places(y)}" width="${places(w)}" ` +
                        `height="${places(h)}" fill="${fill || "none"}"${line}` +
                    (alpha < 1 ? ` opacity="${places(alpha)}"` : "") + "/>");
            },
            line(points, o) {
                out.push(`<polyline points="` +
                    `${points.map((p) => p.map(places).join(",")).join(" ")}" fill="none"` +
                    `${strokeText(o)}/>`);
            },
            curve(x0, y0, x1, y1, o) {
                const [a, b, c, d, mid] = [x0, y0, x1, y1, (x0 + x1) / 2].map(places);
                out.push(`<path d="M${a} ${b}C${mid} ${b} ${mid} ${d} ${c} ${d}" fill="none"` +
                    `${strokeText(o)}/>`);
            },
            group(x, y, draw) {
                out.push(`<g transform="translate(${x} ${y})">`);
                draw();
                out.push("</g>");
            },
            text(text, x, y, o = {}) {
                const anchor = {left: "start", center: "middle", right: "end"}[o.align || "left"];
                const turn =
                    o.turn ? ` transform="rotate(${o.turn} ${places(x)} ${places(y)})"` : "";
                out.push(
                    `<text x="${places(x)}" y="${places(y + drop(text, o))}"` +
                    ' dominant-baseline="central"' +
                    ` text-anchor="${anchor}" font-size="${o.size || 13}"` +
                    ` font-weight="${o.weight || 400}"` +
                    ` font-family="${heed.escape(heed.theme.font)}"` +
                    ` fill="${o.color || heed.theme.ink}"${turn}>` +
                        `${heed.escape(fitted(text, o))}</text>`);
            },
            cells(x, y, w, h, rows, cols, colorAt) {
                if (rows * cols > 4096)
                    return this.image(heed.bitmap(rows, cols, colorAt), x, y, w, h, {});
                for (let r = 0; r < rows; r++)
                    for (let k = 0; k < cols; k++) {
                        const color = colorAt(r, k), alpha = color.length > 3 ? color[3] / 255 : 1;
                        this.rect(
                            x + (k * w) / cols, y + (r * h) / rows, w / cols, h / rows,
                            {fill: heed.css(color), alpha});
                    }
            },
            image(picture, x, y, w, h, {smooth = false, alpha = 1}) {
                out.push(
                    `<image x="${places(x)}" y="${places(y)}" width="${places(w)}" ` +
                        `height="${places(h)}" preserveAspectRatio="none"` +
                    (smooth ? "" : ' style="image-rendering:pixelated"') +
                    (alpha < 1 ? ` opacity="${places(alpha)}"` : "") +
                    ` href="${asUrl(picture)}"/>`);
            },
        };
    };

    /* ---- canvases on the page ---- */

    /* A canvas that a keyboard can reach. on: {move(x, y), click(x, y), leave()}. */
    heed.canvas = (label, on = {}) => {
        const canvas = heed.el("canvas", {tabindex: "0", role: "img", "aria-label": label});
        const at = (e) => {
            const r = canvas.getBoundingClientRect();
            return [e.clientX - r.left, e.clientY - r.top];
        };
        if (on.move) canvas.addEventListener("pointermove", (e) => on.move(...at(e), e));
        if (on.click) canvas.addEventListener("click", (e) => on.click(...at(e), e));
        canvas.addEventListener("pointerleave", () => {
            heed.tip(null);
            if (on.leave) on.leave();
        });
        return canvas;
    };
    /* A canvas of queries and keys: what place(x, y) gives, {query, key} or null, is previewed, and
     * locked by a click. */
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
    /* Sizes the canvas (in CSS pixels), clears it and hands a pen to paint; what is painted at
     * height `from` is its upper edge. Backs off from sharp to plain on huge ones. */
    heed.paint = (canvas, width, height, paint, from = 0) => {
        const sharp = Math.min(window.devicePixelRatio || 1, 2),
              scale = width * height * sharp * sharp > 3e7 ? 1 : sharp;
        canvas.width = Math.max(1, Math.round(width * scale));
        canvas.height = Math.max(1, Math.round(height * scale));
        canvas.style.width = width + "px";
        canvas.style.height = height + "px";
        const c = canvas.getContext("2d");
        c.scale(scale, scale);
        c.translate(0, -from);
        paint(heed.canvasPen(c));
    };
})();

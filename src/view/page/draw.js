/* draw.js -- how numbers and tokens are written, colours, and pens: a pen paints on a canvas or
 * writes SVG, by the same calls.
 *
 * A pen has path (a shape in the words of SVG), rect, line, curve, text, cells, image and group,
 * which draws with its origin at (x, y). Sizes are CSS pixels; the ground is the surface colour. */
"use strict";
{
    /* ---- numbers and tokens ---- */

    /* "0.42", "-1.3e-5": short, with as many digits as a reader can use. */
    heed.number = (x, digits = 3) => {
        const size = Math.abs(x);
        if (x === null || Number.isNaN(size)) return "–";
        if (size === Infinity) return x > 0 ? "∞" : "−∞";
        if (x === 0) return "0";
        if (size < 10 ** -digits / 2 || size >= 1e6) return x.toExponential(1).replace(/-/g, "−");
        let text = x.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : digits);
        if (size < 1 && Math.abs(text) === 1) /* 1.00 is certain */
            text = String(Math.sign(x) * Math.min(size, 0.9999).toFixed(size < 0.9995 ? 3 : 4));
        return text.replace("-", "−");
    };
    /* "1,200", as in the terminal and in PNG files. */
    heed.count = (x) => x.toLocaleString("en");
    heed.weight = (x) => (x > 0 && x < 0.0005 ? "<0.001" : heed.number(x));
    /* With two to four digits, so that none between 0 and 1 is shown as 0 or 1, as in the
     * terminal. */
    heed.probability = (p) => {
        if (Number.isNaN(p)) return "–";
        const fits = (text) => (text > 0 || p <= 0) && (text < 1 || p >= 1);
        const text = [2, 3, 4].map((digits) => p.toFixed(digits)).find(fits);
        return text ?? (p < 0.5 ? "<0.0001" : ">0.9999");
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
    const alone = /^[\u200c\u200d\ufe00-\ufe0f\u034f\u{e0020}-\u{e01ef}]+/u;
    /* A token as it is shown: spaces at its ends, newlines and invisible characters made
     * visible. */
    heed.show = (token) => token === ""
        ? "∅"
        : token.replace(blanks, (all) => "␣".repeat(all.length))
              .replace(odd, named)
              .replace(alone, (all) => [...all].map(named).join(""))
              .replace(/^\p{M}/u, "◌$&");
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
    heed.quoted = (token, n = 24) => `‘${heed.within(heed.cut(heed.show(token), n))}’`;
    heed.quote = (axis, i, n) => heed.quoted(axis.labels[i], n);
    heed.placed = (axis, i, n) => `${heed.nth(i)} ${heed.quote(axis, i, n)}`;

    /* ---- colours ---- */

    const hex = (text) => text.match(/\w\w/g).map((x) => parseInt(x, 16));
    const colors = (texts) => texts.split(" ").map(hex);
    const maps = { /* besides viridis, of which the program gives its samples */
        cividis: colors("00204d 00336f 39486b 575c6d 707173 8a8779 a69d75 c4b56c e4cf5b ffea46"),
        grey: colors("141414 fafafa"),
    };
    heed.palettes = ["viridis", ...Object.keys(maps)];
    heed.between = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
    const along = (stops, t) => {
        const at = t * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
        return heed.between(stops[i], stops[i + 1], at - i);
    };
    heed.clamp = (x, lo = 0, hi = 1) => Math.max(lo, Math.min(hi, x));
    heed.dark = () => document.documentElement.dataset.theme === "dark";
    /* [r,g,b] of t in [0,1]. Light pages run from light to dark, dark ones from dark to light, and
     * what is near 0 fades into the page's own colour: lightness stays in order, and what matters
     * stands out. */
    const shade = (stops, t) => heed.between(
        heed.theme.surface, along(stops, heed.dark() ? 0.1 + 0.9 * t : 0.9 - 0.9 * t),
        Math.min(1, t * 5) ** 0.6);
    const LEVELS = 1023, tables = new Map();
    let table = [];
    heed.color = (t) => table[Math.round(heed.clamp(t) * LEVELS)] ?? heed.theme.unknown;
    /* Of t in [-1,1]: blue below 0, orange above, the page's colour at 0. */
    heed.signed = (t) => {
        if (Number.isNaN(t)) return heed.theme.unknown;
        const ends = heed.dark() ? ["6eb0ff", "ffa348"] : ["1454a0", "a84800"];
        return heed.between(
            heed.theme.surface, hex(ends[Number(t >= 0)]), Math.min(1, Math.abs(t)) ** 0.8);
    };
    heed.css = (c) => `rgb(${c.join()})`;
    /* Black or white, whichever reads better on c (WCAG 2.1: at least 4.5:1 always). */
    heed.ink = (c) => {
        const [r, g, b] = c.map(
            (x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
    };
    /* Heads: a colour of Okabe and Ito (2008) and a pattern, and their number is always beside. */
    const hues = {
        light: colors("0072b2 c04e00 007a5a a0497c 7a6200 1f77a8 8b3a1d 444444"),
        dark: colors("56b4e9 f0a030 2fc59a e79cc4 f0e442 9ad0f5 ff8f5a cccccc"),
    };
    const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2], [12, 4], [6, 2, 2, 2, 2, 2]];
    heed.hue = (i) => hues[heed.dark() ? "dark" : "light"][i % 8];
    heed.dash = (i) => dashes[i % 8];
    heed.readTheme = () => {
        const theme = {}, style = getComputedStyle(document.documentElement),
              {palette} = heed.state;
        for (const name of ["ink", "muted", "line", "accent", "font"])
            theme[name] = style.getPropertyValue("--" + name).trim();
        for (const name of ["surface", "unknown", "empty", "bar"])
            theme[name] = hex(style.getPropertyValue("--" + name));
        heed.theme = theme;
        table = heed.once(
            tables, palette + heed.dark(),
            () => Array.from({length: LEVELS + 1},
                (_, i) => shade(maps[palette] ?? heed.data.viridis, i / LEVELS)));
    };

    /* ---- texts ---- */

    const ruler = document.createElement("canvas").getContext("2d");
    const fontOf = ({size = 13, weight = 400}) => `${weight} ${size}px ${heed.theme.font}`;
    heed.width = (text, o = {}) => {
        ruler.font = fontOf(o);
        return ruler.measureText(text).width;
    };
    /* text, or as much of its beginning as fits `width` pixels, with an ellipsis. */
    heed.fit = (text, width, o = {}) => {
        const short = heed.cut(text, 200), all = [...short];
        if (heed.width(short, o) <= width) return short;
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
            const longer = `${out.at(-1)} ${word}`.trim();
            if (out.length === most || heed.width(longer, o) <= width) out[out.length - 1] = longer;
            else out.push(word);
        }
        return out;
    };
    const fitted = (text, o) => (o.width ? heed.fit(text, o.width, o) : heed.cut(text, 200));
    /* The sign of a space hangs below the letters: where it is alone it is raised to them. */
    const drop = (text, {size = 13}) => (/^␣+$/u.test(text) ? -0.3 * size : 0);

    /* ---- pens ---- */

    /* A small canvas, a pixel a cell. colorAt(r, c) is [r,g,b] or [r,g,b,a]. */
    heed.bitmap = (rows, cols, colorAt) => {
        const canvas = heed.el("canvas", {width: cols, height: rows}), c = canvas.getContext("2d"),
              pixels = c.createImageData(cols, rows);
        for (let i = 0; i < rows * cols; i++) {
            const [r, g, b, a = 255] = colorAt(Math.floor(i / cols), i % cols);
            pixels.data.set([r, g, b, a], 4 * i);
        }
        c.putImageData(pixels, 0, 0);
        return canvas;
    };
    const places = (x) => String(Math.round(x * 100) / 100);
    const joined = (...list) => list.map(places).join(" ");
    /* What every pen has over its own path, text, image and group. */
    const shapes = {
        rect(x, y, w, h, style) {
            this.path(`M${joined(x, y)}h${places(w)}v${places(h)}h${places(-w)}z`, style);
        },
        line(points, {color, ...style}) {
            this.path("M" + points.map((p) => joined(...p)).join("L"), {stroke: color, ...style});
        },
        curve(x0, y0, x1, y1, {color, ...style}) {
            const mid = (x0 + x1) / 2;
            this.path(
                `M${joined(x0, y0)}C${joined(mid, y0, mid, y1, x1, y1)}`,
                {stroke: color, ...style});
        },
        cells(x, y, w, h, rows, cols, colorAt) {
            this.image(heed.bitmap(rows, cols, colorAt), x, y, w, h, {});
        },
    };
    heed.canvasPen = (c) => ({
        ...shapes,
        path(shape, {fill, stroke, width = 1, alpha = 1, dash = []}) {
            const path = new Path2D(shape);
            c.globalAlpha = alpha;
            if (fill) {
                c.fillStyle = fill;
                c.fill(path);
            }
            if (stroke) {
                Object.assign(c, {strokeStyle: stroke, lineWidth: width, lineJoin: "round"});
                c.setLineDash(dash);
                c.stroke(path);
            }
            c.globalAlpha = 1;
        },
        group(x, y, draw, turn = 0) {
            c.save();
            c.translate(x, y);
            c.rotate((turn * Math.PI) / 180);
            draw();
            c.restore();
        },
        text(text, x, y, o = {}) {
            const {align = "left", color = heed.theme.ink, turn} = o;
            this.group(x, y, () => {
                Object.assign(c, {
                    font: fontOf(o), fillStyle: color, textAlign: align, textBaseline: "middle",
                    direction: "ltr",
                });
                c.fillText(fitted(text, o), 0, drop(text, o));
            }, turn);
        },
        image(picture, x, y, w, h, {smooth = false}) {
            Object.assign(c, {imageSmoothingEnabled: smooth, imageSmoothingQuality: "high"});
            c.drawImage(picture, x, y, w, h);
        },
    });
    heed.escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
    /* out: its elements, as texts. */
    heed.svgPen = (out = []) => ({
        ...shapes, out,
        path(shape, {fill = "none", stroke, width = 1, alpha = 1, dash = []}) {
            const line = stroke ? ` stroke="${stroke}" stroke-width="${places(width)}"` : "",
                  dashed = dash.length ? ` stroke-dasharray="${joined(...dash)}"` : "",
                  faint = alpha < 1 ? ` opacity="${places(alpha)}"` : "";
            out.push(`<path d="${shape}" fill="${fill}"${line}${dashed}${faint}/>`);
        },
        group(x, y, draw) {
            out.push(`<g transform="translate(${x} ${y})">`);
            draw();
            out.push("</g>");
        },
        text(text, x, y, o = {}) {
            const {align = "left", size = 13, weight = 400, color = heed.theme.ink, turn} = o;
            const anchor = {left: "start", center: "middle", right: "end"}[align],
                  turned = turn ? ` transform="rotate(${turn} ${joined(x, y)})"` : "";
            out.push(
                `<text x="${places(x)}" y="${places(y + drop(text, o))}"` +
                ` dominant-baseline="central" text-anchor="${anchor}" font-size="${size}"` +
                ` font-weight="${weight}" font-family="${heed.escape(heed.theme.font)}"` +
                ` fill="${color}"${turned}>${heed.escape(fitted(text, o))}</text>`);
        },
        /* Few cells stay shapes that can be edited. */
        cells(x, y, w, h, rows, cols, colorAt) {
            if (rows * cols > 4096)
                return shapes.cells.call(this, x, y, w, h, rows, cols, colorAt);
            for (let i = 0; i < rows * cols; i++) {
                const r = Math.floor(i / cols), k = i % cols, fill = heed.css(colorAt(r, k));
                this.rect(x + (k * w) / cols, y + (r * h) / rows, w / cols, h / rows, {fill});
            }
        },
        image(picture, x, y, w, h, {smooth = false}) {
            const pixelated = smooth ? "" : ' style="image-rendering:pixelated"';
            out.push(
                `<image x="${places(x)}" y="${places(y)}" width="${places(w)}"` +
                ` height="${places(h)}" preserveAspectRatio="none"${pixelated}` +
                ` href="${picture.toDataURL()}"/>`);
        },
    });

    /* ---- canvases on the page ---- */

    /* A canvas that a keyboard can reach. on: {move(x, y, event), click(x, y), leave()}. */
    heed.canvas = (label, {move, click, leave} = {}) => {
        const at = (act) => act && ((e) => {
            const r = canvas.getBoundingClientRect();
            act(e.clientX - r.left, e.clientY - r.top, e);
        });
        const canvas = heed.el("canvas", {
            tabindex: "0", role: "img", "aria-label": label, onpointermove: at(move),
            onclick: at(click),
            onpointerleave: () => {
                heed.tip(null);
                leave?.();
            },
        });
        return canvas;
    };
    /* A canvas of queries and keys: what at(x, y) gives, {query, key} or null, is previewed, and
     * locked by a click; query -1: it is none of the block's. */
    heed.choiceCanvas = (label, at, tip = heed.cellTip) => heed.canvas(label, {
        move(x, y, e) {
            const found = at(x, y);
            heed.preview(found?.query >= 0 ? found : null);
            heed.tip(found && tip(found), e);
        },
        click(x, y) {
            const found = at(x, y);
            if (found?.query >= 0) heed.lock(found.query, found.key);
        },
        leave: () => heed.preview(null),
    });
    /* The width at hand for a canvas in a box. */
    heed.widthIn = (box, least = 260) => Math.max(least, box.clientWidth - 4);
    heed.drawCanvas = (v) => {
        const {width, height} = v.layout();
        v.canvas.setAttribute("aria-label", v.caption());
        heed.paint(v.canvas, width, height, v.paint);
    };
    /* Sizes the canvas (in CSS pixels), clears it and hands a pen to paint; what is painted at
     * height `from` is its upper edge. Backs off from sharp to plain on huge ones. */
    heed.paint = (canvas, width, height, paint, from = 0, finest = devicePixelRatio) => {
        const sharp = Math.min(finest, 2), scale = width * height * sharp * sharp > 3e7 ? 1 : sharp;
        canvas.width = Math.max(1, Math.round(width * scale));
        canvas.height = Math.max(1, Math.round(height * scale));
        canvas.style.width = width + "px";
        canvas.style.height = height + "px";
        const c = canvas.getContext("2d");
        c.scale(scale, scale);
        c.translate(0, -from);
        paint(heed.canvasPen(c));
    };
}

/* picture.js -- the Picture view: where one query looks, laid over the picture; all heads beside. A
 * click on a patch, on [CLS] or on a word of a caption chooses the query. The grid need not be
 * square; a mass threshold keeps the strongest patches alone. */
"use strict";
{
    let strip, scroll, chips, l;
    const pictures = new Map(), greys = new Map();

    const photo = (p) => {
        const image = p && heed.once(pictures, p.id, () => heed.el("img", {
            onload: heed.redraw,
            src: "data:image/png;base64," + heed.id(p.id).textContent.trim(),
        }));
        return image?.complete && image.naturalWidth ? image : null;
    };
    const query = () => heed.selected().query;
    /* What can be laid over: the heads, and the maps of the record over the same patches. Rollout
     * is of shares of attention: it has the colours of the heads. */
    const headLayers = (b) => [...b.heads, ...(b.heads.length > 1 ? ["mean", "max"] : [])].map(
        (head) => ({name: heed.headName(head), m: heed.weights(b, head), act: {head, over: ""}}));
    const mapLayers = (b) => heed.record().maps
        .filter((m) => m.keys === b.keys && m.queries === b.queries &&
                    [-1, heed.state.head].includes(m.head) && [-1, b.layer].includes(m.layer))
        .map((m) => ({
            name: m.name, act: {over: m.name},
            m: {...heed.mapValues(m), uniform: m.name === "rollout" ? b.uniform : 0},
        }));
    const source = () => {
        const {over, head} = heed.state, of = mapLayers(heed.block()).find((x) => x.name === over);
        return of ?? {name: heed.headName(head), m: heed.matrix()};
    };
    /* The weights of the patches for a query; those beyond the mass threshold are NaN. */
    const patches = (m, at, g, keep = 100) => {
        const all = Float32Array.from({length: g.rows * g.cols}, (_, i) => m.at(at, g.first + i));
        return keep < 100 ? heed.math.strongest(all, keep / 100) : all;
    };

    /* ---- over a picture ---- */

    /* A value between the centres of four cells: the values are interpolated, not their colours. */
    const blend = (w, {rows, cols}, y, x) => {
        const r = Math.floor(y), c = Math.floor(x), at = (i, j) =>
            w[heed.clamp(i, 0, rows - 1) * cols + heed.clamp(j, 0, cols - 1)] || 0;
        const along = (i) => at(i, c) * (1 - x + c) + at(i, c + 1) * (x - c);
        return along(r) * (1 - y + r) + along(r + 1) * (y - r);
    };
    /* As src/view/figure.c draws it: the picture in grey, lightened if it is dark, since dark
     * colours are not seen over it (on a dark page, where bright ones are much, darkened if it is
     * bright); over it colour where a weight is above the uniform one, the more opaque the more it
     * is, so that the picture can be recognised at any strength. Of other maps, what differs from 0
     * is coloured, also the more opaque; pale colours would hide dark parts of the picture. */
    const PALE = 0.7, MIDDLE = 0.5, LEAST_GAMMA = 0.5, LIGHT = 0.71;
    const toned = (image, id) => heed.once(greys, id + heed.dark(), () => {
        const canvas = heed.el("canvas", {width: image.naturalWidth, height: image.naturalHeight}),
              c = canvas.getContext("2d"), dark = heed.dark();
        c.drawImage(image, 0, 0);
        const all = c.getImageData(0, 0, canvas.width, canvas.height), d = all.data;
        /* How near each pixel is to the page, of 1. */
        const near = Float32Array.from({length: d.length / 4}, (_, i) => {
            const grey = (0.299 * d[4 * i] + 0.587 * d[4 * i + 1] + 0.114 * d[4 * i + 2]) / 255;
            return dark ? 1 - grey : grey;
        });
        const mean = (g) => heed.math.sum(near.map((x) => x ** g)) / near.length, usual = mean(1),
              needed = Math.log(MIDDLE) / Math.log(Math.max(usual, 1e-3)),
              gamma = usual < MIDDLE ? Math.max(LEAST_GAMMA, needed) : 1;
        near.forEach((x, i) => {
            const y = 255 * x ** gamma;
            d.fill(dark ? 255 - y : y, 4 * i, 4 * i + 3);
        });
        c.putImageData(all, 0, 0);
        return {canvas, contrast: Math.min(PALE, (1 - LIGHT) / Math.max(1 - mean(gamma), 1e-3))};
    });
    heed.overPicture =
        (pen, m, at, {x, y, w, h}, top, g = heed.block().keys.grid,
         picture = heed.record().picture) => {
            const {keep, strength} = heed.state, values = patches(m, at, g, keep),
                  image = photo(picture), from = m.uniform || 0, {surface, empty} = heed.theme;
            if (image) {
                const {canvas, contrast} = toned(image, picture.id);
                pen.image(canvas, x, y, w, h, {smooth: image.naturalWidth >= 64});
                pen.rect(x, y, w, h, {fill: heed.css(surface), alpha: 1 - contrast});
            } else
                pen.rect(x, y, w, h, {fill: heed.css(empty)});
            const smooth = heed.state.smooth && keep >= 100,
                  n = smooth ? Math.min(8, Math.ceil(w / g.cols)) : 1; /* points of a cell */
            const layer = heed.bitmap(n * g.rows, n * g.cols, (r, c) => {
                const v = smooth ? blend(values, g, (r + 0.5) / n - 0.5, (c + 0.5) / n - 0.5)
                                 : values[r * g.cols + c],
                      above = heed.clamp((Math.abs(v) - from) / (top - from));
                if (Number.isNaN(v)) return [...surface, image ? 0 : 255];
                const color = m.min < 0 ? heed.signed(image ? (v < 0 ? -1 : 1) : v / top)
                                        : heed.color(v / top),
                      opacity = (strength / 100) * (m.min < 0 ? above : Math.sqrt(above));
                return [...color, image ? Math.round(255 * opacity) : 255];
            });
            pen.image(layer, x, y, w, h, {smooth});
        };
    /* The largest weight that is laid over a picture of what is asked for: of all words of a
     * caption, which have one scale. */
    heed.largestOver = (m, at, {queries, keys} = heed.block()) => {
        const rows = queries === keys ? [at] : queries.order,
              all = rows.flatMap((q) => [...patches(m, q, keys.grid)]);
        return Math.max(0, ...all.map((w) => Math.abs(w) || 0));
    };
    /* Where the scale of a map ends that has its own. */
    heed.ownEnd = (m, at, axes) => Math.max(heed.largestOver(m, at, axes), m.least || 0);
    /* All heads share a scale, up to the largest weight or twice the uniform one; their mean, which
     * would look pale beside a sharp head, their largest and each map have their own. */
    heed.topOver = (m, at) => {
        if (heed.state.scale === "one" && m.min >= 0) return 1;
        if (!m.uniform) return heed.ownEnd(m, at) || 1;
        const b = heed.block(), heads = m.own ? [] : b.heads.map((h) => heed.weights(b, h));
        const ends = [m, ...heads].map((x) => heed.largestOver(x, at));
        return Math.max(Math.min(1, 2 * m.uniform), ...ends);
    };

    /* ---- the view ---- */

    const layout = () => {
        const g = heed.block().keys.grid, p = heed.record().picture,
              ratio = p ? p.height / p.width : g.rows / g.cols,
              beside = scroll.clientWidth > 700 ? 230 : 4; /* the small ones stand beside it */
        const high = Math.max(260, window.innerHeight - 430) / ratio,
              width = Math.max(220, Math.min(scroll.clientWidth - beside, 720, high));
        l = {g, width: Math.round(width), height: Math.round(width * ratio)};
        return l;
    };
    const paint = (pen) => {
        const s = heed.selected(), {m} = source(), {width, height, g} = l, b = heed.block(),
              w = width / g.cols, h = height / g.rows;
        const frame = (axis, i, ...styles) => {
            const j = i - g.first;
            if (axis !== b.keys || !heed.isPatch(g, i)) return;
            for (const style of styles)
                pen.rect((j % g.cols) * w, Math.floor(j / g.cols) * h, w, h, style);
        };
        heed.overPicture(
            pen, m, s.query, {x: 0, y: 0, w: width, h: height}, heed.topOver(m, s.query));
        frame(b.queries, s.query, {stroke: "#fff", width: 5}, {stroke: "#b4004e", width: 3});
        frame(b.keys, s.key, {stroke: "#000", width: 3, dash: [4, 3]});
        pen.rect(0.5, 0.5, width - 1, height - 1, {stroke: heed.theme.line});
    };
    heed.patchAt = ({width, height, g}, x, y) => {
        const c = Math.floor((x * g.cols) / width), r = Math.floor((y * g.rows) / height);
        return r < 0 || c < 0 || r >= g.rows || c >= g.cols ? -1 : g.first + r * g.cols + c;
    };
    const drawStrip = () => {
        const w = 92, h = Math.round((w * l.height) / l.width), chosen = source(), b = heed.block();
        heed.refill(strip, ...[...headLayers(b), ...mapLayers(b)].map(({name, m, act}) => {
            const small = heed.el("canvas", {"aria-hidden": "true"});
            heed.paint(small, w, h, (pen) => heed.overPicture(
                pen, m, query(), {x: 0, y: 0, w, h}, heed.topOver(m, query())));
            return heed.el(
                "button", {
                    type: "button", class: "thumb", onclick: () => heed.update(act),
                    "aria-pressed": String(name === chosen.name),
                },
                small, heed.el("span", {text: name}));
        }));
    };
    /* Queries that are no patches: [CLS], words of a caption. */
    const drawChips = () => {
        const b = heed.block(), a = b.queries,
              free = a.order.filter((i) => !heed.isPatch(a.grid, i)).slice(0, 400);
        chips.hidden = !free.length;
        heed.refill(chips, ...free.map((i) => heed.el("button", {
            type: "button", class: "chip", "aria-pressed": String(query() === i), dir: "auto",
            title: heed.predicts(b, i) || heed.show(a.labels[i]).slice(0, 2000),
            text: heed.token(a, i, 20), onclick: () => heed.lock(i),
            onpointerenter: () => heed.preview({query: i}),
            onpointerleave: () => heed.preview(null),
        })));
    };

    heed.view({
        id: "picture", title: "Picture",
        help: "where a patch, [CLS] or a caption's word looks, over the picture",
        uses: ["layer", "head", "scale", "side"],
        state: {over: "", keep: 100, strength: 75, smooth: true},
        available: (data) => data.records.some((r) => r.blocks.some((b) => b.keys.grid)),
        open(box) {
            const own = () => heed.block().queries === heed.block().keys;
            this.canvas = heed.canvas("attention over the picture", {
                move(x, y, e) {
                    const i = heed.patchAt(l, x, y), {keys} = heed.block();
                    if (i < 0) return heed.preview(null);
                    if (own()) heed.preview({query: i});
                    const weight = heed.weight(source().m.at(query(), i));
                    heed.tip([`${heed.token(keys, i)}: ${weight}`], e);
                },
                click(x, y) {
                    const i = heed.patchAt(l, x, y);
                    if (i >= 0) heed.lock(...(own() ? [i] : [query(), i]));
                },
                leave: () => heed.preview(null),
            });
            const kept = (v) => (v >= 100 ? "all" : `${v} % of the mass`);
            chips = heed.group("chips", "queries that are no patches");
            strip = heed.group("thumbs", "heads and maps");
            scroll = box;
            box.append(
                heed.tools(
                    heed.bind("keep", "Keep the top", {range: [5, 100, 5], say: kept}),
                    heed.bind("strength", "Strength", {range: [0, 90, 5], say: (v) => v + " %"}),
                    heed.bind("smooth", "Smooth", {check: true})),
                chips, heed.el("div", {class: "beside"}, this.canvas, strip));
        },
        lacks: () => heed.block().keys.grid
            ? ""
            : "The keys of this layer are no patches: choose another attention above.",
        draw() {
            heed.drawCanvas(this);
            drawChips();
            drawStrip();
        },
        keys(e) {
            const by = heed.arrows[e.key], g = heed.block().queries.grid;
            if (!by || !g || e.target.closest?.("#tabs")) return false;
            const j = query() - g.first, row = Math.floor(j / g.cols), [down, right] = by;
            const to = heed.clamp(row + down, 0, g.rows - 1) * g.cols +
                heed.clamp((j % g.cols) + right, 0, g.cols - 1);
            if (!heed.isPatch(g, query())) heed.lock(g.first);
            else heed.lock(down < 0 && row === 0 && g.first ? g.first - 1 : g.first + to);
            return true;
        },
        caption() {
            const {layer, queries} = heed.block(), {keep} = heed.state,
                  kept = keep < 100 ? `, the top ${keep} % of the mass` : "";
            return `layer ${layer + 1}, ${source().name}${kept}: where ` +
                `${heed.quote(queries, query())} (${heed.nth(query())}) looks`;
        },
        layout,
        paint,
        legend() {
            const {m} = source(), {queries, keys} = heed.block(), top = heed.topOver(m, query());
            if (m.min < 0) return heed.signedLegend(top, m.below);
            const even = heed.math.isEven(patches(m, query(), keys.grid)) ? ", nearly uniform" : "",
                  above = m.uniform ? `${even}; colour where it is above uniform` : "";
            return heed.legend(
                `share of the attention of ${heed.quote(queries, query())} (1 = 100 %)${above}`, 0,
                top, heed.color, {uniform: m.uniform});
        },
        table() {
            const {queries, keys: {grid: g}} = heed.block(), at = query(),
                  w = patches(source().m, at, g, heed.state.keep),
                  [rows, cols] = [g.rows, g.cols].map((n) => [...Array(n).keys()]);
            const cell = (r, c) =>
                (Number.isNaN(w[r * g.cols + c]) ? "below" : heed.weight(w[r * g.cols + c]));
            return {
                caption: this.caption(), head: ["row", ...cols.map((c) => `column ${c + 1}`)],
                rows: rows.map((r) => [r + 1, ...cols.map((c) => cell(r, c))]),
                label: (r, c) => `patch row ${r + 1} column ${c}: ${cell(r, c - 1)}`,
                all: () => [
                    ["query_position", "query_token", "patch_row", "patch_column", "weight"],
                    ...rows.flatMap((r) => cols.map((c) => [
                        heed.nth(at), queries.labels[at], r + 1, c + 1, w[r * g.cols + c]])),
                ],
            };
        },
    });
}

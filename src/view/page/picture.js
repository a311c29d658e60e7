/* picture.js -- the Picture view: where one query looks, laid over the picture; all heads beside. A
 * click on a patch, on [CLS] or on a word of a caption chooses the query. The grid need not be
 * square; a mass threshold keeps the strongest patches alone. */
"use strict";
(() => {
    let strip, scroll, chips, l;
    const pictures = heed.memory(), greys = heed.memory();

    const able = () => { const b = heed.block(); return Boolean(b && b.keys.grid); };
    const photo = (p) => {
        if (!p) return null;
        const image = pictures(p.id, () => heed.el("img", {
            onload: heed.redraw,
            src: "data:image/png;base64," + heed.id(p.id).textContent.trim()
        }));
        return image.complete && image.naturalWidth ? image : null;
    };
    const maps = () => {
        const {queries, keys, layer} = heed.block(),
              ours = (own, chosen) => own < 0 || own === chosen;
        return heed.record().maps.filter(
            (m) => m.keys === keys && m.queries === queries && ours(m.head, heed.state.head) &&
                ours(m.layer, layer));
    };
    /* Rollout is of shares of attention: it has the colours of the heads. */
    const shareOf = (m) =>
        ({...heed.mapValues(m), uniform: m.name === "rollout" ? heed.block().uniform : 0});
    /* What is laid over: the head that is chosen, or a map of the record. */
    const source = () => {
        const named = maps().find((m) => m.name === heed.state.over);
        return named ? {m: shareOf(named), name: named.name}
                     : {m: heed.matrix(), name: heed.headName(heed.state.head)};
    };
    /* The weights of the patches for a query; those beyond the mass threshold are NaN. */
    const patches = (m, query, keep = heed.state.keep, g = heed.block().keys.grid) => {
        const n = g.rows * g.cols, out = new Float32Array(n);
        for (let i = 0; i < n; i++) out[i] = m.at(query, g.first + i);
        if (keep >= 100) return out;
        const order = [...out.keys()].sort((a, b) => out[b] - out[a]),
              total = out.reduce((a, w) => a + Math.max(0, w), 0);
        let left = (total * keep) / 100, i = 0;
        while (i < n && left > 0) left -= Math.max(0, out[order[i++]]);
        for (; i < n; i++) out[order[i]] = NaN;
        return out;
    };
    const query = () => heed.selected().query;
    const even = (m) => (heed.isEven(patches(m, query(), 100)) ? ", nearly uniform" : "");
    const layout = () => {
        const g = heed.block().keys.grid, p = heed.record().picture,
              ratio = p ? p.height / p.width : g.rows / g.cols;
        const beside = scroll.clientWidth > 700 ? 230 : 4; /* the small ones stand beside it */
        const width = Math.max(
            220,
            Math.min(
                scroll.clientWidth - beside, 720, Math.max(260, window.innerHeight - 430) / ratio));
        l = {g, width: Math.round(width), height: Math.round(width * ratio)};
        return l;
    };
    /* A value between the centres of four cells: the values are interpolated, not their colours. */
    const between = (w, {rows, cols}, y, x) => {
        const r = Math.floor(y), c = Math.floor(x);
        const at = (i, j) =>
            w[Math.max(0, Math.min(rows - 1, i)) * cols + Math.max(0, Math.min(cols - 1, j))] || 0;
        const along = (i) => at(i, c) * (1 - x + c) + at(i, c + 1) * (x - c);
        return along(r) * (1 - y + r) + along(r + 1) * (y - r);
    };
    /* As src/view/overlay.c draws it: the picture in grey, lightened if it is dark, since dark
     * colours are not seen over it (on a dark page, where bright ones are much, darkened if it is
     * bright); over it colour where a weight is above the uniform one, the more opaque the more it
     * is, so that the picture can be recognised at any strength. Of other maps, what differs from 0
     * is coloured, also the more opaque; pale colours would hide dark parts of the picture. */
    const PALE = 0.7, MIDDLE = 0.5, LEAST_GAMMA = 0.5, LIGHT = 0.71;
    const toned = (image, id) => greys(id + heed.dark(), () => {
        const canvas = heed.el("canvas", {width: image.naturalWidth, height: image.naturalHeight}),
              c = canvas.getContext("2d"), dark = heed.dark();
        c.drawImage(image, 0, 0);
        const all = c.getImageData(0, 0, canvas.width, canvas.height), d = all.data,
              near = new Float32Array(d.length / 4); /* how near each pixel is to the page, of 1 */
        for (let i = 0; i < near.length; i++) {
            const j = 4 * i, grey = (0.299 * d[j] + 0.587 * d[j + 1] + 0.114 * d[j + 2]) / 255;
            near[i] = dark ? 1 - grey : grey;
        }
        const mean = (g) => near.reduce((sum, x) => sum + x ** g, 0) / near.length, usual = mean(1);
        const gamma = usual < MIDDLE
            ? Math.max(LEAST_GAMMA, Math.log(MIDDLE) / Math.log(Math.max(usual, 1e-3)))
            : 1;
        near.forEach((x, i) => {
            const y = 255 * x ** gamma;
            d[4 * i] = d[4 * i + 1] = d[4 * i + 2] = dark ? 255 - y : y;
        });
        c.putImageData(all, 0, 0);
        return {canvas, contrast: Math.min(PALE, (1 - LIGHT) / Math.max(1 - mean(gamma), 1e-3))};
    });
    const overlay =
        (pen, m, at, box, top, g = heed.block().keys.grid, picture = heed.record().picture) => {
            const w = patches(m, at, heed.state.keep, g), image = photo(picture),
                  strength = heed.state.strength / 100, from = m.uniform || 0;
            if (image) {
                const {canvas, contrast} = toned(image, picture.id);
                pen.image(
                    canvas, box.x, box.y, box.w, box.h, {smooth: image.naturalWidth >= 64});
                pen.rect(
                    box.x, box.y, box.w, box.h,
                    {fill: heed.css(heed.theme.surface), alpha: 1 - contrast});
            } else
                pen.rect(box.x, box.y, box.w, box.h, {fill: heed.css(heed.theme.empty)});
            const smooth = heed.state.smooth && heed.state.keep >= 100,
                  n = smooth ? Math.min(8, Math.ceil(box.w / g.cols)) : 1; /* points of a cell */
            const layer = heed.bitmap(n * g.rows, n * g.cols, (r, c) => {
                const v = smooth ? between(w, g, (r + 0.5) / n - 0.5, (c + 0.5) / n - 0.5)
                                 : w[r * g.cols + c],
                      above = Math.max(0, Math.min(1, (Math.abs(v) - from) / (top - from)));
                if (v !== v) return [...heed.theme.surface, image ? 0 : 255];
                const color = m.min < 0 ? heed.signed(image ? (v < 0 ? -1 : 1) : v / top)
                                        : heed.color(v / top);
                const opacity = m.min < 0 ? above : Math.sqrt(above);
                return [...color, image ? Math.round(255 * strength * opacity) : 255];
            });
            pen.image(layer, box.x, box.y, box.w, box.h, {smooth});
        };
    heed.overPicture = overlay;
    /* The largest weight that is laid over a picture of what is asked for: of all words of a
     * caption, which have one scale. */
    const largest = (m, at, {queries, keys} = heed.block()) => {
        const rows = queries === keys ? [at] : queries.order,
              sizes = (q) => patches(m, q, 100, keys.grid).map((w) => Math.abs(w) || 0);
        return rows.reduce((top, q) => Math.max(top, ...sizes(q)), 0);
    };
    /* Where the scale of a map ends that has its own. */
    const ownEnd = (m, at, axes) => Math.max(largest(m, at, axes), m.least || 0);
    heed.largestOver = largest;
    heed.ownEnd = ownEnd;
    /* All heads share a scale, up to the largest weight or twice the uniform one; their mean, which
     * would look pale beside a sharp head, their largest and each map have their own. */
    const topOf = (m, at) => {
        if (heed.state.scale === "one" && m.min >= 0) return 1;
        if (!m.uniform) return ownEnd(m, at) || 1;
        const b = heed.block(), heads = m.own ? [] : b.heads.map((h) => heed.weights(b, h));
        return Math.max(
            Math.min(1, 2 * m.uniform), ...[m, ...heads].map((x) => largest(x, at)));
    };
    heed.topOver = topOf;
    const cell = (axis, i) => {
        if (axis !== heed.block().keys || !l.g || i < l.g.first ||
            i >= l.g.first + l.g.rows * l.g.cols)
            return null;
        const j = i - l.g.first;
        return {
            x: ((j % l.g.cols) * l.width) / l.g.cols,
            y: (Math.floor(j / l.g.cols) * l.height) / l.g.rows, w: l.width / l.g.cols,
            h: l.height / l.g.rows
        };
    };
    const paint = (pen) => {
        const s = heed.selected(), src = source();
        overlay(pen, src.m, s.query, {x: 0, y: 0, w: l.width, h: l.height}, topOf(src.m, s.query));
        const from = cell(heed.block().queries, s.query),
              to = s.key >= 0 ? cell(heed.block().keys, s.key) : null;
        if (from) {
            pen.rect(from.x, from.y, from.w, from.h, {stroke: "#fff", width: 5});
            pen.rect(from.x, from.y, from.w, from.h, {stroke: "#b4004e", width: 3});
        }
        if (to) pen.rect(to.x, to.y, to.w, to.h, {stroke: "#000", width: 3, dash: [4, 3]});
        pen.rect(0.5, 0.5, l.width - 1, l.height - 1, {stroke: heed.theme.line});
    };
    const under = (x, y) => {
        const c = Math.floor((x / l.width) * l.g.cols), r = Math.floor((y / l.height) * l.g.rows);
        return r < 0 || c < 0 || r >= l.g.rows || c >= l.g.cols ? -1 : l.g.first + r * l.g.cols + c;
    };

    /* ---- the small ones ---- */

    const panels = () => {
        const b = heed.block(), heads = b.heads.length > 1 ? [...b.heads, "mean", "max"] : b.heads,
              {over, head} = heed.state;
        return [
            ...heads.map((h) => ({
                             name: heed.headName(h), m: heed.weights(b, h),
                             on: over === "" && head === h, act: {head: h, over: ""}
                         })),
            ...maps().map(
                (m) => ({name: m.name, m: shareOf(m), on: over === m.name, act: {over: m.name}})),
        ];
    };
    const drawStrip = () => {
        const side = 92, high = Math.round((side * l.height) / l.width);
        heed.refill(strip, ...panels().map(({name, m, on, act}) => {
            const small = heed.el("canvas", {"aria-hidden": "true"});
            heed.paint(
                small, side, high,
                (pen) =>
                    overlay(pen, m, query(), {x: 0, y: 0, w: side, h: high}, topOf(m, query())));
            const button = {
                type: "button", class: "thumb", "aria-pressed": String(on),
                onclick: () => heed.update(act)
            };
            return heed.el("button", button, small, heed.el("span", {text: name}));
        }));
    };
    /* Queries that are no patches: [CLS], words of a caption. */
    const drawChips = () => {
        const a = heed.block().queries, g = a.grid,
              patch = (i) => g && i >= g.first && i < g.first + g.rows * g.cols;
        const free = a.order.filter((i) => !patch(i)).slice(0, 400);
        chips.hidden = !free.length;
        heed.refill(chips, ...free.map((i) => heed.el("button", {
            type: "button", class: "chip", "aria-pressed": String(query() === i), dir: "auto",
            title: heed.predicts(heed.block(), i) || heed.show(a.labels[i]).slice(0, 2000),
            text: heed.token(a, i, 20), onclick: () => heed.lock(i),
            onpointerenter: () => heed.preview({query: i}),
            onpointerleave: () => heed.preview(null),
        })));
    };

    heed.view({
        id: "picture",
        title: "Picture",
        help: "where a patch, [CLS] or a caption's word looks, over the picture",
        uses: ["layer", "head", "scale", "side"],
        state: {over: "", keep: 100, strength: 75, smooth: true},
        available: (data) => data.records.some((r) => r.blocks.some((b) => b.keys.grid)),
        open(box) {
            this.canvas = heed.canvas("attention over the picture", {
                move(x, y, e) {
                    const i = under(x, y), b = heed.block();
                    if (i < 0) return heed.preview(null);
                    if (b.queries === b.keys) heed.preview({query: i});
                    heed.tip(
                        [`${heed.token(b.keys, i)}: ${heed.weight(source().m.at(query(), i))}`], e);
                },
                click(x, y) {
                    const i = under(x, y), b = heed.block();
                    if (i >= 0)
                        heed.lock(
                            b.queries === b.keys ? i : query(), b.queries === b.keys ? -1 : i);
                },
                leave: () => heed.preview(null),
            });
            const tools = [
                heed.bind(
                    "keep", "Keep the top",
                    {range: [5, 100, 5], say: (v) => (v >= 100 ? "all" : `${v} % of the mass`)}),
                heed.bind("strength", "Strength", {range: [0, 90, 5], say: (v) => v + " %"}),
                heed.bind("smooth", "Smooth", {check: true}),
            ];
            chips = heed.el(
                "div",
                {class: "chips", role: "group", "aria-label": "queries that are no patches"});
            strip =
                heed.el("div", {class: "thumbs", role: "group", "aria-label": "heads and maps"});
            const beside = heed.el("div", {class: "beside"}, this.canvas, strip);
            scroll = heed.el(
                "div", {}, heed.el("div", {class: "tools"}, ...tools.map((t) => t.box)), chips,
                beside);
            box.append(scroll, heed.el("p", {
                class: "lead", id: "no-picture",
                text: "The keys of this layer are no patches: choose another attention above."
            }));
        },
        draw() {
            scroll.hidden = !able();
            heed.id("no-picture").hidden = able();
            if (!able()) return;
            heed.drawCanvas(this);
            drawChips();
            drawStrip();
        },
        keys(e) {
            const by = heed.arrows[e.key], b = heed.block();
            if (!by || !able() || !b.queries.grid ||
                (e.target.closest && e.target.closest("#tabs")))
                return false;
            const g = b.queries.grid, j = query() - g.first, last = g.rows * g.cols;
            if (j < 0 || j >= last) {
                heed.lock(g.first);
                return true;
            }
            const r = Math.max(0, Math.min(g.rows - 1, Math.floor(j / g.cols) + by[0])),
                  c = Math.max(0, Math.min(g.cols - 1, (j % g.cols) + by[1]));
            if (by[0] < 0 && Math.floor(j / g.cols) === 0 && g.first)
                heed.lock(g.first - 1);
            else
                heed.lock(g.first + r * g.cols + c);
            return true;
        },
        caption() {
            if (!able()) return "no patches here";
            const b = heed.block(),
                  kept = heed.state.keep < 100 ? `, the top ${heed.state.keep} % of the mass` : "";
            return `layer ${b.layer + 1}, ${source().name}${kept}: where ` +
                `${heed.quote(b.queries, query())} (${heed.nth(query())}) looks`;
        },
        layout: () => (able() ? layout() : {width: 10, height: 10}),
        paint: (pen) => {
            if (able()) paint(pen);
        },
        legend() {
            if (!able()) return null;
            layout();
            const m = source().m, top = topOf(m, query());
            if (m.min < 0) return heed.signedLegend(top, m.below);
            const above = m.uniform ? even(m) + "; colour where it is above uniform" : "",
                  who = heed.quote(heed.block().queries, query());
            return heed.legend(
                `share of the attention of ${who} (1 = 100 %)${above}`, 0, top, heed.color,
                {uniform: m.uniform});
        },
        table() {
            if (!able()) return {caption: "no patches here", head: [], rows: []};
            const {queries, keys} = heed.block(), w = patches(source().m, query()), g = keys.grid;
            const row = (r) => Array.from(
                w.subarray(r * g.cols, (r + 1) * g.cols),
                (x) => (x === x ? heed.weight(x) : "below"));
            const cell = (x, i) =>
                [heed.nth(query()), queries.labels[query()], Math.floor(i / g.cols) + 1,
                 (i % g.cols) + 1, x];
            return {
                caption: this.caption(),
                head: ["row", ...Array.from({length: g.cols}, (_, c) => `column ${c + 1}`)],
                rows: Array.from({length: g.rows}, (_, r) => [r + 1, ...row(r)]),
                label: (r, c) => `patch row ${r + 1} column ${c}: ${row(r)[c - 1]}`,
                all: () => [
                    ["query_position", "query_token", "patch_row", "patch_column", "weight"],
                    ...Array.from(w, cell)],
            };
        },
    });
})();

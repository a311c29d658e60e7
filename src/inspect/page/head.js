/* head.js -- the Head view: queries left, keys right, a line per weight; the top k keys of each query, or as many as make up a
 * share of its attention. Several heads may be laid over one another: each has a colour, a pattern and its number. */
"use strict";
(() => {
    let canvas, scroll, tools, chips, l;

    /* The heads that are drawn: the chosen one, and those that were ticked beside it. */
    const chosen = () => {
        const b = heed.block(), more = heed.state.heads.split(",").filter(Boolean).map((x) => Number(x) - 1);
        const list = b.heads.filter((h) => more.includes(h) || h === heed.state.head);
        return heed.state.head === "mean" || heed.state.head === "max" ? [heed.state.head, ...list] : list;
    };
    const hueOf = (h) => (typeof h === "number" ? h : 7);
    /* The keys of a query that get a line. */
    const strongest = (m, q, cols, n) => {
        const out = [];
        for (const k of cols) {
            const w = m.at(q, k);
            if (!(w > 0.0005) || (out.length === n && w <= m.at(q, out[n - 1]))) continue;
            let i = out.length === n ? n - 1 : out.length;
            for (; i > 0 && m.at(q, out[i - 1]) < w; i--) out[i] = out[i - 1];
            out[i] = k;
        }
        return out;
    };
    const lines = (m, q, cols) => {
        if (heed.state.rule === "top") return strongest(m, q, cols, heed.state.top);
        const order = cols.filter((k) => m.at(q, k) > 0.0005).sort((x, y) => m.at(q, y) - m.at(q, x));
        let left = heed.state.mass / 100, n = 0;
        while (n < order.length && left > 0) left -= m.at(q, order[n++]);
        return order.slice(0, n);
    };
    /* Those of all queries: the pointer moves more often than they change. */
    const memo = new Map();
    const allLines = (b, h, rows, cols) => {
        const s = heed.state, id = [b.id, h, s.rule, s.top, s.mass, s.hide].join("|");
        if (memo.size > 32 && !memo.has(id)) memo.clear();
        if (!memo.has(id)) { const m = heed.weights(b, h); memo.set(id, new Map(rows.map((q) => [q, lines(m, q, cols)]))); }
        return memo.get(id);
    };
    const layout = () => {
        const b = heed.block(), rows = heed.visible(b.queries), cols = heed.visible(b.keys), n = Math.max(rows.length, cols.length);
        const width = Math.max(280, Math.min(900, scroll.clientWidth - 4)), step = n <= 40 ? 26 : n <= 120 ? 20 : Math.max(9, Math.min(16, 12000 / n));
        const label = Math.min(220, width * 0.34);
        l = {b, rows, cols, step, width, left: label, right: width - label, top: 26, height: 26 + n * step + 8};
        return l;
    };
    const y = (i) => l.top + (i + 0.5) * l.step;
    const at = (x, yy) => {
        const i = Math.floor((yy - l.top) / l.step);
        if (i < 0) return null;
        if (x < (l.left + l.right) / 2) return i < l.rows.length ? {query: l.rows[i], key: -1} : null;
        return i < l.cols.length ? {query: heed.selected().query, key: l.cols[i]} : null;
    };

    const paintHead = (pen, h, n, of) => {
        const m = heed.weights(l.b, h), s = heed.selected(), color = heed.css(heed.hue(hueOf(h))), dash = heed.dash(hueOf(h));
        const top = heed.scaleOf(m), place = new Map(l.cols.map((k, j) => [k, j])), list = allLines(l.b, h, l.rows, l.cols), shift = (n - (of - 1) / 2) * 3;
        l.rows.forEach((q, i) => {
            const mine = q === s.query;
            for (const k of list.get(q)) {
                const w = m.at(q, k) / top, strong = mine && (s.key < 0 || s.key === k);
                const alpha = strong ? 0.35 + 0.65 * w : mine ? 0.3 : s.locked ? 0.06 : 0.1 + 0.4 * w;
                pen.curve(l.left, y(i) + shift, l.right, y(place.get(k)) + shift, {color, dash: mine ? dash : [], width: mine ? 1 + 5 * w : 0.5 + 2 * w, alpha});
            }
        });
    };
    /* How much the chosen row gives to each key, beside the keys. */
    const paintShares = (pen) => {
        const s = heed.selected(), heads = chosen();
        heads.forEach((h, n) => {
            const m = heed.weights(l.b, h), top = heed.scaleOf(m);
            l.cols.forEach((k, j) => {
                const w = m.at(s.query, k) / top, high = (l.step - 4) / heads.length;
                if (w > 0.002) pen.rect(l.right, l.top + j * l.step + 2 + n * high, 6 + w * (l.width - l.right - 8), high, {fill: heed.css(heed.hue(hueOf(h))), alpha: 0.16 + 0.16 * w});
            });
        });
    };
    const paintTokens = (pen) => {
        const s = heed.selected(), size = Math.min(14, l.step * 0.8), every = l.step < 11 ? 2 : 1;
        pen.text("query", l.left - 8, 10, {size: 11, align: "right", color: heed.theme.muted});
        pen.text("key", l.right + 8, 10, {size: 11, color: heed.theme.muted});
        l.rows.forEach((q, i) => {
            const mine = q === s.query;
            if (mine) pen.rect(0, l.top + i * l.step, l.left, l.step, {fill: heed.theme.accent, alpha: 0.13});
            if (i % every && !mine) return;
            pen.text(heed.token(l.b.queries, q, 60), l.left - 8, y(i), {size, align: "right", weight: mine ? 700 : 400, width: l.left - 40});
            pen.text(String(heed.nth(q)), 4, y(i), {size: 10, color: heed.theme.muted});
        });
        const best = heed.weights(l.b, heed.state.head);
        l.cols.forEach((k, j) => {
            const mine = k === s.key;
            if (mine) pen.rect(l.right, l.top + j * l.step, l.width - l.right, l.step, {stroke: heed.theme.accent, width: 2});
            if (j % every && !mine) return;
            pen.text(heed.token(l.b.keys, k, 60), l.right + 10, y(j), {size, weight: mine ? 700 : 400, width: l.width - l.right - 60});
            const w = best.at(s.query, k);
            if (w >= 0.01 && l.step >= 14) pen.text(heed.weight(w), l.width - 4, y(j), {size: 11, align: "right", color: heed.theme.muted});
        });
    };
    const paint = (pen) => {
        const heads = chosen();
        paintShares(pen);
        heads.forEach((h, n) => paintHead(pen, h, n, heads.length));
        paintTokens(pen);
    };

    /* A chip per head, with its pattern. */
    const chip = (h) => {
        const on = chosen().includes(h), color = heed.css(heed.hue(h));
        const sample = heed.el("canvas", {width: 48, height: 8, "aria-hidden": "true", class: "sample"});
        const pen = heed.canvasPen(sample.getContext("2d"));
        pen.line([[0, 4], [48, 4]], {color, width: 4, dash: heed.dash(h).map((x) => 2 * x)});
        return heed.el("button", {
            type: "button", class: "chip", "aria-pressed": String(on), title: on ? `head ${h + 1} is drawn` : `draw head ${h + 1}, too`, "aria-label": `head ${h + 1}`,
            onclick: (e) => toggle(h, e),
        }, heed.el("span", {text: String(h + 1)}), sample);
    };
    const toggle = (h) => {
        const more = new Set(heed.state.heads.split(",").filter(Boolean).map((x) => Number(x) - 1)), head = heed.state.head;
        if (h === head) {
            more.delete(h);
            const next = [...more].filter((x) => heed.block().heads.includes(x));
            if (next.length) { more.delete(next[0]); heed.update({head: next[0], heads: [...more].map((x) => x + 1).join(",")}); }
            return;
        }
        if (more.has(h)) more.delete(h);
        else more.add(h);
        heed.update({heads: [...more].sort((x, z) => x - z).map((x) => x + 1).join(",")});
    };
    const drawChips = () => {
        const focused = [...chips.children].indexOf(document.activeElement), b = heed.block();
        chips.replaceChildren(...(b.heads.length > 1 ? [heed.el("span", {class: "muted", text: "Together with"}), ...b.heads.map(chip)] : []));
        if (focused >= 0 && chips.children[focused]) chips.children[focused].focus();
    };

    heed.view({
        id: "head",
        title: "Head",
        help: "lines from each query to the keys that it takes most from",
        uses: ["layer", "head", "special", "side"],
        state: {rule: "top", top: 3, mass: 80, heads: ""},
        allowed: {rule: ["top", "mass"]},
        available: (data) => data.records.some((r) => r.blocks.length),
        open(room) {
            canvas = heed.canvas("lines from queries to keys", {
                move(x, yy, e) {
                    const p = at(x, yy);
                    heed.preview(p);
                    heed.tip(p && heed.cellTip(l.b, heed.matrix(), p.query, p.key), e);
                },
                click(x, yy) { const p = at(x, yy); if (p) heed.lock(p.query, p.key); },
                leave: () => heed.preview(null),
            });
            tools = [
                heed.bind("rule", "Lines", {choices: [["top", "the top keys of each query"], ["mass", "up to a share of its attention"]]}),
                heed.bind("top", "How many", {range: [1, 12, 1]}),
                heed.bind("mass", "Share", {range: [5, 100, 5], say: (v) => v + " %"}),
            ];
            chips = heed.el("div", {class: "chips", role: "group", "aria-label": "heads drawn together"});
            scroll = heed.el("div", {class: "scroll"}, canvas);
            room.append(heed.el("div", {class: "tools"}, ...tools.map((t) => t.box)), chips, scroll);
        },
        draw() {
            tools.forEach((t) => t.sync());
            tools[1].box.hidden = heed.state.rule !== "top";
            tools[2].box.hidden = heed.state.rule === "top";
            drawChips();
            layout();
            canvas.setAttribute("aria-label", heed.selectionText());
            heed.paint(canvas, l.width, l.height, paint);
        },
        picture() { layout(); return {width: l.width, height: l.height, paint}; },
        legend: () => heed.legend("line width and strength: weight, up to the head's largest", 0, heed.scaleOf(heed.matrix()),
            (t) => { const c = heed.hue(hueOf(heed.state.head)); return c.map((x, i) => Math.round(heed.theme.surface[i] + (x - heed.theme.surface[i]) * t)); }),
        table: () => heed.matrixTable(heed.weightMatrix(heed.block(), heed.state.head), heed.selected(), "Attention weights, queries in rows"),
    });
})();

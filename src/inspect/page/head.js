/* head.js -- the Head view: queries left, keys right, a line per weight; the top k keys of each query, or as many as make up a
 * share of its attention. Several heads may be laid over one another: each has a colour, a pattern and its number. Of many
 * tokens the strongest lines alone are drawn, and the view says how many. */
"use strict";
(() => {
    const MOST = 1000, LONG = 5e5, OWN = 100; /* of all queries together: lines, and their pixels; lines of one: more say nothing to the eye */
    let canvas, scroll, tools, chips, left, l, still = {id: "", picture: null};

    /* The heads that are drawn: the chosen one, and those that were ticked beside it. */
    const chosen = () => {
        const b = heed.block(), more = heed.state.heads.split(",").filter(Boolean).map((x) => Number(x) - 1);
        const list = b.heads.filter((h) => more.includes(h) || h === heed.state.head);
        return heed.state.head === "mean" || heed.state.head === "max" ? [heed.state.head, ...list] : list;
    };
    const hueOf = (h) => (typeof h === "number" ? h : 7);
    /* The keys of a query that get a line, of equal weights the first; count: how many they are, kept or not. */
    const topKeys = (m, q, cols, n) => {
        const keys = [];
        for (const k of cols) {
            const w = m.at(q, k);
            if (!(w > 0.0005) || (keys.length === n && w <= m.at(q, keys[n - 1]))) continue;
            let i = keys.length === n ? n - 1 : keys.length;
            for (; i > 0 && m.at(q, keys[i - 1]) < w; i--) keys[i] = keys[i - 1];
            keys[i] = k;
        }
        return {keys, count: keys.length};
    };
    /* Weights sort fast as mere numbers: those above the last that counts are taken, and of those equal to it as many as are due. */
    const massKeys = (m, q, cols, share) => {
        const sorted = new Float32Array(cols.length), last = cols.length - 1;
        cols.forEach((k, j) => { sorted[j] = m.at(q, k); });
        sorted.sort();
        let count = 0, mass = 0;
        while (count <= last && sorted[last - count] > 0.0005 && mass < share) mass += sorted[last - count++];
        const n = Math.min(count, OWN), least = sorted[last + 1 - n], keys = n ? cols.filter((k) => m.at(q, k) > least) : [];
        for (let j = 0; keys.length < n; j++) if (m.at(q, cols[j]) === least) keys.push(cols[j]);
        return {keys, count};
    };
    const lines = (m, q, cols) => (heed.state.rule === "top" ? topKeys(m, q, cols, heed.state.top) : massKeys(m, q, cols, heed.state.mass / 100));
    /* Those of all queries: the pointer moves more often than they change. */
    const memo = new Map();
    const kept = (id, make) => {
        if (memo.size > 64 && !memo.has(id)) memo.clear();
        if (!memo.has(id)) memo.set(id, make());
        return memo.get(id);
    };
    const linesId = (h) => { const s = heed.state; return [l.b.id, h, s.rule, s.top, s.mass, s.hide].join("|"); };
    const allLines = (h) => kept(linesId(h), () => { const m = heed.weights(l.b, h); return new Map(l.rows.map((q) => [q, lines(m, q, l.cols)])); });
    /* Those that are drawn of one of several heads: the strongest. */
    const drawn = (h, of) => kept([linesId(h), of, l.step].join("|"), () => {
        const m = heed.weights(l.b, h), list = [...allLines(h)], weights = Float32Array.from(list.flatMap(([q, {keys}]) => keys.map((k) => m.at(q, k)))).sort();
        const most = Math.floor(MOST / of), least = weights.length > most ? weights[weights.length - most] : 0, out = [];
        for (const [q, {keys}] of list) for (const k of keys) if (m.at(q, k) >= least) out.push({q, k, w: m.at(q, k)});
        out.sort((x, z) => z.w - x.w);
        let n = 0, room = Math.min(most, out.length), pixels = LONG / of;
        while (n < room && pixels > 0) pixels -= l.step * Math.abs(l.row.get(out[n].q) - l.col.get(out[n++].k));
        return out.slice(0, n);
    });
    const sum = (list) => list.reduce((n, x) => n + x, 0);
    /* What is not drawn, in words; "" where everything is. */
    const leftOut = () => {
        if (!l) layout();
        const heads = chosen(), own = heads.map((h) => allLines(h).get(heed.selected().query) || {keys: [], count: 0});
        const share = (n, of) => `${n.toLocaleString("en")} of ${of.toLocaleString("en")}`;
        const all = sum(heads.flatMap((h) => [...allLines(h).values()].map((x) => x.count))), some = sum(heads.map((h) => drawn(h, heads.length).length));
        const mine = sum(own.map((x) => x.count)), shown = sum(own.map((x) => x.keys.length));
        if (some === all && shown === mine) return "";
        return `The strongest ${share(some, all)} lines are drawn; of the chosen query ${shown === mine ? "all" : share(shown, mine)}.`;
    };
    const layout = () => {
        const b = heed.block(), rows = heed.visible(b.queries), cols = heed.visible(b.keys), n = Math.max(rows.length, cols.length);
        const width = Math.max(280, Math.min(900, scroll.clientWidth - 4)), step = n <= 40 ? 26 : n <= 120 ? 20 : Math.max(9, Math.min(16, 12000 / n));
        const label = Math.min(220, width * 0.34);
        const placed = (list) => new Map(list.map((x, i) => [x, i]));
        l = {b, rows, cols, row: placed(rows), col: placed(cols), step, width, left: label, right: width - label, top: 26, height: 26 + n * step + 8};
        return l;
    };
    const y = (i) => l.top + (i + 0.5) * l.step;
    const at = (x, yy) => {
        const i = Math.floor((yy - l.top) / l.step);
        if (i < 0) return null;
        if (x < (l.left + l.right) / 2) return i < l.rows.length ? {query: l.rows[i], key: -1} : null;
        return i < l.cols.length ? {query: heed.selected().query, key: l.cols[i]} : null;
    };

    const curve = (pen, q, k, shift, style) => pen.curve(l.left, y(l.row.get(q)) + shift, l.right, y(l.col.get(k)) + shift, style);
    const shiftOf = (n, of) => (n - (of - 1) / 2) * 3;
    /* The lines of all queries, as they are behind those of the chosen one. */
    const paintAll = (pen, h, n, of) => {
        const locked = heed.selected().locked, top = heed.scaleOf(heed.weights(l.b, h)), color = heed.css(heed.hue(hueOf(h)));
        for (const {q, k, w} of drawn(h, of)) curve(pen, q, k, shiftOf(n, of), {color, width: 0.5 + (2 * w) / top, alpha: locked ? 0.06 : 0.1 + (0.4 * w) / top});
    };
    const paintOwn = (pen, h, n, of) => {
        const m = heed.weights(l.b, h), s = heed.selected(), own = allLines(h).get(s.query);
        const top = heed.scaleOf(m), color = heed.css(heed.hue(hueOf(h))), dash = heed.dash(hueOf(h));
        for (const k of own ? own.keys : []) {
            const w = m.at(s.query, k) / top;
            curve(pen, s.query, k, shiftOf(n, of), {color, dash, width: 1 + 5 * w, alpha: s.key < 0 || s.key === k ? 0.35 + 0.65 * w : 0.3});
        }
    };
    /* How much the chosen row gives to a key, beside it. */
    const paintShare = (pen, k, j, heads) => {
        heads.forEach((h, n) => {
            const m = heed.weights(l.b, h), w = m.at(heed.selected().query, k) / heed.scaleOf(m), high = (l.step - 4) / heads.length;
            if (w > 0.002) pen.rect(l.right, l.top + j * l.step + 2 + n * high, 6 + w * (l.width - l.right - 8), high, {fill: heed.css(heed.hue(hueOf(h))), alpha: 0.16 + 0.16 * w});
        });
    };
    const sizeOf = () => Math.min(14, l.step * 0.8);
    const paintQuery = (pen, q, i, mine) => {
        pen.text(heed.token(l.b.queries, q, 60), l.left - 8, y(i), {size: sizeOf(), align: "right", weight: mine ? 700 : 400, width: l.left - 40});
        pen.text(String(heed.nth(q)), 4, y(i), {size: 10, color: heed.theme.muted});
    };
    const paintKey = (pen, k, j, mine) => pen.text(heed.token(l.b.keys, k, 60), l.right + 10, y(j), {size: sizeOf(), weight: mine ? 700 : 400, width: l.width - l.right - 60});
    /* All that does not depend on what is chosen. */
    const paintStill = (pen) => {
        const heads = chosen(), every = l.step < 11 ? 2 : 1;
        heads.forEach((h, n) => paintAll(pen, h, n, heads.length));
        pen.text("query", l.left - 8, 10, {size: 11, align: "right", color: heed.theme.muted});
        pen.text("key", l.right + 8, 10, {size: 11, color: heed.theme.muted});
        l.rows.forEach((q, i) => { if (i % every === 0) paintQuery(pen, q, i, false); });
        l.cols.forEach((k, j) => { if (j % every === 0) paintKey(pen, k, j, false); });
    };
    /* A strip where a label stood makes room for its bold form. */
    const clear = (pen, x, i, width) => pen.rect(x, l.top + i * l.step, width, l.step, {fill: heed.css(heed.theme.surface)});
    const paintChosen = (pen) => {
        const s = heed.selected(), heads = chosen(), i = l.row.get(s.query), j = l.col.get(s.key), best = heed.weights(l.b, heed.state.head);
        heads.forEach((h, n) => paintOwn(pen, h, n, heads.length));
        if (i !== undefined) {
            clear(pen, 0, i, l.left);
            pen.rect(0, l.top + i * l.step, l.left, l.step, {fill: heed.theme.accent, alpha: 0.13});
            paintQuery(pen, s.query, i, true);
        }
        if (j !== undefined) {
            clear(pen, l.right, j, l.width - l.right);
            paintShare(pen, s.key, j, heads);
            pen.rect(l.right, l.top + j * l.step, l.width - l.right, l.step, {stroke: heed.theme.accent, width: 2});
            paintKey(pen, s.key, j, true);
        }
        l.cols.forEach((k, c) => {
            const w = best.at(s.query, k);
            if (w >= 0.01 && l.step >= 14) pen.text(heed.weight(w), l.width - 4, y(c), {size: 11, align: "right", color: heed.theme.muted});
        });
    };
    const paintShares = (pen) => { const heads = chosen(); l.cols.forEach((k, j) => paintShare(pen, k, j, heads)); };
    const paint = (pen) => {
        paintShares(pen);
        paintStill(pen);
        paintChosen(pen);
    };
    /* The same, of a still picture that is made when more changes than what is chosen. */
    const paintFast = (pen) => {
        const id = [...chosen().map(linesId), l.width, l.height, heed.selected().locked, heed.dark(), heed.state.scale, devicePixelRatio].join();
        if (still.id !== id) {
            still = {id, picture: heed.el("canvas")};
            heed.paint(still.picture, l.width, l.height, paintStill);
        }
        paintShares(pen);
        pen.image(still.picture, 0, 0, l.width, l.height, {});
        paintChosen(pen);
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
            left = heed.el("p", {class: "muted small", role: "status"});
            scroll = heed.el("div", {class: "scroll"}, canvas);
            room.append(heed.el("div", {class: "tools"}, ...tools.map((t) => t.box)), chips, left, scroll);
        },
        draw() {
            tools.forEach((t) => t.sync());
            tools[1].box.hidden = heed.state.rule !== "top";
            tools[2].box.hidden = heed.state.rule === "top";
            drawChips();
            layout();
            left.textContent = leftOut();
            canvas.setAttribute("aria-label", this.caption());
            heed.paint(canvas, l.width, l.height, paintFast);
        },
        caption: () => [heed.selectionText(), leftOut()].filter(Boolean).join(". "),
        picture() { layout(); return {width: l.width, height: l.height, paint}; },
        legend: () => heed.legend("line width and strength: weight, up to the head's largest", 0, heed.scaleOf(heed.matrix()),
            (t) => { const c = heed.hue(hueOf(heed.state.head)); return c.map((x, i) => Math.round(heed.theme.surface[i] + (x - heed.theme.surface[i]) * t)); }),
        table: () => heed.matrixTable(heed.weightMatrix(heed.block(), heed.state.head), heed.selected(), "Attention weights, queries in rows"),
    });
})();

/* head.js -- the Head view: queries left, keys right, a line per weight; the top k keys of each
 * query, or as many as make up a share of its attention. Several heads may be laid over one
 * another: each has a colour, its number and a pattern, which grows with the width of a line; the
 * lines of one head are solid. Of many tokens the strongest lines alone are drawn, and the view
 * says how many. */
"use strict";
(() => {
    /* Lines of all queries together, and of one: more say nothing to the eye. */
    const MOST = 1000, OWN = 100;
    const LEAST = 0.0005;         /* smaller weights have no line */
    let canvas, tall, scroll, tools, chips, left, l, followed = -1;

    const ticked = () => heed.state.heads.split(",").filter(Boolean).map((x) => Number(x) - 1);
    const printHeads = (heads) => [...heads].sort((x, z) => x - z).map((x) => x + 1).join(",");
    /* The heads that are drawn: the chosen one, and those that were ticked beside it. */
    const chosen = () => {
        const b = heed.block(), more = ticked();
        const list = b.heads.filter((h) => more.includes(h) || h === heed.state.head);
        const all = heed.state.head === "mean" || heed.state.head === "max";
        return all ? [heed.state.head, ...list] : list;
    };
    const hueOf = (h) => (typeof h === "number" ? h : 7);
    /* What does not change with the pointer; lines, of the last sight. */
    const kept = heed.memory(64), still = heed.memory(0);

    /* ---- which lines ---- */

    /* The weights of every row, the largest first: sorted once, whatever share is asked for. Bits
     * of positive floats are in order, too, and whole numbers sort twice as fast. */
    const sortedRows = (h) =>
        kept(["sorted", l.b.id, h, l.rows.length, l.cols.length].join("|"), () => {
            const {data, cols: wide} = heed.weights(l.b, h), {cols} = l;
            return l.rows.map((q) => {
                const row = new Float32Array(cols.length), from = q * wide;
                let n = 0;
                for (let j = 0; j < cols.length; j++) {
                    const w = data[from + cols[j]];
                    if (w > LEAST) row[n++] = w;
                }
                new Uint32Array(row.buffer, 0, n).sort();
                return row.subarray(0, n).reverse();
            });
        });
    /* How many keys of a row count: the top k, or as many as make up a share. */
    const countOf = (row) => {
        const {rule, top, mass} = heed.state;
        let count = 0, sum = 0;
        while (count < row.length && (rule === "top" ? count < top : sum < mass / 100))
            sum += row[count++];
        return count;
    };
    const linesId = (h) => {
        const s = heed.state;
        return [l.b.id, h, s.rule, s.top, s.mass, l.rows.length, l.cols.length].join("|");
    };
    const counts = (h) => kept(linesId(h), () => sortedRows(h).map(countOf));
    const own = (count) => Math.min(count, OWN);
    /* The n strongest keys of a query, of equal weights the first. */
    const keysOf = (h, i, n) => {
        const m = heed.weights(l.b, h), row = sortedRows(h)[i], from = l.rows[i] * m.cols,
              least = row[n - 1], keys = [];
        let equal = n - row.indexOf(least);
        if (n)
            for (const k of l.cols) {
                const w = m.data[from + k];
                if (w > least || (w === least && equal-- > 0)) keys.push(k);
            }
        return keys;
    };
    /* Of one of several heads the lines that are drawn: the strongest of all queries. */
    const drawn = (h, of) => kept([linesId(h), of].join("|"), () => {
        const some = counts(h).map(own),
              rows = sortedRows(h).map((row, i) => row.subarray(0, some[i])),
              most = Math.floor(MOST / of), m = heed.weights(l.b, h);
        const all = Float32Array.from(rows.flatMap((row) => [...row])).sort(),
              least = all.length > most ? all[all.length - most] : 0;
        /* How many that are equal to the least are drawn, too. */
        let equal = most - all.filter((w) => w > least).length;
        return rows.flatMap((row, i) => {
            let n = 0;
            while (n < row.length && (row[n] > least || (row[n] === least && equal-- > 0))) n++;
            return keysOf(h, i, n).map((k) => ({q: l.rows[i], k, w: m.at(l.rows[i], k)}));
        });
    });
    const sum = (list) => list.reduce((n, x) => n + x, 0);
    /* What is not drawn, in words; "" where everything is. */
    const leftOut = () => {
        if (!l) layout();
        const heads = chosen(), i = l.row.get(heed.selected().query),
              mine = i === undefined ? [] : heads.map((h) => counts(h)[i]);
        const share = (n, of) => `${heed.count(n)} of ${heed.count(of)}`;
        const all = sum(heads.map((h) => sum(counts(h)))),
              some = sum(heads.map((h) => drawn(h, heads.length).length)),
              shown = sum(mine.map(own));
        if (some === all && shown === sum(mine)) return "";
        return `The strongest ${share(some, all)} lines are drawn; of the chosen query ` +
            `${shown === sum(mine) ? "all" : share(shown, sum(mine))}.`;
    };

    /* ---- where ---- */

    const layout = () => {
        const b = heed.block(), rows = heed.visible(b.queries), cols = heed.visible(b.keys),
              n = Math.max(rows.length, cols.length);
        const width = Math.min(900, heed.widthIn(scroll, 280)),
              step = n <= 40 ? 26 : n <= 120 ? 20 : Math.max(9, Math.min(16, 12000 / n));
        const label = Math.min(220, width * 0.34);
        const placed = (list) => new Map(list.map((x, i) => [x, i]));
        l = {
            b, rows, cols, row: placed(rows), col: placed(cols), step, width,
            left: label, right: width - label, top: 26, height: 26 + n * step + 8
        };
        return l;
    };
    const y = (i) => l.top + (i + 0.5) * l.step;
    const at = (x, yy) => {
        const i = Math.floor((yy - l.top) / l.step);
        if (i < 0) return null;
        if (x < (l.left + l.right) / 2)
            return i < l.rows.length ? {query: l.rows[i], key: -1} : null;
        return i < l.cols.length ? {query: heed.selected().query, key: l.cols[i]} : null;
    };

    /* ---- drawing: what lies between two heights, which is all in a saved picture, on the page
     * what is in sight ---- */

    const curve = (pen, view, q, k, shift, style) => {
        const from = y(l.row.get(q)) + shift, to = y(l.col.get(k)) + shift;
        if (Math.max(from, to) > view.lo - 10 && Math.min(from, to) < view.hi + 10)
            pen.curve(l.left, from, l.right, to, style);
    };
    const shiftOf = (n, of) => (n - (of - 1) / 2) * 3;
    /* The lines of all queries, as they are behind those of the chosen one. */
    const paintAll = (pen, view, h, n, of) => {
        const locked = heed.selected().locked, top = heed.scaleOf(heed.weights(l.b, h)),
              color = heed.css(heed.hue(hueOf(h)));
        for (const {q, k, w} of drawn(h, of)) {
            const alpha = locked ? 0.06 : 0.1 + (0.4 * w) / top;
            curve(pen, view, q, k, shiftOf(n, of), {color, width: 0.5 + (2 * w) / top, alpha});
        }
    };
    const paintOwn = (pen, view, h, n, of) => {
        const m = heed.weights(l.b, h), s = heed.selected(), i = l.row.get(s.query),
              top = heed.scaleOf(m);
        const color = heed.css(heed.hue(hueOf(h))), pattern = of > 1 ? heed.dash(hueOf(h)) : [];
        for (const k of i === undefined ? [] : keysOf(h, i, own(counts(h)[i]))) {
            const w = m.at(s.query, k) / top, width = 1 + 5 * w,
                  dash = pattern.map((x) => x * Math.max(1, width / 2));
            curve(pen, view, s.query, k, shiftOf(n, of), {
                color, dash, width, alpha: s.key < 0 || s.key === k ? 0.35 + 0.65 * w : 0.3
            });
        }
    };
    /* How much the chosen row gives to a key, beside it. */
    const paintShare = (pen, k, j, heads) => {
        heads.forEach((h, n) => {
            const m = heed.weights(l.b, h), w = m.at(heed.selected().query, k) / heed.scaleOf(m),
                  high = (l.step - 4) / heads.length;
            const top = l.top + j * l.step + 2 + n * high, wide = 6 + w * (l.width - l.right - 8);
            if (w > 0.002)
                pen.rect(
                    l.right, top, wide, high,
                    {fill: heed.css(heed.hue(hueOf(h))), alpha: 0.16 + 0.16 * w});
        });
    };
    const sizeOf = () => Math.min(14, l.step * 0.8);
    const paintQuery = (pen, q, i, mine) => {
        pen.text(
            heed.token(l.b.queries, q, 60), l.left - 8, y(i),
            {size: sizeOf(), align: "right", weight: mine ? 700 : 400, width: l.left - 40});
        pen.text(String(heed.nth(q)), 4, y(i), {size: 10, color: heed.theme.muted});
    };
    /* The weight of a key in the chosen row, which is written at the right edge. */
    const numberOf = (k) => {
        const w = heed.weights(l.b, heed.state.head).at(heed.selected().query, k);
        return l.step >= 14 && w >= 0.01 ? heed.weight(w) : "";
    };
    const paintKey = (pen, k, j, mine) => {
        const room = l.width - l.right - (numberOf(k) ? 50 : 14);
        const style = {size: sizeOf(), weight: mine ? 700 : 400, width: room};
        pen.text(heed.token(l.b.keys, k, 60), l.right + 10, y(j), style);
    };
    /* A strip where a label stood makes room for its bold form. */
    const clear = (pen, x, i, width) =>
        pen.rect(x, l.top + i * l.step, width, l.step, {fill: heed.css(heed.theme.surface)});
    const paintChosen = (pen, view, heads) => {
        const s = heed.selected(), i = l.row.get(s.query), j = l.col.get(s.key);
        heads.forEach((h, n) => paintOwn(pen, view, h, n, heads.length));
        if (i !== undefined) {
            clear(pen, 0, i, l.left);
            pen.rect(0, l.top + i * l.step, l.left, l.step, {fill: heed.theme.accent, alpha: 0.13});
            paintQuery(pen, s.query, i, true);
        }
        if (j !== undefined) {
            clear(pen, l.right, j, l.width - l.right);
            paintShare(pen, s.key, j, heads);
            pen.rect(
                l.right, l.top + j * l.step, l.width - l.right, l.step,
                {stroke: heed.theme.accent, width: 2});
            paintKey(pen, s.key, j, true);
        }
    };
    const paintLines = (pen, view) =>
        chosen().forEach((h, n, heads) => paintAll(pen, view, h, n, heads.length));
    const paint = (pen, view = {lo: 0, hi: l.height}, lines = paintLines) => {
        const heads = chosen(), every = l.step < 11 ? 2 : 1;
        const first = Math.max(0, Math.floor((view.lo - l.top) / l.step)),
              last = Math.ceil((view.hi - l.top) / l.step);
        const each = (list, act) => {
            for (let i = first; i < Math.min(list.length, last); i++) act(list[i], i);
        };
        each(l.cols, (k, j) => paintShare(pen, k, j, heads));
        lines(pen, view);
        pen.text("query", l.left - 8, 10, {size: 11, align: "right", color: heed.theme.muted});
        pen.text("key", l.right + 8, 10, {size: 11, color: heed.theme.muted});
        each(l.rows, (q, i) => { if (i % every === 0) paintQuery(pen, q, i, false); });
        each(l.cols, (k, j) => { if (j % every === 0) paintKey(pen, k, j, false); });
        paintChosen(pen, view, heads);
        each(l.cols, (k, j) => {
            const text = numberOf(k);
            if (text) pen.text(text, l.width - 4, y(j), {size: 11, align: "right"});
        });
    };
    /* The canvas is as high as its window and goes along with it: many tokens cost no more than
     * few. */
    const drawSight = () => {
        const lo = scroll.scrollTop, high = Math.min(l.height, scroll.clientHeight);
        heed.paint(canvas, l.width, high, (pen) => paint(pen, {lo, hi: lo + high}, stillLines), lo);
    };
    /* The lines of all queries change less often than the pointer moves: they are drawn once. */
    const stillLines = (pen, view) => {
        const high = view.hi - view.lo,
              look = [heed.selected().locked, heed.dark(), heed.state.scale, devicePixelRatio];
        const id = [...chosen().map(linesId), l.width, view.lo, high, ...look].join();
        const picture = still(id, () => {
            const lines = heed.el("canvas");
            heed.paint(lines, l.width, high, (own) => paintLines(own, view), view.lo);
            return lines;
        });
        pen.image(picture, 0, view.lo, l.width, high, {});
    };
    /* What was chosen elsewhere, by keys or a link, comes into sight. */
    const follow = () => {
        const s = heed.selected(), i = l.row.get(s.query);
        if (s.locked && s.query !== followed && i !== undefined &&
            (y(i) < scroll.scrollTop + l.step ||
             y(i) > scroll.scrollTop + scroll.clientHeight - l.step))
            scroll.scrollTop = y(i) - scroll.clientHeight / 2;
        followed = s.locked ? s.query : -1;
    };

    /* A chip per head, with its pattern. */
    const chip = (h) => {
        const on = chosen().includes(h), color = heed.css(heed.hue(h));
        const sample =
            heed.el("canvas", {width: 48, height: 8, "aria-hidden": "true", class: "sample"});
        const pen = heed.canvasPen(sample.getContext("2d"));
        pen.line([[0, 4], [48, 4]], {color, width: 4, dash: heed.dash(h).map((x) => 2 * x)});
        return heed.el(
            "button", {
                type: "button", class: "chip", "aria-pressed": String(on),
                "aria-label": `head ${h + 1}`,
                title: on ? `head ${h + 1} is drawn` : `draw head ${h + 1}, too`,
                onclick: () => toggle(h),
            },
            heed.el("span", {text: String(h + 1)}), sample);
    };
    const toggle = (h) => {
        const more = new Set(ticked()), had = more.delete(h);
        if (h !== heed.state.head) {
            if (!had) more.add(h);
            return heed.update({heads: printHeads(more)});
        }
        const next = [...more].find((x) => heed.block().heads.includes(x));
        if (next === undefined) return;
        more.delete(next);
        heed.update({head: next, heads: printHeads(more)});
    };
    const drawChips = () => {
        const b = heed.block();
        const name = heed.el("span", {class: "muted", text: "Together with"});
        heed.refill(chips, ...(b.heads.length > 1 ? [name, ...b.heads.map(chip)] : []));
    };

    heed.view({
        id: "head",
        title: "Head",
        help: "lines from each query to the keys that it takes most from",
        uses: ["layer", "head", "special", "side"],
        state: {rule: "top", top: 3, mass: 80, heads: ""},
        allowed: {rule: ["top", "mass"]},
        open(box) {
            canvas = heed.choiceCanvas(
                "lines from queries to keys", (x, yy) => at(x, yy + scroll.scrollTop));
            tools = [
                heed.bind("rule", "Lines", {
                    choices: [
                        ["top", "the top keys of each query"],
                        ["mass", "up to a share of its attention"]
                    ]
                }),
                heed.bind("top", "How many", {range: [1, 12, 1]}),
                heed.bind("mass", "Share", {range: [5, 100, 5], say: (v) => v + " %"}),
            ];
            chips = heed.el(
                "div", {class: "chips", role: "group", "aria-label": "heads drawn together"});
            left = heed.el("p", {class: "muted small", role: "status"});
            tall = heed.el("div", {class: "tall"}, canvas);
            scroll = heed.el("div", {class: "scroll", onscroll: drawSight}, tall);
            box.append(
                heed.el("div", {class: "tools"}, ...tools.map((t) => t.box)), chips, left, scroll);
        },
        draw() {
            tools[1].box.hidden = heed.state.rule !== "top";
            tools[2].box.hidden = heed.state.rule === "top";
            drawChips();
            layout();
            left.textContent = leftOut();
            canvas.setAttribute("aria-label", this.caption());
            tall.style.height = l.height + "px";
            follow();
            drawSight();
        },
        caption: () => [heed.selectionText(), leftOut()].filter(Boolean).join(". "),
        layout,
        paint,
        legend() {
            const b = heed.block(), m = heed.matrix(), end = heed.hue(hueOf(heed.state.head)),
                  ground = heed.theme.surface, top = heed.scaleOf(m), {query} = heed.selected();
            const color = (t) => end.map((x, i) => Math.round(ground[i] + (x - ground[i]) * t));
            const label = "line width and strength: weight, share of a row's attention " +
                `(1 = 100 %)${heed.scaleWords(m)}`;
            return heed.legend(label, 0, top, color, {
                uniform: heed.uniformOf(b, query), above: heed.isAbove(m, top),
                of: b.triangle ? ` in row ${heed.nth(query)}` : "",
            });
        },
    });
})();

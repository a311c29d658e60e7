/* head.js -- the Head view: queries left, keys right, a line per weight; the top k keys of each
 * query, or as many as make up a share of its attention. Several heads may be laid over one
 * another: each has a colour, its number and a pattern, which grows with the width of a line; the
 * lines of one head are solid. Of many tokens the strongest lines alone are drawn, and the view
 * says how many. */
"use strict";
{
    /* Lines of all queries together, and of one: more say nothing to the eye. */
    const MOST = 1000, OWN = 100;
    const LEAST = 0.0005; /* smaller weights have no line */
    let canvas, tall, scroll, tools, chips, left, l, followed = -1;

    const ticked = () => heed.state.heads.split(",").filter(Boolean).map((x) => Number(x) - 1);
    /* The heads that are drawn: the chosen one, and those that were ticked beside it. */
    const chosen = () => {
        const {head} = heed.state, more = ticked(),
              list = heed.block().heads.filter((h) => more.includes(h) || h === head);
        return typeof head === "number" ? list : [head, ...list];
    };
    const hueOf = (h) => heed.hue(typeof h === "number" ? h : 7);
    const colorOf = (h) => heed.css(hueOf(h));

    /* ---- which lines ---- */

    /* What does not change with the pointer, for the lines that are asked for. */
    let held = new Map(), heldFor = "", still = {};
    const kept = (what, make) => {
        const {rule, top, mass} = heed.state,
              now = [l.b.id, rule, top, mass, l.rows.length, l.cols.length, chosen()].join("|");
        if (now !== heldFor) held = new Map();
        heldFor = now;
        return heed.once(held, what, make);
    };
    /* The keys of every row, the strongest first, whatever share is asked for. The weights that are
     * sorted are whole numbers of 16 bits, as the page holds them, before the places of their
     * keys. */
    const ranked = new Map();
    const rankedRows = (h) =>
        heed.once(ranked, [l.b.id, h, l.rows.length, l.cols.length].join(), () => {
            const m = heed.weights(l.b, h), code = new Float64Array(l.cols.length);
            return l.rows.map((q) => {
                let n = 0;
                for (const k of l.cols) {
                    const w = m.at(q, k);
                    if (w > LEAST) code[n++] = Math.round(w * 65535) * 65536 + 65535 - k;
                }
                return Uint16Array.from(code.subarray(0, n).sort().reverse(), (x) => 65535 - x);
            });
        });
    /* For each query the keys that its lines go to. */
    const rowsOf = (h) => kept("rows " + h, () => {
        const m = heed.weights(l.b, h), {rule, top, mass} = heed.state;
        return rankedRows(h).map((keys, i) => {
            let count = 0, sum = 0;
            while (count < keys.length && (rule === "top" ? count < top : sum < mass / 100))
                sum += m.at(l.rows[i], keys[count++]);
            return keys.subarray(0, count);
        });
    });
    /* Of one of several heads the lines of all queries that are drawn: the strongest. */
    const drawn = (h) => kept("drawn " + h, () => {
        const m = heed.weights(l.b, h);
        const all = rowsOf(h).flatMap((keys, i) => Array.from(
            keys.subarray(0, OWN), (k) => ({q: l.rows[i], k, w: m.at(l.rows[i], k)})));
        return all.sort((a, b) => b.w - a.w).slice(0, Math.floor(MOST / chosen().length));
    });
    const count = (lists) => heed.math.sum(lists.map((x) => x.length));
    /* What is not drawn, in words; "" where everything is. */
    const leftOut = () => {
        if (!l) layout();
        const heads = chosen(), i = l.row.get(heed.selected().query),
              mine = heads.map((h) => rowsOf(h)[i] ?? []);
        const share = (n, of) => `${heed.count(n)} of ${heed.count(of)}`;
        const all = count(heads.flatMap(rowsOf)), some = count(heads.map(drawn)), own = count(mine),
              shown = count(mine.map((keys) => keys.slice(0, OWN)));
        if (some === all && shown === own) return "";
        return `The strongest ${share(some, all)} lines are drawn; of the chosen query ` +
            `${shown === own ? "all" : share(shown, own)}.`;
    };

    /* ---- where ---- */

    const layout = () => {
        const b = heed.block(), rows = heed.visible(b.queries), cols = heed.visible(b.keys),
              width = Math.min(900, heed.widthIn(scroll, 280)),
              n = Math.max(rows.length, cols.length),
              step = n <= 40 ? 26 : n <= 120 ? 20 : heed.clamp(12000 / n, 9, 16);
        const label = Math.min(220, width * 0.34),
              placed = (list) => new Map(list.map((x, i) => [x, i]));
        l = {
            b, rows, cols, row: placed(rows), col: placed(cols), step, width,
            left: label, right: width - label, top: 26, height: 26 + n * step + 8,
        };
        return l;
    };
    const y = (i) => l.top + (i + 0.5) * l.step;
    const at = (x, yy) => {
        const i = Math.floor((yy - l.top) / l.step), queries = x < (l.left + l.right) / 2;
        if ((queries ? l.rows : l.cols)[i] === undefined) return null;
        return queries ? {query: l.rows[i], key: -1}
                       : {query: heed.selected().query, key: l.cols[i]};
    };

    /* ---- drawing: what lies between two heights, which is all in a saved picture, on the page
     * what is in sight ---- */

    const curve = (pen, view, q, k, n, of, style) => {
        const shift = (n - (of - 1) / 2) * 3, from = y(l.row.get(q)) + shift,
              to = y(l.col.get(k)) + shift;
        if (Math.max(from, to) > view.lo - 10 && Math.min(from, to) < view.hi + 10)
            pen.curve(l.left, from, l.right, to, style);
    };
    /* The lines of all queries, as they are behind those of the chosen one. */
    const paintLines = (pen, view) => chosen().forEach((h, n, heads) => {
        const {locked} = heed.selected(), top = heed.scaleOf(heed.weights(l.b, h));
        for (const {q, k, w} of drawn(h))
            curve(pen, view, q, k, n, heads.length, {
                color: colorOf(h), width: 0.5 + (2 * w) / top,
                alpha: locked ? 0.06 : 0.1 + (0.4 * w) / top,
            });
    });
    const paintOwn = (pen, view, h, n, of) => {
        const m = heed.weights(l.b, h), s = heed.selected(), top = heed.scaleOf(m),
              pattern = of > 1 && typeof h === "number" ? heed.dash(h) : [];
        for (const k of (rowsOf(h)[l.row.get(s.query)] ?? []).slice(0, OWN)) {
            const w = m.at(s.query, k) / top, width = 1 + 5 * w;
            curve(pen, view, s.query, k, n, of, {
                color: colorOf(h), dash: pattern.map((x) => x * Math.max(1, width / 2)), width,
                alpha: s.key < 0 || s.key === k ? 0.35 + 0.65 * w : 0.3,
            });
        }
    };
    /* How much the chosen row gives to a key, beside it. */
    const paintShare = (pen, k, j, heads) => heads.forEach((h, n) => {
        const m = heed.weights(l.b, h), w = m.at(heed.selected().query, k) / heed.scaleOf(m),
              high = (l.step - 4) / heads.length, top = l.top + j * l.step + 2 + n * high;
        if (w > 0.002)
            pen.rect(
                l.right, top, 6 + w * (l.width - l.right - 8), high,
                {fill: colorOf(h), alpha: 0.16 + 0.16 * w});
    });
    const sizeOf = () => Math.min(14, l.step * 0.8);
    const paintQuery = (pen, q, i, weight = 400) => {
        pen.text(
            heed.token(l.b.queries, q, 60), l.left - 8, y(i),
            {size: sizeOf(), align: "right", weight, width: l.left - 40});
        pen.text(String(heed.nth(q)), 4, y(i), {size: 10, color: heed.theme.muted});
    };
    /* The weight of a key in the chosen row, which is written at the right edge. */
    const numberOf = (k) => {
        const w = heed.matrix().at(heed.selected().query, k);
        return l.step >= 14 && w >= 0.01 ? heed.weight(w) : "";
    };
    const paintKey = (pen, k, j, weight = 400) => pen.text(
        heed.token(l.b.keys, k, 60), l.right + 10, y(j),
        {size: sizeOf(), weight, width: l.width - l.right - (numberOf(k) ? 50 : 14)});
    const paintChosen = (pen, view, heads) => {
        const s = heed.selected(), i = l.row.get(s.query), j = l.col.get(s.key),
              {accent} = heed.theme;
        /* A strip where a label stood makes room for its bold form. */
        const strip = (x, n, width, style) =>
            pen.rect(x, l.top + n * l.step, width, l.step, style);
        const clear = {fill: heed.css(heed.theme.surface)};
        heads.forEach((h, n) => paintOwn(pen, view, h, n, heads.length));
        if (i !== undefined) {
            strip(0, i, l.left, clear);
            strip(0, i, l.left, {fill: accent, alpha: 0.13});
            paintQuery(pen, s.query, i, 700);
        }
        if (j !== undefined) {
            strip(l.right, j, l.width - l.right, clear);
            paintShare(pen, s.key, j, heads);
            strip(l.right, j, l.width - l.right, {stroke: accent, width: 2});
            paintKey(pen, s.key, j, 700);
        }
    };
    const paint = (pen, view = {lo: 0, hi: l.height}, lines = paintLines) => {
        const heads = chosen(), every = l.step < 11 ? 2 : 1, {muted} = heed.theme,
              first = Math.max(0, Math.floor((view.lo - l.top) / l.step)),
              last = Math.ceil((view.hi - l.top) / l.step);
        const each = (list, act) => list.slice(first, last).forEach((x, i) => act(x, first + i));
        each(l.cols, (k, j) => paintShare(pen, k, j, heads));
        lines(pen, view);
        pen.text("query", l.left - 8, 10, {size: 11, align: "right", color: muted});
        pen.text("key", l.right + 8, 10, {size: 11, color: muted});
        each(l.rows, (q, i) => i % every || paintQuery(pen, q, i));
        each(l.cols, (k, j) => j % every || paintKey(pen, k, j));
        paintChosen(pen, view, heads);
        const number = {size: 11, align: "right"};
        each(l.cols, (k, j) => pen.text(numberOf(k), l.width - 4, y(j), number));
    };
    /* The canvas is as high as its window and goes along with it: many tokens cost no more than
     * few. The lines of all queries change less often than the pointer moves: they are drawn
     * once. */
    const drawSight = () => {
        const lo = scroll.scrollTop, high = Math.min(l.height, scroll.clientHeight);
        const stillLines = (pen, view) => {
            const look = [heed.selected().locked, heed.dark(), heed.state.scale, devicePixelRatio],
                  id = [heldFor, l.width, lo, high, ...look].join();
            if (id !== still.id) {
                still = {id, lines: heed.el("canvas")};
                heed.paint(still.lines, l.width, high, (own) => paintLines(own, view), lo);
            }
            pen.image(still.lines, 0, lo, l.width, high, {});
        };
        heed.paint(canvas, l.width, high, (pen) => paint(pen, {lo, hi: lo + high}, stillLines), lo);
    };
    /* What was chosen elsewhere, by keys or a link, comes into sight. */
    const follow = () => {
        const s = heed.selected(), i = l.row.get(s.query), {scrollTop, clientHeight} = scroll;
        const away = y(i) < scrollTop + l.step || y(i) > scrollTop + clientHeight - l.step;
        if (s.locked && s.query !== followed && away) scroll.scrollTop = y(i) - clientHeight / 2;
        followed = s.locked ? s.query : -1;
    };

    /* A chip per head, with its pattern. */
    const chip = (h) => {
        const on = chosen().includes(h), name = `head ${h + 1}`;
        const sample =
            heed.el("canvas", {width: 48, height: 8, "aria-hidden": "true", class: "sample"});
        heed.canvasPen(sample.getContext("2d")).line(
            [[0, 4], [48, 4]],
            {color: colorOf(h), width: 4, dash: heed.dash(h).map((x) => 2 * x)});
        return heed.el(
            "button", {
                type: "button", class: "chip", "aria-pressed": String(on), "aria-label": name,
                title: on ? `${name} is drawn` : `draw ${name}, too`, onclick: () => toggle(h),
            },
            heed.el("span", {text: String(h + 1)}), sample);
    };
    const toggle = (h) => {
        let {head} = heed.state;
        const more = new Set(ticked()), had = more.delete(h);
        if (h === head) {
            head = [...more].find((x) => heed.block().heads.includes(x)) ?? head;
            more.delete(head);
        } else if (!had) more.add(h);
        heed.update({head, heads: [...more].sort((a, b) => a - b).map(heed.nth).join()});
    };

    heed.view({
        id: "head", title: "Head",
        help: "lines from each query to the keys that it takes most from",
        uses: ["layer", "head", "special", "side"],
        state: {rule: "top", top: 3, mass: 80, heads: ""},
        allowed: {rule: ["top", "mass"]},
        open(box) {
            const choices = [
                ["top", "the top keys of each query"], ["mass", "up to a share of its attention"],
            ];
            canvas = heed.choiceCanvas(
                "lines from queries to keys", (x, yy) => at(x, yy + scroll.scrollTop));
            tools = [
                heed.bind("rule", "Lines", {choices}),
                heed.bind("top", "How many", {range: [1, 12, 1]}),
                heed.bind("mass", "Share", {range: [5, 100, 5], say: (v) => v + " %"}),
            ];
            chips = heed.group("chips", "heads drawn together");
            left = heed.el("p", {class: "muted small", role: "status"});
            tall = heed.el("div", {class: "tall"}, canvas);
            scroll = heed.el("div", {class: "scroll", onscroll: drawSight}, tall);
            box.append(heed.tools(...tools), chips, left, scroll);
        },
        draw() {
            const {heads} = heed.block(),
                  name = heed.el("span", {class: "muted", text: "Together with"});
            tools[1].box.hidden = heed.state.rule !== "top";
            tools[2].box.hidden = heed.state.rule === "top";
            heed.refill(chips, ...(heads.length > 1 ? [name, ...heads.map(chip)] : []));
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
            const b = heed.block(), {query} = heed.selected(), m = heed.matrix(),
                  top = heed.scaleOf(m);
            return heed.legend(
                "line width and strength: weight, share of a row's attention (1 = 100 %)" +
                    heed.scaleWords(m),
                0, top, (t) => heed.between(heed.theme.surface, hueOf(heed.state.head), t), {
                    uniform: 1 / Math.max(1, heed.open(b, query).length),
                    above: heed.isAbove(m, top), of: b.triangle ? ` in row ${heed.nth(query)}` : "",
                });
        },
    });
}

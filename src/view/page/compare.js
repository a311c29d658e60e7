/* compare.js -- the Compare view: the weights beside rollout, occlusion, gradient and whatever else the records hold over the same
 * tokens; and, where there are several records, the same head over the steps of training. */
"use strict";
(() => {
    let scroll, player, l, timer = 0;

    /* The maps over the block's tokens: of the whole model, and of the layer and head at hand. */
    const mapsOf = (r, b) => r.maps.filter((m) => (m.queries === b.queries || m.keys === b.keys) &&
        (m.layer < 0 || (m.layer === b.layer && m.stack === b.stack)) && (m.head < 0 || m.head === heed.state.head));
    /* Rows of which something is known: an occlusion tells of the answer's row alone. */
    const known = (m, rows) => {
        const some = rows.filter((q) => { for (let k = 0; k < m.cols; k++) if (m.at(q, k) === m.at(q, k)) return true; return false; });
        return some.length ? some : rows;
    };
    /* Which predictions a map is of; "": it is of none, or its help says of which. */
    const predictions = (r, m, values) => {
        if (m.layer >= 0 || !/^(occlusion|gradient)/.test(m.name)) return "";
        const all = m.queries.order, rows = known(values, all), name = (q) => `${heed.nth(q)} ${heed.quote(m.queries, q, 12)}`;
        if (rows.length < all.length) return `Of the prediction at ${heed.cut(rows.map(name).join(", "), 60)}; other positions have none.`;
        return r.guesses.some((g) => g.axis === m.queryAxis && g.query < 0) ? "Every row is of the one prediction." : "Each row is of its own prediction.";
    };
    /* A row of a head's gradient that leads nowhere is no weak one. */
    const idle = (m, values) => {
        const none = m.layer < 0 ? [] : m.queries.order.filter((q) => m.keys.order.every((k) => values.at(q, k) === 0));
        return new Set(none);
    };
    const plain = (values, axes, more, top = heed.scaleOf(values)) => heed.matrixOf(values, axes, top, {rows: known(values, heed.visible(axes.queries)), plain: true, values, record: heed.record(), ...more});
    const scope = (m) => (m.layer < 0 ? "" : `, layer ${m.layer + 1}`) + (m.head < 0 ? "" : `, head ${m.head + 1}`);
    const meaning = (how) => (how === "mean" ? "the mean of the weights of all heads" : how === "max" ? "the largest weight of any head" : "the weights of this head");
    /* Of each element of the list a the place of its counterpart in b; -1: it has none. Equal ones are paired in order, as many as
     * possible (the longest common subsequence); others between the same two pairs in order, if they are as many in a as in b. */
    const counterparts = (a, b) => {
        const common = Array.from({length: a.length + 1}, () => new Uint32Array(b.length + 1)), out = a.map(() => -1);
        for (let i = a.length - 1; i >= 0; i--)
            for (let j = b.length - 1; j >= 0; j--) common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
        let i = 0, j = 0, x = 0, y = 0; /* x and y: behind the last pair of equal ones */
        const others = () => { if (i - x === j - y) while (x < i) out[x++] = y++; };
        while (i < a.length || j < b.length) {
            if (a[i] === b[j]) {
                others();
                out[i] = j;
                x = ++i;
                y = ++j;
            } else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) i++;
            else j++;
        }
        others();
        return out;
    };
    const held = heed.memory(64);
    /* The weights of a head here less those there, of tokens that have a counterpart; NaN of others. */
    const difference = (b, like, how) => held([b.id, like.id, how].join(), () => {
        const here = heed.weights(b, how), there = heed.weights(like, how), data = new Float32Array(here.data.length).fill(NaN);
        const rows = counterparts(b.queries.labels, like.queries.labels), cols = b.queries === b.keys ? rows : counterparts(b.keys.labels, like.keys.labels);
        rows.forEach((r, q) => cols.forEach((c, k) => { if (r >= 0 && c >= 0) data[q * here.cols + k] = here.at(q, k) - there.at(r, c); }));
        const most = data.reduce((x, w) => Math.max(x, Math.abs(w) || 0), 1e-9);
        return {cols: here.cols, min: -most, max: most, at: (q, k) => data[q * here.cols + k], some: [...rows, ...cols].includes(-1)};
    });
    /* The same head on the other inputs, on one scale, and what the head gives more or less here than there. */
    const others = (b) => heed.data.records.flatMap((r, i) => {
        const how = heed.state.head, like = r === heed.record() ? null : heed.layerIn(r, b, how);
        if (!like) return [];
        const g = r.guesses.find((x) => x.tokens.length), m = difference(b, like, how), name = heed.stepName(i);
        const answer = g ? `${g.says}: ‘${heed.within(heed.cut(heed.show(g.tokens[0][0]), 24))}’ ${heed.probability(g.tokens[0][1])}` : "";
        return [
            plain(heed.weights(like, how), like, {name, record: r, help: `the same head on this input${answer ? "; " + answer : ""}`, void: (q, k) => heed.masked(like, q, k), hatched: heed.hatched(like), beside: true}),
            plain(m, b, {
                name: `difference to ${name}`, help: `the weights here less those there: orange, more here; blue, less${m.some ? "; hatched: a token that has no counterpart there" : ""}`,
                rows: heed.visible(b.queries), void: (q, k) => heed.masked(b, q, k) || Number.isNaN(m.at(q, k)), hatched: m.some || heed.hatched(b),
            }),
        ];
    });
    /* A measure of this input, and beside it the same one of the others, on one scale. */
    const measures = (b, m) => {
        const several = heed.severalInputs(), same = (x) => x.name === m.name && x.layer === m.layer && x.head === m.head && x.stack === m.stack;
        const own = {r: heed.record(), b, m}, rest = several ? heed.data.records.filter((r) => r !== own.r) : [];
        const all = [own, ...rest.map((r) => ({r, b: heed.layerIn(r, b, heed.state.head), m: r.maps.find(same)})).filter((x) => x.b && x.m)];
        const top = Math.max(...all.map((x) => heed.scaleOf(heed.mapValues(x.m)))), share = m.name === "rollout";
        return all.map(({r, b: at, m: map}) => {
            const values = {...heed.mapValues(map), uniform: share ? at.uniform : 0}, none = idle(map, values), over = map.queries === at.queries && map.keys === at.keys;
            const hidden = (q, k) => none.has(q) || Number.isNaN(values.at(q, k)) || (over && heed.masked(at, q, k));
            const name = m.name + scope(m) + (several ? `: ${heed.stepName(heed.data.records.indexOf(r))}` : "");
            return plain(values, map, {name, group: m.name + scope(m), help: map.help || "", void: hidden, hatched: true, of: predictions(r, map, values), record: r, beside: r !== own.r}, top);
        });
    };
    /* Of one input the attention comes first; of several the measures, those of a single row before the matrices, so that a
     * measure of all inputs is seen at once. */
    const panels = () => {
        const b = heed.block(), several = heed.severalInputs(), of = several ? `Input ${heed.state.record + 1}: ` : "";
        const weights = (how) => plain(heed.weights(b, how), b, {
            name: `attention, layer ${b.layer + 1}, ${heed.headName(how)}`, help: of + meaning(how), void: (q, k) => heed.masked(b, q, k), hatched: heed.hatched(b),
        });
        const attention = [weights(heed.state.head), ...(several ? others(b) : [])], maps = mapsOf(heed.record(), b).flatMap((m) => measures(b, m));
        if (several) return [...maps.sort((x, y) => (x.rows.length > 1) - (y.rows.length > 1)), ...attention];
        return [...attention, ...maps, ...(b.heads.length > 1 && heed.state.head !== "mean" ? [weights("mean")] : [])];
    };
    /* What is over the patches of a picture is drawn over the picture, for the chosen row. */
    const pictured = (p) => Boolean(p.keys.grid && p.record.picture);
    const rowOf = (p) => { const {query} = chosenIn(p); return p.rows.includes(query) ? query : p.rows[0]; };
    const pictureLayout = (p, width) => {
        const {width: w, height: h} = p.record.picture, wide = Math.min(width, 260), high = Math.round((wide * h) / w);
        return {left: 0, top: 0, cell: high, wide, height: high};
    };
    const patchAt = (p, x, y) => {
        const g = p.keys.grid, c = Math.floor(((x - p.l.left) * g.cols) / p.l.wide), r = Math.floor(((y - p.l.top) * g.rows) / p.l.cell);
        return r < 0 || c < 0 || r >= g.rows || c >= g.cols ? null : {query: rowOf(p), key: g.first + r * g.cols + c};
    };
    /* Over pictures all shares of attention have one scale, as in the Picture view, and a measure has one for all inputs. */
    const scaleOver = (list) => {
        const kind = (p) => (p.signed ? p.group || p.name : ""), largest = (p) => heed.patchWeights(p.values, rowOf(p), 100, p.keys.grid).reduce((top, w) => Math.max(top, Math.abs(w) || 0), 2 * (p.values.uniform || 0));
        const tops = list.map(largest);
        list.forEach((p) => { p.top = heed.state.scale === "one" && !p.signed ? 1 : Math.max(...tops.filter((_, i) => kind(list[i]) === kind(p))) || 1; });
    };
    const gap = 28, small = {size: 12};
    /* What is said of a panel below its name: at most six lines. */
    const words = (p, width) => [...(p.of ? heed.lines(p.of, width, small, 2) : []), ...heed.lines(p.help, width, small, 4)];
    /* The panels that begin at the height of p: all pictures of a page of pictures, else those of the same measure. */
    const aligned = (list, p) => (list.every(pictured) ? list : p.group ? list.filter((x) => x.group === p.group) : [p]);
    /* Each panel goes below the shortest column; the panels of a measure stand side by side. */
    const layout = () => {
        const width = heed.widthIn(scroll), list = panels(), over = list.filter(pictured), least = list.every(pictured) ? 210 : 320;
        const columns = Math.max(1, Math.min(list.length, Math.floor((width + gap) / (least + gap)))), each = Math.floor((width - gap * (columns - 1)) / columns);
        const ends = Array(columns).fill(0), several = heed.severalInputs();
        scaleOver(over);
        list.forEach((p, i) => {
            if (several && (i === 0 || p.group !== list[i - 1].group)) ends.fill(Math.max(...ends));
            const column = ends.indexOf(Math.min(...ends)), inner = pictured(p) ? pictureLayout(p, each) : heed.matrixLayout(p, each, 0, 380);
            p.x = column * (each + gap);
            p.y = ends[column];
            p.each = each;
            p.head = 30 + 16 * Math.max(...aligned(list, p).map((x) => words(x, each).length));
            p.l = {...inner, left: p.x + inner.left, top: p.y + p.head + inner.top};
            p.inner = inner;
            ends[column] += p.head + inner.height + 26 + gap;
        });
        l = {list, width, height: Math.max(...ends) - gap};
        return l;
    };
    const paintLegend = (pen, p) => {
        const y = p.l.top + p.l.cell * (pictured(p) ? 1 : p.rows.length) + 14, x = p.l.left;
        pen.cells(x, y, 90, 8, 1, 48, (_, i) => (p.signed ? heed.signed((2 * i) / 47 - 1) : heed.color(i / 47)));
        pen.rect(x - 0.5, y - 0.5, 91, 9, {stroke: heed.theme.line});
        pen.text(`${p.signed ? heed.number(-p.top) : "0"} to ${heed.number(p.top)}`, x + 98, y + 4, {size: 11, color: heed.theme.muted});
    };
    /* What is chosen is a place of the block's axes: a panel over others, of targets where those are sources, has none. */
    const chosenIn = (p) => {
        const b = heed.block(), at = heed.selected();
        const has = (axis, own) => axis === own || (p.beside && axis.count === own.count);
        return {query: has(p.queries, b.queries) ? at.query : -1, key: has(p.keys, b.keys) ? at.key : -1};
    };
    const paintPanel = (pen, p) => {
        pen.text(p.name, p.x, p.y + 10, {size: 14, weight: 600, width: p.each});
        words(p, p.each).forEach((line, i) => pen.text(line, p.x, p.y + 29 + 16 * i, {...small, color: heed.theme.muted, width: p.each}));
        /* Labels stand left of the cells: the panel draws in its own place. */
        if (pictured(p)) heed.overPicture(pen, p.values, rowOf(p), {x: p.l.left, y: p.l.top, w: p.l.wide, h: p.l.cell}, p.top, p.keys.grid, p.record.picture);
        else pen.group(p.x, p.y + p.head, () => heed.paintMatrix(pen, p, p.inner, chosenIn(p)));
        paintLegend(pen, p);
    };
    const hatching = () => {
        const b = heed.block(), said = [];
        if (heed.hatched(b)) said.push("may not attend");
        if (mapsOf(heed.record(), b).length) said.push("in a map, what is unknown or has no part in the prediction");
        return said.length ? `; hatched: ${said.join("; ")}` : "";
    };
    const under = (x, y) => {
        for (const p of l.list) {
            const at = pictured(p) ? patchAt(p, x, y) : heed.matrixAt(p, p.l, x, y);
            if (at && at.key >= 0 && x >= p.x && x < p.x + p.each) return {p, ...at};
        }
        return null;
    };
    /* Only weights and maps over the block's own axes choose a query. */
    const place = (u) => (u && u.p.queries === heed.block().queries ? {query: u.query, key: u.p.keys === heed.block().keys ? u.key : -1} : null);
    const tip = (u) => [u.p.name, `row ${heed.nth(u.query)} ${heed.quote(u.p.queries, u.query)}, ${heed.nth(u.key)} ${heed.quote(u.p.keys, u.key)}: ${heed.number(u.p.value(u.query, u.key))}`, u.p.of, u.p.help].filter(Boolean);

    const stop = () => { clearInterval(timer); timer = 0; player.textContent = "Play"; };
    const play = () => {
        if (timer) return stop();
        player.textContent = "Stop";
        timer = setInterval(() => {
            if (heed.state.view !== "compare") return stop();
            heed.update({record: (heed.state.record + 1) % heed.data.records.length});
        }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2000 : 700);
    };
    const stepName = (i) => (heed.data.records[i].step >= 0 && !heed.severalInputs() ? "after " : "") + heed.stepName(i);

    heed.view({
        id: "compare",
        title: "Compare",
        help: "attention beside rollout, occlusion and gradient; the same head over the steps of training, or on several inputs",
        uses: ["layer", "head", "scale", "special", "side"],
        available: (data) => data.records.length > 1 || data.records.some((r) => r.blocks.length && r.maps.length),
        open(box) {
            const last = heed.data.records.length - 1;
            player = heed.el("button", {type: "button", text: "Play", onclick: play});
            const when = heed.el("div", {class: "tools"}, heed.bind("record", "Training", {range: [0, last, 1], say: stepName}).box, player);
            when.hidden = last < 1 || heed.severalInputs();
            this.canvas = heed.canvas("maps over the same tokens", {
                move(x, y, e) { const u = under(x, y); heed.preview(place(u)); heed.tip(u && tip(u), e); },
                click(x, y) { const p = place(under(x, y)); if (p) heed.lock(p.query, p.key); },
                leave: () => heed.preview(null),
            });
            scroll = heed.el("div", {class: "scroll whole"}, this.canvas);
            box.append(when, scroll);
        },
        layout,
        paint: (pen) => l.list.forEach((p) => paintPanel(pen, p)),
        caption: () => (heed.data.records.length > 1 ? stepName(heed.state.record) + ": " : "") + heed.selectionText(),
        legend: () => heed.legend((heed.severalInputs() ? "a head and a measure have one scale on all inputs, written under each panel" : "each panel's scale is written under it") + hatching(), 0, "largest", (t) => heed.color(t)),
        table() {
            const at = heed.selected(), same = panels().filter((p) => p.queries === heed.block().queries && p.keys === heed.block().keys), cols = heed.visible(heed.block().keys), keys = heed.block().keys;
            const all = () => [["map", ...heed.placeColumns, "value"], ...panels().flatMap((p) => p.rows.flatMap((q) => p.cols.map((k) => [p.name, ...heed.placeCells(p.queries, q, p.keys, k), p.value(q, k)])))];
            return {
                caption: `Row ${heed.nth(at.query)} ${heed.quote(heed.block().queries, at.query)} in each map`, head: ["key", ...same.map((p) => p.name)],
                rows: cols.map((k) => [`${heed.nth(k)} ${heed.token(keys, k)}`, ...same.map((p) => heed.number(p.value(at.query, k)))]), all,
            };
        },
    });
})();

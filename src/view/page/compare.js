/* compare.js -- the Compare view: the weights beside rollout, occlusion, gradient and whatever else
 * the records hold over the same tokens; and, where there are several records, the same head over
 * the steps of training. */
"use strict";
(() => {
    let scroll, player, l, timer = 0;

    /* The maps over the block's tokens: of the whole model, and of the layer and head at hand. */
    const mapsOf = (r, b) => r.maps.filter(
        (m) => (m.queries === b.queries || m.keys === b.keys) &&
            (m.layer < 0 || (m.layer === b.layer && m.stack === b.stack)) &&
            (m.head < 0 || m.head === heed.state.head));
    /* Rows of which something is known: an occlusion tells of the answer's row alone. */
    const known = (m, rows) => {
        const some = rows.filter((q) => {
            for (let k = 0; k < m.cols; k++) if (!Number.isNaN(m.at(q, k))) return true;
            return false;
        });
        return some.length ? some : rows;
    };
    /* Which predictions a map is of; "": it is of none, or its help says of which. */
    const predictions = (r, m, values) => {
        if (m.layer >= 0 || !/^(occlusion|gradient)/.test(m.name)) return "";
        const all = m.queries.order, rows = known(values, all),
              name = (q) => `${heed.nth(q)} ${heed.quote(m.queries, q, 12)}`;
        if (rows.length < all.length)
            return `Of the prediction at ` +
                `${heed.cut(rows.map(name).join(", "), 60)}; other positions have none.`;
        const single = r.guesses.some((g) => g.axis === m.queryAxis && g.query < 0);
        return single ? "All rows show their effect on the same prediction."
                      : "Each row shows the effect on the prediction at its position.";
    };
    /* A row of a head's gradient that leads nowhere is no weak one. */
    const idle = (m, values) => {
        const none = m.layer < 0
            ? []
            : m.queries.order.filter((q) => m.keys.order.every((k) => values.at(q, k) === 0));
        return new Set(none);
    };
    const plain = (values, axes, more, top = heed.scaleOf(values)) =>
        heed.matrixOf(values, axes, top, {
            rows: known(values, heed.visible(axes.queries)), plain: true, values,
            record: heed.record(), ...more,
        });
    const scope = (m) =>
        (m.layer < 0 ? "" : `, layer ${m.layer + 1}`) + (m.head < 0 ? "" : `, head ${m.head + 1}`);
    const meanings = {
        mean: "the mean of the weights of all heads", max: "the largest weight of any head"
    };
    const meaning = (how) => meanings[how] || "the weights of this head";
    /* Of each element of the list a the place of its counterpart in b; -1: it has none. Equal ones
     * are paired in order, as many as possible (the longest common subsequence); others between the
     * same two pairs in order, if they are as many in a as in b. */
    const counterparts = (a, b) => {
        const common = Array.from({length: a.length + 1}, () => new Uint32Array(b.length + 1)),
              out = a.map(() => -1);
        for (let i = a.length - 1; i >= 0; i--)
            for (let j = b.length - 1; j >= 0; j--)
                common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1
                                             : Math.max(common[i + 1][j], common[i][j + 1]);
        let i = 0, j = 0, x = 0, y = 0; /* x and y: behind the last pair of equal ones */
        const others = () => { if (i - x === j - y) while (x < i) out[x++] = y++; };
        while (i < a.length || j < b.length) {
            if (a[i] === b[j]) {
                others();
                out[i] = j;
                x = ++i;
                y = ++j;
            } else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1]))
                i++;
            else
                j++;
        }
        others();
        return out;
    };
    const held = heed.memory(64);
    /* The weights of a head of this record minus those of the other, of tokens that have a
     * counterpart; NaN of others. */
    const difference = (b, like, how) => held([b.id, like.id, how].join(), () => {
        const here = heed.weights(b, how), there = heed.weights(like, how),
              data = new Float32Array(here.data.length).fill(NaN);
        const rows = counterparts(b.queries.labels, like.queries.labels);
        const cols = b.queries === b.keys ? rows : counterparts(b.keys.labels, like.keys.labels);
        rows.forEach((r, q) => cols.forEach((c, k) => {
            if (r >= 0 && c >= 0) data[q * here.cols + k] = here.at(q, k) - there.at(r, c);
        }));
        const most = data.reduce((x, w) => Math.max(x, Math.abs(w) || 0), 1e-9);
        const at = (q, k) => data[q * here.cols + k], some = [...rows, ...cols].includes(-1);
        return {cols: here.cols, min: -most, max: most, below: true, at, some};
    });
    /* The same head on the other inputs, on one scale, and what the head gives more or less here
     * than there. */
    const others = (b) => heed.data.records.flatMap((r, i) => {
        const how = heed.state.head, like = r === heed.record() ? null : heed.layerIn(r, b, how);
        if (!like) return [];
        const g = r.guesses.find((x) => x.tokens.length), m = difference(b, like, how),
              name = heed.stepName(i);
        const [token, p] = g ? g.tokens[0] : [];
        const answer = g
            ? `; ${g.says}: ‘${heed.within(heed.cut(heed.show(token), 24))}’ ${heed.probability(p)}`
            : "";
        const where = heed.severalModels() ? "of this model" : "on this input";
        const hatched = m.some ? "; hatched: a token that has no counterpart there" : "";
        return [
            plain(heed.weights(like, how), like, {
                name, record: r, help: `the same head ${where}${answer}`, beside: true,
                masks: heed.hatched(like), void: (q, k) => heed.masked(like, q, k),
                hatched: heed.hatched(like),
            }),
            plain(m, b, {
                name: `difference to ${name}`,
                help: `the weights of ${heed.stepName(heed.data.records.indexOf(heed.record()))} ` +
                    `minus those of ${name}: orange is above 0, blue below${hatched}`,
                rows: heed.visible(b.queries), masks: heed.hatched(b),
                hatched: m.some || heed.hatched(b),
                void: (q, k) => heed.masked(b, q, k) || Number.isNaN(m.at(q, k)),
            }),
        ];
    });
    /* A measure of this input, and beside it the same one of the others, on one scale. */
    const measures = (b, m) => {
        const several = heed.severalInputs(), own = {r: heed.record(), b, m};
        const same = (x) =>
            x.name === m.name && x.layer === m.layer && x.head === m.head && x.stack === m.stack;
        const found = (r) => ({r, b: heed.layerIn(r, b, heed.state.head), m: r.maps.find(same)});
        const rest = several ? heed.data.records.filter((r) => r !== own.r).map(found) : [];
        const all = [own, ...rest.filter((x) => x.b && x.m)], share = m.name === "rollout";
        const top = Math.max(...all.map((x) => heed.scaleOf(heed.mapValues(x.m))));
        return all.map(({r, b: at, m: map}) => {
            const values = {...heed.mapValues(map), uniform: share ? at.uniform : 0},
                  none = idle(map, values);
            const over = map.queries === at.queries && map.keys === at.keys;
            const unknown = (q, k) => none.has(q) || Number.isNaN(values.at(q, k));
            const name = m.name + scope(m) +
                (several ? `: ${heed.stepName(heed.data.records.indexOf(r))}` : "");
            return plain(
                values, map, {
                    name,
                    group: m.name + scope(m), help: map.help || "", of: predictions(r, map, values),
                    record: r, beside: r !== own.r, hatched: true, unknown,
                    masks: over && heed.hatched(at),
                    void: (q, k) => unknown(q, k) || (over && heed.masked(at, q, k)),
                },
                top);
        });
    };
    /* What was asked for is seen at once: measures of a single row come before matrices, and of
     * several inputs before attention. */
    const panels = () => {
        const b = heed.block(), several = heed.severalInputs(),
              kind = heed.severalModels() ? "Model" : "Input",
              of = several ? `${kind} ${heed.state.record + 1}: ` : "";
        const weights = (how) => plain(heed.weights(b, how), b, {
            name: `attention, layer ${b.layer + 1}, ${heed.headName(how)}`, help: of + meaning(how),
            masks: heed.hatched(b), void: (q, k) => heed.masked(b, q, k), hatched: heed.hatched(b),
        });
        const maps = mapsOf(heed.record(), b).flatMap((m) => measures(b, m));
        maps.sort((x, y) => (x.rows.length > 1) - (y.rows.length > 1));
        if (several) return [...maps, weights(heed.state.head), ...others(b)];
        const mean = b.heads.length > 1 && heed.state.head !== "mean" ? [weights("mean")] : [];
        return [weights(heed.state.head), ...maps, ...mean];
    };
    /* What is over the patches of a picture is drawn over the picture, for the chosen row. */
    const pictured = (p) => Boolean(p.keys.grid && p.record.picture);
    const rowOf = (p) => {
        const {query} = chosenIn(p);
        return p.rows.includes(query) ? query : p.rows[0];
    };
    const pictureLayout = (p, width) => {
        const {width: w, height: h} = p.record.picture, wide = Math.min(width, 260),
              high = Math.round((wide * h) / w);
        return {left: 0, top: 0, tall: high, wide, height: high};
    };
    const patchAt = (p, x, y) => {
        const g = p.keys.grid, c = Math.floor(((x - p.l.left) * g.cols) / p.l.wide);
        const r = Math.floor(((y - p.l.top) * g.rows) / p.l.tall);
        return r < 0 || c < 0 || r >= g.rows || c >= g.cols
            ? null
            : {query: rowOf(p), key: g.first + r * g.cols + c};
    };
    /* Over pictures the weights have one scale, as in the Picture view, and each measure has one
     * for all inputs. */
    const scaleOver = (list) => {
        const kind = (p) => p.group || (p.signed ? p.name : p.values.own ? p.values.of[1] : "");
        const largest = (p) =>
            (p.signed ? heed.ownEnd(p.values, rowOf(p), p) : heed.topOver(p.values, rowOf(p)));
        const tops = list.map(largest);
        list.forEach((p) => {
            p.top = Math.max(...tops.filter((_, i) => kind(list[i]) === kind(p))) || 1;
        });
    };
    const gap = 28, small = {size: 12}, bold = {size: 14, weight: 600};
    /* Above a panel: its name, and what is said of it in at most six lines. */
    const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
    const headOf = (p, width) => {
        const said = [
            ...(p.of ? heed.lines(p.of, width, small, 2) : []),
            ...heed.lines(sentence(p.help), width, small, 4)
        ];
        return {name: heed.lines(p.name, width, bold, 2), said};
    };
    const heightOf = ({name, said}) => 12 + 18 * name.length + 16 * said.length;
    /* Panels are in rows, and what those of a row draw begins at one height, so that they can be
     * compared; of several inputs each measure begins a row. */
    const rowsOf = (list, columns) => {
        const rows = [], several = heed.severalInputs();
        list.forEach((p, i) => {
            const next = several && i > 0 && p.group !== list[i - 1].group;
            if (!rows.length || next || rows.at(-1).length === columns) rows.push([]);
            rows.at(-1).push(p);
        });
        return rows;
    };
    const layout = () => {
        const width = heed.widthIn(scroll), list = panels(),
              least = list.every(pictured) ? 210 : 320;
        const room = Math.max(1, Math.floor((width + gap) / (least + gap)));
        const columns = Math.min(list.length, room),
              each = Math.floor((width - gap * (columns - 1)) / columns);
        let y = 0;
        scaleOver(list.filter(pictured));
        for (const p of list) p.said = headOf(p, each);
        for (const row of rowsOf(list, columns)) {
            const head = Math.max(...row.map((p) => heightOf(p.said)));
            row.forEach((p, column) => {
                const inner =
                    pictured(p) ? pictureLayout(p, each) : heed.matrixLayout(p, each, 0, 380);
                Object.assign(p, {x: column * (each + gap), y, each, head, inner});
                p.l = {...inner, left: p.x + inner.left, top: y + head + inner.top};
            });
            y += head + Math.max(...row.map((p) => p.inner.height)) + 26 + gap;
        }
        l = {list, width, height: y - gap};
        return l;
    };
    /* A scale has a part below 0 only if there is a value. */
    const paintLegend = (pen, p) => {
        const y = p.l.top + p.l.tall * (pictured(p) ? 1 : p.rows.length) + 14, x = p.l.left,
              {uniform} = p.values;
        pen.cells(
            x, y, 90, 8, 1, 48,
            (_, i) => (p.values.below ? heed.signed((2 * i) / 47 - 1)
                           : p.signed ? heed.signed(i / 47)
                                      : heed.color(i / 47)));
        pen.rect(x - 0.5, y - 0.5, 91, 9, {stroke: heed.theme.line});
        if (uniform) pen.rect(x + (90 * uniform) / p.top - 1, y - 3, 2, 14, {fill: heed.theme.ink});
        const ends = (p.values.below ? "±" : "0 to ") + heed.number(p.top);
        const most = () => heed.number(heed.largestOver(p.values, rowOf(p), p)),
              more = heed.isAbove(p.values, p.top) ? " and more" : "";
        const own = pictured(p) ? `; largest ${most()}` : more;
        pen.text(
            ends + own, x + 98, y + 4, {size: 11, color: heed.theme.muted, width: p.each - 98});
    };
    /* What is chosen is a place of the block's axes: a panel over others, of targets where those
     * are sources, has none. */
    const chosenIn = (p) => {
        const b = heed.block(), at = heed.selected(),
              has = (axis, own) => axis === own || (p.beside && axis.count === own.count);
        return {
            query: has(p.queries, b.queries) ? at.query : -1, key: has(p.keys, b.keys) ? at.key : -1
        };
    };
    const paintPanel = (pen, p) => {
        const {name, said} = p.said, color = heed.theme.muted, width = p.each;
        name.forEach((line, i) => pen.text(line, p.x, p.y + 10 + 18 * i, {...bold, width}));
        said.forEach(
            (line, i) => pen.text(
                line, p.x, p.y + 11 + 18 * name.length + 16 * i, {...small, color, width}));
        const box = {x: p.l.left, y: p.l.top, w: p.l.wide, h: p.l.tall};
        /* Labels are left of the cells: the panel draws in its own place. */
        if (pictured(p))
            heed.overPicture(pen, p.values, rowOf(p), box, p.top, p.keys.grid, p.record.picture);
        else pen.group(p.x, p.y + p.head, () => heed.paintMatrix(pen, p, p.inner, chosenIn(p)));
        paintLegend(pen, p);
    };
    /* What hatching means in the matrices that are drawn; pictures have none. */
    const hatching = (list) => {
        const matrices = list.filter((p) => !pictured(p)), said = [];
        const unknown = (p) => p.unknown && p.rows.some((q) => p.cols.some((k) => p.unknown(q, k)));
        if (matrices.some((p) => p.masks)) said.push("may not attend");
        if (matrices.some(unknown))
            said.push("in a map, what is unknown or has no part in the prediction");
        return said.length ? `; hatched: ${said.join("; ")}` : "";
    };
    const legend = () => {
        const {list} = l;
        const many = heed.severalInputs() ? "a head and a measure have one scale on all inputs"
                                          : "a head has one scale at all steps";
        const scales = heed.data.records.length > 1 ? `${many}, written under each panel`
                                                    : "each panel's scale is written under it";
        const shares = list.filter((p) => pictured(p) && !p.signed && !p.group);
        const marks = list.some((p) => p.values.uniform) ? "; mark: the uniform weight" : "";
        if (list.every(pictured) && shares.length)
            return heed.legend(
                "attention: shares of a row's attention (1 = 100 %); colour where it is above " +
                    "uniform; other measures: the scale under each panel",
                0, shares[0].top, heed.color, {uniform: shares[0].values.uniform});
        return heed.legend(
            `${scales}; weights are shares of a row's attention (1 = 100 %)` + marks +
                hatching(list),
            0, "end", heed.color);
    };
    const under = (x, y) => {
        for (const p of l.list) {
            const at = pictured(p) ? patchAt(p, x, y) : heed.matrixAt(p, p.l, x, y);
            if (at && at.key >= 0 && x >= p.x && x < p.x + p.each) return {p, ...at};
        }
        return null;
    };
    /* Only weights and maps over the block's own axes choose a query. */
    const place = (u) => {
        const {queries, keys} = heed.block();
        return u && u.p.queries === queries ? {query: u.query, key: u.p.keys === keys ? u.key : -1}
                                            : null;
    };
    const tip = ({p, query, key}) => {
        const at = `row ${heed.nth(query)} ${heed.quote(p.queries, query)}, ${heed.nth(key)} ` +
            `${heed.quote(p.keys, key)}`;
        return [p.name, `${at}: ${heed.number(p.value(query, key))}`, p.of, p.help].filter(Boolean);
    };

    const stop = () => { clearInterval(timer); timer = 0; player.textContent = "Play"; };
    const play = () => {
        if (timer) return stop();
        player.textContent = "Stop";
        timer = setInterval(() => {
            if (heed.state.view !== "compare") return stop();
            heed.update({record: (heed.state.record + 1) % heed.data.records.length});
        }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 2000 : 700);
    };
    const stepName = (i) =>
        (heed.data.records[i].step >= 0 && !heed.severalInputs() ? "after " : "") +
        heed.stepName(i);

    heed.view({
        id: "compare",
        title: "Compare",
        help: "attention beside rollout, occlusion and gradient; the same head over the steps of " +
            "training, on several inputs, or of several models",
        uses: ["layer", "head", "scale", "special", "side"],
        available: (data) =>
            data.records.length > 1 || data.records.some((r) => r.blocks.length && r.maps.length),
        open(box) {
            const last = heed.data.records.length - 1;
            player = heed.el("button", {type: "button", text: "Play", onclick: play});
            const slider = heed.bind("record", "Training", {range: [0, last, 1], say: stepName});
            const when = heed.el("div", {class: "tools"}, slider.box, player);
            when.hidden = last < 1 || heed.severalInputs();
            this.canvas = heed.canvas("maps over the same tokens", {
                move(x, y, e) {
                    const u = under(x, y);
                    heed.preview(place(u));
                    heed.tip(u && tip(u), e);
                },
                click(x, y) {
                    const p = place(under(x, y));
                    if (p) heed.lock(p.query, p.key);
                },
                leave: () => heed.preview(null),
            });
            scroll = heed.el("div", {class: "scroll whole"}, this.canvas);
            box.append(when, scroll);
        },
        layout,
        panels: () => l.list,
        paint: (pen) => l.list.forEach((p) => paintPanel(pen, p)),
        caption: () => (heed.data.records.length > 1 ? stepName(heed.state.record) + ": " : "") +
            heed.selectionText(),
        legend,
        table() {
            const at = heed.selected(), {queries, keys} = heed.block();
            const same = panels().filter((p) => p.queries === queries && p.keys === keys);
            const cells =
                (p, q, k) => [p.name, ...heed.placeCells(p.queries, q, p.keys, k), p.value(q, k)];
            const every = () =>
                panels().flatMap((p) => p.rows.flatMap((q) => p.cols.map((k) => cells(p, q, k))));
            const row = (k) =>
                [`${heed.nth(k)} ${heed.token(keys, k)}`,
                 ...same.map((p) => heed.number(p.value(at.query, k)))];
            return {
                caption: `Row ${heed.nth(at.query)} ${heed.quote(queries, at.query)} in each map`,
                head: ["key", ...same.map((p) => p.name)], rows: heed.visible(keys).map(row),
                all: () => [["map", ...heed.placeColumns, "value"], ...every()],
            };
        },
    });
})();

/* compare.js -- the Compare view: the weights beside rollout, occlusion, gradient and whatever else
 * the records hold over the same tokens; and, where there are several records, the same head over
 * the steps of training. */
"use strict";
{
    let scroll, player, l, timer = 0;
    const GAP = 28, SMALL = {size: 12}, BOLD = {size: 14, weight: 600};

    /* ---- what is beside one another ---- */

    /* Rows of which something is known: an occlusion tells of the answer's row alone. */
    const known = (m, {keys}, rows) => {
        const some = rows.filter((q) => keys.order.some((k) => !Number.isNaN(m.at(q, k))));
        return some.length ? some : rows;
    };
    const panel = (values, axes, more, top = heed.scaleOf(values)) => {
        const rows = known(values, axes, heed.visible(axes.queries)), record = heed.record();
        return heed.matrixOf(values, axes, top, {rows, plain: true, values, record, ...more});
    };
    /* Where no query of a block may look, and, of a map over it, where nothing is known. */
    const open = (b, unknown = () => false) => ({
        masks: heed.hatched(b), void: (q, k) => heed.masked(b, q, k) || unknown(q, k),
        hatched: heed.hatched(b),
    });
    /* Which predictions a map is of; "": it is of none, or its help says of which. */
    const predictions = (r, m, values) => {
        if (m.layer >= 0 || !/^(occlusion|gradient)/.test(m.name)) return "";
        const all = m.queries.order, rows = known(values, m, all),
              names = rows.map((q) => heed.placed(m.queries, q, 12)).join(", ");
        if (rows.length < all.length)
            return `Of the prediction at ${heed.cut(names, 60)}; other positions have none.`;
        return r.guesses.some((g) => g.axis === m.queryAxis && g.query < 0)
            ? "All rows show their effect on the same prediction."
            : "Each row shows the effect on the prediction at its position.";
    };
    const indexOf = (r) => heed.data.records.indexOf(r);
    const differences = new Map();
    /* The weights of a head of this record minus those of the other, of tokens that have a
     * counterpart; NaN of others. */
    const difference = (b, like, how) => heed.once(differences, [b.id, like.id, how].join(), () => {
        const here = heed.weights(b, how), there = heed.weights(like, how), {cols} = here;
        const places = (axis) => heed.math.counterparts(b[axis].labels, like[axis].labels),
              to = places("queries"), from = b.queries === b.keys ? to : places("keys");
        const data = here.data.map((w, i) => {
            const q = to[Math.floor(i / cols)], k = from[i % cols];
            return q >= 0 && k >= 0 ? w - there.at(q, k) : NaN;
        });
        const most = data.reduce((x, w) => Math.max(x, Math.abs(w) || 0), 1e-9);
        return {
            min: -most, max: most, below: true, at: (q, k) => data[q * cols + k],
            some: [...to, ...from].includes(-1),
        };
    });
    /* The same head on the other inputs, on one scale, and what the head gives more or less here
     * than there. */
    const others = (b, how) => heed.data.records.flatMap((r, i) => {
        const like = r === heed.record() ? null : heed.layerIn(r, b, how);
        if (!like) return [];
        const guess = r.guesses.find((x) => x.tokens.length), [token, p] = guess?.tokens[0] ?? [],
              name = heed.stepName(i), m = difference(b, like, how),
              where = heed.severalModels() ? "of this model" : "on this input";
        const answer = guess
            ? `; ${guess.says}: ${heed.quoted(token)} ${heed.probability(p)}`
            : "";
        const gone = m.some ? "; hatched: a token that has no counterpart there" : "";
        return [
            panel(heed.weights(like, how), like, {
                name, record: r, help: `the same head ${where}${answer}`, beside: true,
                ...open(like),
            }),
            panel(m, b, {
                name: `difference to ${name}`,
                help: `the weights of ${heed.stepName(indexOf(heed.record()))} minus those of ` +
                    `${name}: orange is above 0, blue below${gone}`,
                ...open(b, (q, k) => Number.isNaN(m.at(q, k))), hatched: m.some || heed.hatched(b),
                rows: heed.visible(b.queries),
            }),
        ];
    });
    /* A measure of this input, and beside it the same one of the others, on one scale. */
    const measures = (b, m, several) => {
        const own = {r: heed.record(), b, m},
              place = (x) => [x.name, x.layer, x.head, x.stack].join();
        const rest = heed.data.records.filter((r) => several && r !== own.r).map((r) => ({
            r, b: heed.layerIn(r, b, heed.state.head), m: r.maps.find((x) => place(x) === place(m)),
        }));
        const all = [own, ...rest.filter((x) => x.b && x.m)],
              top = Math.max(...all.map((x) => heed.scaleOf(heed.mapValues(x.m))));
        const group = m.name + (m.layer < 0 ? "" : `, layer ${m.layer + 1}`) +
            (m.head < 0 ? "" : `, head ${m.head + 1}`);
        return all.map(({r, b: at, m: map}) => {
            const values = {...heed.mapValues(map), uniform: m.name === "rollout" ? at.uniform : 0},
                  over = map.queries === at.queries && map.keys === at.keys;
            /* A row of a head's gradient that leads nowhere is no weak one. */
            const none = new Set(map.queries.order.filter(
                (q) => map.layer >= 0 && map.keys.order.every((k) => values.at(q, k) === 0)));
            const unknown = (q, k) => none.has(q) || Number.isNaN(values.at(q, k)),
                  unseen = (q, k) => unknown(q, k) || (over && heed.masked(at, q, k));
            return panel(values, map, {
                name: group + (several ? `: ${heed.stepName(indexOf(r))}` : ""), group,
                help: map.help, of: predictions(r, map, values), record: r, beside: r !== own.r,
                hatched: true, unknown, masks: over && heed.hatched(at), void: unseen,
            }, top);
        });
    };
    /* The maps over the block's tokens, of the whole model, and of the layer and head at hand. What
     * was asked for is seen at once: measures of a single row come before matrices, and of several
     * inputs before attention. */
    const panels = () => {
        const b = heed.block(), {head, record} = heed.state, several = heed.severalInputs(),
              of = several ? `${heed.severalModels() ? "Model" : "Input"} ${record + 1}: ` : "";
        const meaning = {
            mean: "the mean of the weights of all heads", max: "the largest weight of any head",
        };
        const weights = (how) => panel(heed.weights(b, how), b, {
            name: `attention, layer ${b.layer + 1}, ${heed.headName(how)}`,
            help: of + (meaning[how] ?? "the weights of this head"), ...open(b),
        });
        const maps = heed.record().maps
            .filter((m) => (m.queries === b.queries || m.keys === b.keys) &&
                        (m.layer < 0 || (m.layer === b.layer && m.stack === b.stack)) &&
                        (m.head < 0 || m.head === head))
            .flatMap((m) => measures(b, m, several))
            .sort((x, y) => (x.rows.length > 1) - (y.rows.length > 1));
        if (several) return [...maps, weights(head), ...others(b, head)];
        return [
            weights(head), ...maps,
            ...(b.heads.length > 1 && head !== "mean" ? [weights("mean")] : []),
        ];
    };

    /* ---- where ---- */

    /* What is over the patches of a picture is drawn over the picture, for the chosen row. */
    const pictured = (p) => Boolean(p.keys.grid && p.record.picture);
    /* What is chosen is a place of the block's axes: a panel over others, of targets where those
     * are sources, has none. */
    const chosenIn = (p) => {
        const b = heed.block(), at = heed.selected(),
              has = (axis, own) => axis === own || (p.beside && axis.count === own.count);
        return {
            query: has(p.queries, b.queries) ? at.query : -1,
            key: has(p.keys, b.keys) ? at.key : -1,
        };
    };
    const rowOf = (p) => (p.rows.includes(chosenIn(p).query) ? chosenIn(p).query : p.rows[0]);
    const pictureLayout = (p, each) => {
        const {width, height} = p.record.picture, wide = Math.min(each, 260),
              high = Math.round((wide * height) / width);
        return {left: 0, top: 0, width: wide, height: high, low: high, g: p.keys.grid};
    };
    /* Over pictures the weights have one scale, as in the Picture view, and each measure has one
     * for all inputs. */
    const scaleOver = (list) => {
        const kind = (p) => p.group || (p.signed ? p.name : p.values.own ? p.values.of[1] : "");
        const ends = list.map((p) => p.signed ? heed.ownEnd(p.values, rowOf(p), p)
                                              : heed.topOver(p.values, rowOf(p)));
        for (const p of list)
            p.top = Math.max(...ends.filter((_, i) => kind(list[i]) === kind(p))) || 1;
    };
    /* Panels are in rows, and what those of a row draw begins at one height, so that they can be
     * compared; of several inputs each measure begins a row. Above a panel are its name, and what
     * is said of it in at most six lines. */
    const layout = () => {
        const width = heed.widthIn(scroll), list = panels(), rows = [],
              least = list.every(pictured) ? 210 : 320,
              room = Math.max(1, Math.floor((width + GAP) / (least + GAP))),
              columns = Math.min(list.length, room),
              each = Math.floor((width - GAP * (columns - 1)) / columns);
        scaleOver(list.filter(pictured));
        list.forEach((p, i) => {
            const next = heed.severalInputs() && p.group !== list[i - 1]?.group,
                  help = p.help.charAt(0).toUpperCase() + p.help.slice(1);
            p.title = heed.lines(p.name, each, BOLD, 2);
            p.said = [
                ...(p.of ? heed.lines(p.of, each, SMALL, 2) : []),
                ...heed.lines(help, each, SMALL, 4),
            ];
            p.inner = pictured(p) ? pictureLayout(p, each) : heed.matrixLayout(p, each, 0, 380);
            if (!i || next || rows.at(-1).length === columns) rows.push([]);
            rows.at(-1).push(p);
        });
        let y = 0;
        for (const row of rows) {
            const heads = row.map((p) => 12 + 18 * p.title.length + 16 * p.said.length),
                  top = y + Math.max(...heads);
            row.forEach((p, i) => Object.assign(p, {x: i * (each + GAP), y, begin: top, each}));
            y = top + Math.max(...row.map((p) => p.inner.height)) + 26 + GAP;
        }
        l = {list, width, height: y - GAP};
        return l;
    };
    /* The place of a panel that is at a point. Only weights and maps over the block's own axes
     * choose a query. */
    const under = (x, y) => {
        const {queries, keys} = heed.block();
        for (const p of l.list) {
            const dx = x - p.x, dy = y - p.begin;
            if (dx < 0 || dx >= p.each) continue;
            const at = pictured(p) ? {query: rowOf(p), key: heed.patchAt(p.inner, dx, dy)}
                                   : heed.matrixAt(p, p.inner, dx, dy);
            if (at?.key >= 0)
                return {
                    p, at, query: p.queries === queries ? at.query : -1,
                    key: p.keys === keys ? at.key : -1,
                };
        }
        return null;
    };

    /* ---- drawing ---- */

    /* A scale has a part below 0 only if there is a value. */
    const paintLegend = (pen, p) => {
        const y = p.inner.low + (pictured(p) ? 14 : 6), x = p.inner.left, {values, top} = p,
              color = values.below ? (t) => heed.signed(2 * t - 1)
                  : p.signed       ? heed.signed
                                   : heed.color;
        heed.paintRamp(pen, x, y, 90, 8, color, values.uniform && values.uniform / top);
        const own = pictured(p)
            ? `; largest ${heed.number(heed.largestOver(values, rowOf(p), p))}`
            : heed.isAbove(values, top) ? " and more" : "";
        pen.text(
            `${values.below ? "±" : "0 to "}${heed.number(top)}${own}`, x + 98, y + 4,
            {size: 11, color: heed.theme.muted, width: p.each - 98});
    };
    const paintPanel = (pen, p) => {
        const style = {...SMALL, color: heed.theme.muted, width: p.each}, low = 18 * p.title.length,
              {width: w, height: h} = p.inner;
        p.title.forEach(
            (line, i) => pen.text(line, p.x, p.y + 10 + 18 * i, {...BOLD, width: p.each}));
        p.said.forEach((line, i) => pen.text(line, p.x, p.y + 11 + low + 16 * i, style));
        pen.group(p.x, p.begin, () => {
            if (pictured(p))
                heed.overPicture(
                    pen, p.values, rowOf(p), {x: 0, y: 0, w, h}, p.top, p.keys.grid,
                    p.record.picture);
            else heed.paintMatrix(pen, p, p.inner, chosenIn(p));
            paintLegend(pen, p);
        });
    };
    /* What hatching means in the matrices that are drawn; pictures have none. */
    const hatching = (list) => {
        const matrices = list.filter((p) => !pictured(p)),
              gaps = (p) => p.unknown && p.rows.some((q) => p.cols.some((k) => p.unknown(q, k)));
        const said = [
            matrices.some((p) => p.masks) && "may not attend",
            matrices.some(gaps) && "in a map, what is unknown or has no part in the prediction",
        ].filter(Boolean);
        return said.length ? `; hatched: ${said.join("; ")}` : "";
    };
    const legend = () => {
        const shares = l.list.filter((p) => pictured(p) && !p.signed && !p.group);
        if (l.list.every(pictured) && shares.length)
            return heed.legend(
                "attention: shares of a row's attention (1 = 100 %); colour where it is above " +
                    "uniform; other measures: the scale under each panel",
                0, shares[0].top, heed.color, {uniform: shares[0].values.uniform});
        const scales = heed.data.records.length < 2 ? "each panel's scale is written under it"
            : heed.severalInputs()
            ? "a head and a measure have one scale on all inputs, written under each panel"
            : "a head has one scale at all steps, written under each panel";
        const marks = l.list.some((p) => p.values.uniform) ? "; mark: the uniform weight" : "";
        return heed.legend(
            `${scales}; weights are shares of a row's attention (1 = 100 %)${marks}` +
                hatching(l.list),
            0, "end", heed.color);
    };
    const tip = ({p, at: {query, key}}) => [
        p.name,
        `row ${heed.placed(p.queries, query)}, ${heed.placed(p.keys, key)}: ` +
            `${heed.number(p.value(query, key))}`,
        p.of, p.help,
    ];

    /* ---- the view ---- */

    const stop = () => {
        clearInterval(timer);
        timer = 0;
        player.textContent = "Play";
    };
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
        id: "compare", title: "Compare",
        help: "attention beside rollout, occlusion and gradient; the same head over the steps of " +
            "training, on several inputs, or of several models",
        uses: ["layer", "head", "scale", "special", "side"],
        available: (data) =>
            data.records.length > 1 || data.records.some((r) => r.blocks.length && r.maps.length),
        open(box) {
            const last = heed.data.records.length - 1;
            player = heed.el("button", {type: "button", text: "Play", onclick: play});
            const when = heed.tools(
                heed.bind("record", "Training", {range: [0, last, 1], say: stepName}),
                {box: player});
            when.hidden = last < 1 || heed.severalInputs();
            this.canvas = heed.choiceCanvas("maps over the same tokens", under, tip);
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
            const at = heed.selected(), {queries, keys} = heed.block(), all = panels(),
                  same = all.filter((p) => p.queries === queries && p.keys === keys);
            const cells = (p, q) => p.cols.map(
                (k) => [p.name, ...heed.placeCells(p.queries, q, p.keys, k), p.value(q, k)]);
            return {
                caption: `Row ${heed.placed(queries, at.query)} in each map`,
                head: ["key", ...same.map((p) => p.name)],
                rows: heed.visible(keys).map((k) => [
                    `${heed.nth(k)} ${heed.token(keys, k)}`,
                    ...same.map((p) => heed.number(p.value(at.query, k))),
                ]),
                all: () => [
                    ["map", ...heed.placeColumns, "value"],
                    ...all.flatMap((p) => p.rows.flatMap((q) => cells(p, q))),
                ],
            };
        },
    });
}

/* qk.js -- the Q.K view: one query against one key, unit by unit, then the scale, the mask and the
 * softmax over the row. Of the additive form (Bahdanau et al. 2015) a unit adds v tanh(q + k) in
 * place of q k; what the page calls q is W s there, k is U h. It computes from the halves of q and
 * k that the page keeps, and says how near it comes to the model's own weight. */
"use strict";
{
    let units, bars, scroll, flow, head;
    const UNIT = 30, LABEL = 84, ROW = 20;

    /* The chosen query, key and head, and the row as the page computes it: products, scores,
     * weights; and of the key what each unit adds, the lines that are drawn, the sum last. */
    const compute = () => {
        const b = heed.block(), {query, key: chosen} = heed.selected(), {head: asked} = heed.state,
              h = typeof asked === "number" ? asked : b.heads[0], m = heed.weights(b, h);
        const best = b.keys.order.reduce((x, k) => (m.at(query, k) > m.at(query, x) ? k : x), 0),
              key = chosen < 0 ? best : chosen, align = b.align?.[b.heads.indexOf(h)],
              beta = b.beta || 1 / Math.sqrt(b.width), turned = b.rotary ? " rotated" : "",
              own = heed.vectors(b, h, "q")(query), vector = heed.vectors(b, h, "k"),
              other = vector(key), {sum, shares: sharesOf} = heed.math;
        const dots = b.keys.order.map((j) => sum(sharesOf(own, vector(j), align))),
              scores = dots.map((x, j) => (heed.masked(b, query, j) ? -Infinity : beta * x)),
              shares = sharesOf(own, other, align);
        const made = align
            ? [["W s", own], ["U h", other],
               ["tanh of both", sharesOf(own, other, own.map(() => 1))], ["v", align],
               ["v × tanh", shares]]
            : [["q" + turned, own], ["k" + turned, other], ["q × k", shares]];
        const lines = made.map(
            ([name, values]) => ({name, values, most: Math.max(1e-9, ...values.map(Math.abs))}));
        lines[0].most = lines[1].most = Math.max(lines[0].most, lines[1].most);
        return {
            b, h, query, key, beta, dots, scores, lines, own: m.at(query, key),
            weights: heed.math.choose(scores, b.hard), hidden: (j) => scores[j] === -Infinity,
            name: align ? "v·tanh(W s + U h)" : "q·k",
        };
    };
    const layout = (p) => {
        const width = heed.widthIn(scroll, 280),
              per = Math.max(1, Math.floor((width - LABEL - 8) / UNIT)),
              high = p.lines.length * 24 + 34;
        return {width, per, high, height: Math.ceil(p.b.width / per) * high};
    };
    const short = (v) => v.toFixed(Math.abs(v) < 10 ? 1 : 0).replace(/^-0\.0$/, "0.0")
        .replace("-", "−");
    const paintUnits = (pen, p) => {
        const {per, high} = layout(p), {muted} = heed.theme;
        for (let i = 0; i < p.b.width; i++) {
            const x = LABEL + (i % per) * UNIT, y = 4 + Math.floor(i / per) * high,
                  middle = {size: 10, align: "center"};
            pen.text(String(heed.nth(i)), x + UNIT / 2, y + 9, {...middle, color: muted});
            p.lines.forEach(({name, values, most}, r) => {
                const color = heed.signed(values[i] / most), low = y + 19 + r * 24;
                if (i % per === 0)
                    pen.text(name, LABEL - 8, low + 11, {size: 12, align: "right", color: muted});
                pen.rect(x, low, UNIT - 1, 23, {fill: heed.css(color)});
                pen.text(
                    short(values[i]), x + UNIT / 2, low + 12, {...middle, color: heed.ink(color)});
            });
        }
    };
    /* A line per key: its dot product, score and weight. */
    const paintKeys = (pen, p) => {
        const {width} = layout(p), far = Math.max(1e-9, ...p.dots.map(Math.abs)),
              name = Math.min(150, width * 0.3), a = name + 40, span = (width - a - 150) / 2,
              {muted, line, accent} = heed.theme, number = {size: 11, align: "right", color: muted};
        [p.name, "weight"].forEach(
            (text, i) => pen.text(text, a + i * (span + 75) + 4, 10, {size: 11, color: muted}));
        heed.visible(p.b.keys).forEach((k, j) => {
            const y = 20 + j * ROW, mid = y + ROW / 2, mine = k === p.key, dot = p.dots[k] / far,
                  long = (Math.abs(dot) * span) / 2;
            const bar = (x, w, color) => pen.rect(
                x, y + 4, w, ROW - 8, {fill: heed.css(color), stroke: line, width: 0.5});
            if (mine) pen.rect(0, y, width, ROW, {fill: accent, alpha: 0.13});
            pen.text(String(heed.nth(k)), 4, mid, {size: 10, color: muted});
            pen.text(heed.token(p.b.keys, k), 34, mid, {weight: mine ? 700 : 400, width: name});
            bar(a + span / 2 - (dot < 0 ? long : 0), Math.max(1, long), heed.signed(dot));
            const said = p.hidden(k) ? "masked" : heed.number(p.dots[k], 2);
            pen.text(said, a + span + 66, mid, number);
            bar(a + span + 75, p.weights[k] * span, heed.color(0.35 + 0.65 * p.weights[k]));
            pen.text(heed.weight(p.weights[k]), width - 6, mid, number);
        });
    };
    const drawFlow = (p) => {
        const dot = p.dots[p.key], weight = p.weights[p.key], masked = p.hidden(p.key);
        const stages = [
            ["sum over the units", heed.number(dot), p.name],
            ["scale", heed.number(p.beta * dot), `times β = ${heed.number(p.beta, 4)}`],
            ["mask", heed.number(p.scores[p.key]), masked ? "this key may not be seen" : "allowed"],
            p.b.hard ? ["hard selection", heed.weight(weight), "1 at the largest score of the row"]
                     : ["softmax", heed.weight(weight), "e^score over the row's sum"],
            ["the model's own", heed.weight(p.own),
             Math.abs(p.own - weight) < 0.01 ? "agrees"
                                             : "differs: a bias or another rule takes part here"],
        ];
        const small = (text) => heed.el("span", {class: "muted small", text});
        flow.replaceChildren(...stages.map(([title, value, note]) => heed.el(
            "li", {}, small(title), heed.el("strong", {text: value}), small(note))));
    };
    const keyAt = (y) => heed.visible(heed.block().keys)[Math.floor((y - 20) / ROW)];
    const highBars = (p) => 26 + heed.visible(p.b.keys).length * ROW;

    heed.view({
        id: "qk", title: "Q·K",
        help: "one query against one key, unit by unit, then scale, mask and softmax",
        uses: ["layer", "head", "special", "side"],
        available: (data) => data.records.some((r) => r.blocks.some((b) => b.qk)),
        open(box) {
            head = heed.el("p", {class: "lead", dir: "auto"});
            flow = heed.el("ol", {class: "flow"});
            units = heed.canvas("query and key, unit by unit");
            bars = heed.canvas("dot product and weight of every key of the row", {
                move(x, y, e) {
                    const k = keyAt(y);
                    heed.tip(k !== undefined && heed.show(heed.block().keys.labels[k]), e);
                },
                click(x, y) {
                    if (keyAt(y) !== undefined) heed.lock(heed.selected().query, keyAt(y));
                },
            });
            scroll = heed.el("div", {class: "scroll"}, units);
            box.append(
                head, scroll, flow, heed.el("h3", {text: "The whole row: choose a key"}),
                heed.el("div", {class: "scroll"}, bars));
        },
        lacks: () => heed.block().qk ? ""
            : heed.block().additive
            ? "What this additive attention is made of is not in the page: it was written " +
                "without it. A score is v·tanh(W s + U h), no product of q and k."
            : "q and k of this layer are not in the page: it was written without them.",
        draw() {
            const p = compute(), {width, height} = layout(p), {head: asked} = heed.state,
                  part = (axis, i, what) => `${heed.quote(axis, i)} (${what} ${heed.nth(i)})`;
            head.textContent =
                `${part(p.b.queries, p.query, "query")} asks ${part(p.b.keys, p.key, "key")}` +
                (asked === p.h
                     ? ""
                     : `; head ${p.h + 1}, because a ${heed.headName(asked)} has no q and k`) +
                (p.b.rotary
                     ? "; q and k as they are compared, rotated by their places (theta " +
                         `${p.b.rotary})`
                     : "");
            heed.paint(units, width, height, (pen) => paintUnits(pen, p));
            heed.paint(bars, width, highBars(p), (pen) => paintKeys(pen, p));
            units.setAttribute("aria-label", this.caption());
            drawFlow(p);
        },
        caption() {
            const p = compute(), {queries, keys} = p.b;
            return `layer ${p.b.layer + 1}, head ${p.h + 1}: ${p.name} of ` +
                `${heed.quote(queries, p.query)} and ${heed.quote(keys, p.key)} = ` +
                `${heed.number(p.dots[p.key])}, weight ${heed.weight(p.weights[p.key])}`;
        },
        picture() {
            const p = compute(), {width, height} = layout(p);
            return {
                width, height: height + 10 + highBars(p), paint(pen) {
                    paintUnits(pen, p);
                    pen.group(0, height + 10, () => paintKeys(pen, p));
                },
            };
        },
        legend() {
            const [a, b, ...own] = compute().lines, end = (u) => `±${heed.number(u.most, 2)}`;
            return heed.legend(
                `blue below 0, orange above; ${a.name} and ${b.name} share a scale, ${end(a)}; ` +
                    `others have their own: ${own.map((u) => `${u.name} ${end(u)}`).join(", ")}`,
                "− largest", "largest", (t) => heed.signed(2 * t - 1));
        },
        table() {
            const p = compute(), {queries, keys, align} = p.b, list = heed.visible(keys),
                  more = [align ? "sum" : "qk", "score", "weight"];
            const score = (k, none, say) => (p.hidden(k) ? none : say(p.scores[k]));
            const exact = (k) =>
                [...heed.placeCells(queries, p.query, keys, k), p.dots[k], score(k, "-inf", Number),
                 p.weights[k]];
            return {
                caption: this.caption(), head: ["key", "key_token", ...more],
                rows: list.map(
                    (k) => [heed.nth(k), heed.show(keys.labels[k]), heed.number(p.dots[k]),
                            score(k, "masked", heed.number), heed.weight(p.weights[k])]),
                all: () => [[...heed.placeColumns, ...more], ...list.map(exact)],
            };
        },
    });
}

/* curves.js -- the Curves view: the loss over training, as the run's metrics hold it, and the
 * evaluation whose weights it keeps. */
"use strict";
{
    let scroll, l, near = null;
    const TOP = 20, BOTTOM = 44, LEFT = 62;

    const points = (s) => s.x.map((x, i) => [x, s.y[i]])
        .filter(([x, y]) => x !== null && y !== null && (!heed.state.logx || x > 0));
    const ticks = (lo, hi, want) => {
        const rough = (hi - lo) / want || 1, power = 10 ** Math.floor(Math.log10(rough)), out = [],
              step = power * ([1, 2, 2.5, 5].find((s) => s * power >= rough * 0.999) ?? 10);
        for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++)
            out.push(i * step);
        return out;
    };
    const decades = (lo, hi) => {
        const out = [];
        for (let e = Math.ceil(Math.log10(lo) - 1e-9); 10 ** e <= hi * 1.0001; e++)
            out.push(10 ** e);
        return out.length > 1 ? out : [lo, hi];
    };
    const names = () => ({x: heed.data.curves.x || "step", y: heed.data.curves.y || "loss"});
    const marked = (s) =>
        (s.mark && s.y[s.marked] !== null ? [s.x[s.marked], s.y[s.marked]] : null);
    const markText = (s) => {
        const [x, y] = marked(s), {x: step, y: loss} = names();
        return `${s.mark}: ${loss} ${heed.number(y, 4)}, ${step} ${heed.count(x)}`;
    };
    /* The plot, and beside it what the curves are; where that leaves no room, below it. */
    const layout = () => {
        const width = Math.min(1100, heed.widthIn(scroll, 280)), below = width < 520,
              right = below ? 20 : heed.clamp(width * 0.24, 120, 190),
              all = heed.data.curves.series.flatMap(points);
        const [xs, ys] = [0, 1].map((i) => all.map((p) => p[i])),
              [lo, hi] = [Math.min(...ys), Math.max(...ys)],
              pad = (hi - lo) * 0.05 || Math.abs(lo) * 0.05 || 0.5, x0 = Math.min(...xs),
              x1 = Math.max(...xs);
        l = {
            width, below, right, plot: heed.clamp(width * 0.5, 260, 460), x0,
            x1: x1 > x0 ? x1 : x0 + 1, y0: lo - pad, y1: hi + pad,
        };
        l.entries = entries();
        l.height = l.plot + (below ? heed.math.sum(l.entries.map((e) => e.high)) : 0);
        return l;
    };
    const fx = (x) => {
        const t = heed.state.logx ? Math.log(x / l.x0) / Math.log(l.x1 / l.x0)
                                  : (x - l.x0) / (l.x1 - l.x0);
        return LEFT + t * (l.width - LEFT - l.right);
    };
    const fy = (y) => TOP + ((l.y1 - y) / (l.y1 - l.y0)) * (l.plot - TOP - BOTTOM);
    const unmap = (px) => {
        const t = heed.clamp((px - LEFT) / (l.width - LEFT - l.right));
        return heed.state.logx ? l.x0 * (l.x1 / l.x0) ** t : l.x0 + t * (l.x1 - l.x0);
    };
    /* What is said of a curve, beside its end: its name, its last value, its mark. */
    const entry = (s, i) => {
        const said = {size: 12, color: heed.theme.muted, width: (l.below ? l.width : l.right) - 42},
              [name, ...how] = s.label.split(", "), /* "training, mean of 20 steps" */
              y = points(s).at(-1)[1];
        const last = heed.lines([`last ${heed.number(y)}`, ...how].join(", "), said.width, said, 3),
              lines = marked(s) ? [...last, ...heed.lines(markText(s), said.width, said, 4)] : last;
        return {i, s, name, last, lines, said, end: fy(y), high: 18 + 14 * lines.length};
    };
    /* Below one another, each as near to the end of its curve as the others and the edges leave
     * room. */
    const entries = () => {
        const list = heed.data.curves.series.map((s, i) => points(s).length ? entry(s, i) : [])
                         .flat().sort((a, b) => a.end - b.end);
        let free = 0, lowest = l.plot + 8;
        for (const e of list) {
            e.at = Math.max(l.below ? l.plot + 6 : e.end, free);
            free = e.at + e.high;
        }
        for (const e of l.below ? [] : [...list].reverse())
            lowest = e.at = Math.min(e.at, lowest - e.high);
        return list;
    };
    const styleOf = (i, width) => ({color: heed.css(heed.hue(i)), width, dash: heed.dash(i)});
    /* The point that is marked: a ring, so that the curve is seen to go on. */
    const ring = (pen, x, y, {color}) => {
        pen.rect(x - 4, y - 4, 8, 8, {fill: heed.css(heed.theme.surface)});
        pen.path(`M${x - 5} ${y}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0`, {stroke: color, width: 2});
    };
    const paintAxes = (pen) => {
        const {muted, line} = heed.theme, right = l.width - l.right, low = l.plot - BOTTOM,
              faint = {color: line}, middle = {size: 12, align: "center", color: muted};
        for (const y of ticks(l.y0, l.y1, 6)) {
            pen.line([[LEFT, fy(y)], [right, fy(y)]], faint);
            pen.text(heed.number(y, 2), LEFT - 8, fy(y), {...middle, align: "right"});
        }
        for (const x of heed.state.logx ? decades(l.x0, l.x1)
                                        : ticks(l.x0, l.x1, l.width > 600 ? 8 : 4)) {
            pen.line([[fx(x), low], [fx(x), low + 5]], faint);
            pen.text(heed.count(x), fx(x), low + 16, middle);
        }
        pen.text(names().x, (LEFT + right) / 2, l.plot - 8, middle);
        pen.text(names().y, 4, 8, {...middle, align: "left"});
    };
    const paintEntry = (pen, {i, s, name, last, lines, said, at}) => {
        const x = l.below ? 0 : l.width - l.right;
        pen.line([[x + 8, at], [x + 34, at]], styleOf(i, 3));
        pen.text(name, x + 40, at - 2, {size: 12, weight: 600, width: said.width});
        lines.forEach((line, n) => pen.text(line, x + 40, at + 13 + 14 * n, said));
        if (marked(s)) ring(pen, x + 21, at + 13 + 14 * last.length, styleOf(i));
    };
    const paint = (pen) => {
        paintAxes(pen);
        heed.data.curves.series.forEach((s, i) => {
            const all = points(s).map(([x, y]) => [fx(x), fy(y)]), style = styleOf(i, 2),
                  [x, y] = marked(s) ?? [];
            if (all.length > 1) pen.line(all, style);
            else for (const [u, v] of all) pen.rect(u - 3, v - 3, 6, 6, {fill: style.color});
            if (marked(s) && !(heed.state.logx && x <= 0)) ring(pen, fx(x), fy(y), style);
        });
        for (const e of l.entries) paintEntry(pen, e);
        if (near)
            pen.line(
                [[fx(near), TOP], [fx(near), l.plot - BOTTOM]],
                {color: heed.theme.muted, dash: [3, 3]});
    };
    const nearest = (s) => points(s).reduce(
        (best, p) => (Math.abs(p[0] - near) < Math.abs((best?.[0] ?? Infinity) - near) ? p : best),
        null);

    heed.view({
        id: "curves", title: "Curves", help: "the loss over training", state: {logx: false},
        available: (data) => Boolean(data.curves?.series.some((s) => s.x.length)),
        open(box) {
            this.canvas = heed.canvas("curves of training", {
                move(x, _, e) {
                    near = unmap(x);
                    const of = heed.data.curves.series.filter(nearest).map(
                        (s) => `${s.label}: ${heed.number(nearest(s)[1], 4)}`);
                    heed.tip([`${names().x} ${heed.count(Math.round(near))}`, ...of], e);
                    heed.redraw();
                },
                leave() {
                    near = null;
                    heed.redraw();
                },
            });
            scroll = heed.el("div", {}, this.canvas);
            box.append(
                heed.el("h2", {text: heed.data.curves.title || "Training"}),
                heed.tools(heed.bind("logx", "Logarithmic steps", {check: true})), scroll);
        },
        layout,
        paint,
        legend: () => null,
        caption: () => heed.data.curves.series.filter((s) => points(s).length).map((s) => {
            const [first, last] = [0, -1].map((i) => heed.number(points(s).at(i)[1]));
            return `${s.label}: ${first} at first, ${last} at last` +
                (marked(s) ? `, ${markText(s)}` : "");
        }).join("; "),
        table() {
            const head = ["curve", names().x, names().y], rows = heed.data.curves.series.flatMap(
                (s) => points(s).map((p) => [s.label, ...p]));
            const every = Math.ceil(rows.length / 200);
            return {
                caption: `Curves${every > 1 ? `: every ${every}th point; the CSV has all` : ""}`,
                head, rows: rows.filter((_, i) => i % every === 0), all: () => [head, ...rows],
            };
        },
    });
}

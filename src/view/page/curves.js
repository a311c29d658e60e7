/* curves.js -- the Curves view: the loss over training, as the run's metrics hold it, and the
 * evaluation whose weights it keeps. */
"use strict";
(() => {
    let scroll, l, near = null;
    const top = 20, bottom = 44, left = 62;

    const finite = (s) =>
        s.x.map((x, i) => [x, s.y[i]])
            .filter(([x, y]) => x !== null && y !== null && (!heed.state.logx || x > 0));
    const ticks = (lo, hi, want) => {
        const rough = (hi - lo) / want || 1, power = 10 ** Math.floor(Math.log10(rough)), out = [];
        const step =
            [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= rough * 0.999) || 10 * power;
        for (let v = Math.ceil(lo / step - 1e-9) * step; v <= hi + step * 1e-9; v += step)
            out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
        return out;
    };
    const decades = (lo, hi) => {
        const out = [];
        for (let e = Math.ceil(Math.log10(lo) - 1e-9); 10 ** e <= hi * 1.0001; e++)
            out.push(10 ** e);
        return out.length > 1 ? out : [lo, hi];
    };
    /* The plot, and beside it what the curves are; where that leaves no room, below it. */
    const layout = () => {
        const width = Math.min(1100, heed.widthIn(scroll, 280)),
              plot = Math.max(260, Math.min(460, width * 0.5)), below = width < 520;
        const right = below ? 20 : Math.min(190, Math.max(120, width * 0.24)),
              all = heed.data.curves.series.flatMap(finite);
        const xs = all.map((p) => p[0]), ys = all.map((p) => p[1]), lo = Math.min(...ys),
              hi = Math.max(...ys);
        const pad = (hi - lo) * 0.05 || Math.abs(lo) * 0.05 || 0.5;
        l = {
            width, plot, below, right,
            x0: Math.min(...xs), x1: Math.max(...xs), y0: lo - pad, y1: hi + pad
        };
        if (l.x0 === l.x1) l.x1 = l.x0 + 1;
        l.entries = entries();
        l.height = below ? plot + l.entries.reduce((sum, e) => sum + e.high, 0) : plot;
        return l;
    };
    const fx = (x) => {
        const t = heed.state.logx ? Math.log(x / l.x0) / Math.log(l.x1 / l.x0)
                                  : (x - l.x0) / (l.x1 - l.x0);
        return left + t * (l.width - left - l.right);
    };
    const fy = (y) => top + ((l.y1 - y) / (l.y1 - l.y0)) * (l.plot - top - bottom);
    const paintAxes = (pen) => {
        const c = heed.data.curves, faint = {color: heed.theme.line, width: 1},
              middle = {size: 12, align: "center", color: heed.theme.muted};
        for (const y of ticks(l.y0, l.y1, 6)) {
            pen.line([[left, fy(y)], [l.width - l.right, fy(y)]], faint);
            pen.text(
                heed.number(y, 2), left - 8, fy(y),
                {size: 12, align: "right", color: heed.theme.muted});
        }
        for (const x of heed.state.logx ? decades(l.x0, l.x1)
                                        : ticks(l.x0, l.x1, l.width > 600 ? 8 : 4)) {
            pen.line([[fx(x), l.plot - bottom], [fx(x), l.plot - bottom + 5]], faint);
            pen.text(heed.count(x), fx(x), l.plot - bottom + 16, middle);
        }
        pen.text(c.x || "step", (left + l.width - l.right) / 2, l.plot - 8, middle);
        pen.text(c.y || "loss", 4, 8, {size: 12, color: heed.theme.muted});
    };
    /* The point that is marked: a ring, so that the curve is seen to go on. */
    const circle = Array.from(
        {length: 25}, (_, i) => [Math.cos((i * Math.PI) / 12), Math.sin((i * Math.PI) / 12)]);
    const ring = (pen, x, y, color) => {
        pen.rect(x - 4, y - 4, 8, 8, {fill: heed.css(heed.theme.surface)});
        pen.line(circle.map(([c, s]) => [x + 5 * c, y + 5 * s]), {color, width: 2});
    };
    const marked = (s) =>
        (s.mark && s.y[s.marked] !== null ? {x: s.x[s.marked], y: s.y[s.marked]} : null);
    const markText = (s) => {
        const p = marked(s), {x, y} = heed.data.curves;
        if (!p) return "";
        const at = `${x || "step"} ${heed.count(p.x)}`;
        return `${s.mark}: ${y || "loss"} ${heed.number(p.y, 4)}, ${at}`;
    };
    /* What is said of a curve, beside its end: its name, its last value, its mark. */
    const entry = (s, i) => {
        const said = {size: 12, color: heed.theme.muted, width: (l.below ? l.width : l.right) - 42},
              points = finite(s), [x, y] = points[points.length - 1];
        const [name, ...how] = s.label.split(", "); /* "training, mean of 20 steps" */
        const lines =
            heed.lines([`last ${heed.number(y)}`, ...how].join(", "), said.width, said, 3);
        const marks = marked(s) ? heed.lines(markText(s), said.width, said, 4) : [];
        return {
            i, s, name, lines, marks, said, color: heed.css(heed.hue(i)), end: fy(y), x: fx(x),
            high: 18 + 14 * (lines.length + marks.length)
        };
    };
    /* Below one another, each as near to the end of its curve as the others and the edges leave
     * room. */
    const entries = () => {
        const list = heed.data.curves.series.map((s, i) => [s, i])
                         .filter(([s]) => finite(s).length)
                         .map(([s, i]) => entry(s, i));
        list.sort((a, b) => a.end - b.end);
        list.forEach((e, n) => {
            e.at =
                Math.max(l.below ? l.plot + 6 : e.end, n ? list[n - 1].at + list[n - 1].high : 0);
        });
        if (!l.below)
            list.reduceRight((lowest, e) => (e.at = Math.min(e.at, lowest - e.high)), l.plot + 8);
        return list;
    };
    const paintEntry = (pen, e) => {
        const x = l.below ? 0 : l.width - l.right;
        pen.line([[x + 8, e.at], [x + 34, e.at]], {color: e.color, width: 3, dash: heed.dash(e.i)});
        pen.text(e.name, x + 40, e.at - 2, {size: 12, weight: 600, width: e.said.width});
        [...e.lines, ...e.marks].forEach(
            (line, i) => pen.text(line, x + 40, e.at + 13 + 14 * i, e.said));
        if (e.marks.length) ring(pen, x + 21, e.at + 13 + 14 * e.lines.length, e.color);
    };
    const paint = (pen) => {
        paintAxes(pen);
        heed.data.curves.series.forEach((s, i) => {
            const points = finite(s).map(([x, y]) => [fx(x), fy(y)]), color = heed.css(heed.hue(i)),
                  p = marked(s);
            if (points.length > 1)
                pen.line(points, {color, width: 2, dash: heed.dash(i)});
            else
                for (const [x, y] of points) pen.rect(x - 3, y - 3, 6, 6, {fill: color});
            if (p && !(heed.state.logx && p.x <= 0)) ring(pen, fx(p.x), fy(p.y), color);
        });
        for (const e of l.entries) paintEntry(pen, e);
        if (near)
            pen.line(
                [[fx(near), top], [fx(near), l.plot - bottom]],
                {color: heed.theme.muted, width: 1, dash: [3, 3]});
    };
    const at = (s, x) => finite(s).reduce(
        (best, p) => (!best || Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best), null);
    const unmap = (px) => {
        const t = Math.max(0, Math.min(1, (px - left) / (l.width - left - l.right)));
        return heed.state.logx ? l.x0 * (l.x1 / l.x0) ** t : l.x0 + t * (l.x1 - l.x0);
    };

    const inWords = (s) => {
        const p = finite(s), [first, last] = [p[0], p[p.length - 1]].map((x) => heed.number(x[1]));
        const mark = marked(s) ? `, ${markText(s)}` : "";
        return `${s.label}: ${first} at first, ${last} at last${mark}`;
    };

    heed.view({
        id: "curves",
        title: "Curves",
        help: "the loss over training",
        state: {logx: false},
        available: (data) => Boolean(data.curves && data.curves.series.some((s) => s.x.length)),
        open(box) {
            this.canvas = heed.canvas("curves of training", {
                move(x, _, e) {
                    near = unmap(x);
                    const said = (s) => {
                        const p = at(s, near);
                        return p ? `${s.label}: ${heed.number(p[1], 4)}` : "";
                    };
                    heed.tip(
                        [
                            `${heed.data.curves.x || "step"} ${heed.count(Math.round(near))}`,
                            ...heed.data.curves.series.map(said)
                        ],
                        e);
                    heed.redraw();
                },
                leave() { near = null; heed.redraw(); },
            });
            const logarithmic = heed.bind("logx", "Logarithmic steps", {check: true});
            scroll = heed.el("div", {}, this.canvas);
            box.append(
                heed.el("h2", {text: heed.data.curves.title || "Training"}),
                heed.el("div", {class: "tools"}, logarithmic.box), scroll);
        },
        layout,
        paint,
        legend: () => null,
        caption: () =>
            heed.data.curves.series.filter((s) => finite(s).length).map(inWords).join("; "),
        table() {
            const head = ["curve", heed.data.curves.x || "step", heed.data.curves.y || "loss"];
            const rows = heed.data.curves.series.flatMap(
                      (s) => finite(s).map(([x, y]) => [s.label, x, y])),
                  every = Math.ceil(rows.length / 200);
            const caption =
                "Curves" + (every > 1 ? `: every ${every}th point; the CSV has all` : "");
            return {
                caption, head,
                rows: rows.filter((_, i) => i % every === 0), all: () => [head, ...rows]
            };
        },
    });
})();

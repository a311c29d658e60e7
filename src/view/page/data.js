/* data.js -- what the page holds: records as C wrote them, decoded when a view asks.
 *
 * The JSON block "meta" has records as `heed attend --json` prints them, without arrays, and how
 * their numbers are stored (src/view/page_data.c). The numbers lie beside it, a script element per
 * head, in base64 of little-endian u16: weights are u / 65535; whatever leaves [0,1] is lo + (hi -
 * lo) u / 65534 with 65535 for "unknown". Causal layers keep the triangle k <= q, row by row. q and
 * k are IEEE halves, (tokens, width). */
"use strict";
{
    /* ---- matrices: {rows, cols, data, min, max, at(q, k)} ---- */

    const words = (id) => {
        const bytes = atob(heed.id(id).textContent.trim()), out = new Uint16Array(bytes.length / 2);
        for (let i = 0; i < out.length; i++)
            out[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
        return out;
    };
    const half = (u) => {
        const sign = u & 0x8000 ? -1 : 1, exponent = (u >> 10) & 31, fraction = u & 1023;
        if (exponent === 31) return fraction ? NaN : sign * Infinity;
        return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : fraction * 2 ** -24);
    };
    const matrix = (rows, cols, data) => {
        const largest = (most, x) => (x > most ? x : most), least = (low, x) => (x < low ? x : low);
        return {
            rows, cols, data, min: data.reduce(least, 0), max: data.reduce(largest, 0),
            at: (q, k) => data[q * cols + k],
        };
    };
    const decode = (id, {queries, keys, scale, triangle}) => {
        const coded = words(id), rows = queries.count, cols = keys.count,
              data = new Float32Array(rows * cols), [lo, hi] = scale ?? [];
        const value = (u) =>
            (!scale ? u / 65535 : u === 65535 ? NaN : lo + ((hi - lo) * u) / 65534);
        for (let q = 0, i = 0; q < rows; q++)
            for (let k = 0; k < (triangle ? q + 1 : cols); k++)
                data[q * cols + k] = value(coded[i++]);
        return matrix(rows, cols, data);
    };
    const fuse = (b, how) => {
        const all = b.heads.map((h) => heed.weights(b, h)), {rows, cols, data} = all[0];
        const out = data.map(
            how === "max" ? (_, i) => all.reduce((most, m) => Math.max(most, m.data[i]), -Infinity)
                          : (_, i) => all.reduce((sum, m) => sum + m.data[i], 0) / all.length);
        return matrix(rows, cols, out);
    };
    /* As heed_record_scale in heed/view.h, of one matrix: without the first row of a causal layer,
     * which is always 1. */
    const endOf = (m, b) => m.data.subarray(b.triangle ? m.cols : 0)
        .reduce((end, w) => (w > end ? w : end), Math.min(1, 2 * b.uniform));
    const held = new Map();
    /* Of one head by its number, or of "mean" or "max" over the heads that are held. uniform: a
     * weight if all keys had the same; end: of its scale if it were drawn alone; own: that is not
     * the scale of the heads. */
    heed.weights = (b, head) => heed.once(held, `${b.id}.${head}`, () => {
        const own = typeof head !== "number",
              m = own ? fuse(b, head) : decode(`${b.id}.${head}`, b);
        return {...m, uniform: b.uniform, of: [b, head], own, end: own ? endOf(m, b) : b.end};
    });
    /* What is no share of attention can be negative, and is drawn so wherever it is shown. below:
     * some of it is. */
    heed.mapValues = (m) => heed.once(held, m.id, () => {
        const all = {...decode(m.id, m), own: true}, {least} = m,
              max = Math.max(all.max, -all.min, least);
        return isSigned(m) ? {...all, min: -max, max, least, below: all.min < 0} : all;
    });
    const isSigned = (m) => /^(occlusion|gradient)/.test(m.name);
    /* (tokens, width) of q or k of one head: the vector of a token. */
    heed.vectors = (b, head, which) => heed.once(held, [b.id, which, head].join(), () => {
        const all = Float32Array.from(words(`${b.id}.${which}.${head}`), half);
        return (i) => all.subarray(i * b.width, (i + 1) * b.width);
    });

    /* ---- scales ---- */

    /* Whether only the mean of the heads is drawn on its scale: over the steps of a training run,
     * as in `heed snapshots --png`. A single head may be far above it. */
    heed.scaledAlone = (head) =>
        head === "mean" && heed.data.records.length > 1 && !heed.severalInputs();
    /* Full scale: the largest value; of weights that of the layer's heads, or of their mean, at
     * least twice the uniform one (heed_record_scale in heed/view.h), and the same on all inputs or
     * at all steps; or 1. */
    heed.scaleOf = (m) => {
        if (heed.state.scale === "one" && m.min >= 0) return 1;
        if (!m.of) return Math.max(m.max, -m.min) || 1;
        const [b, head] = m.of, alone = heed.scaledAlone(head);
        const all = heed.data.records.flatMap((r) => heed.layerIn(r, b, head) ?? []);
        return Math.max(...all.map((x) => (alone ? heed.weights(x, head).end : x.end))) || 1;
    };
    /* Whether weights are above the end of their scale, beyond the rounding of the page's data. */
    heed.isAbove = (m, top) => m.max - top > 1e-5;

    /* ---- where things stand ---- */

    heed.record = () => heed.data.records[heed.state.record];
    const differ = (what) => heed.data.records.some((r) => r[what] !== heed.data.records[0][what]);
    heed.severalModels = () => differ("run");
    /* Whether the records are of several inputs or models rather than of the steps of a training
     * run. */
    heed.severalInputs = () =>
        differ("run") || (differ("title") && (differ("model") || !differ("step")));
    /* This layer in another record, if it has the head. */
    heed.layerIn = (r, b, head) => r.blocks.find(
        (x) => x.stack === b.stack && x.layer === b.layer &&
            (typeof head !== "number" || x.heads.includes(head)));
    heed.layers = () => heed.record()?.blocks.filter((b) => b.stack === heed.state.stack) ?? [];
    heed.block = () => heed.layers().find((b) => b.layer === heed.state.layer) ?? null;
    heed.stacks = (record = heed.record()) => [...new Set(record.blocks.map((b) => b.stack))];
    heed.matrix = () => heed.weights(heed.block(), heed.state.head);
    /* The places of an axis that are drawn: all, or those that are no special tokens. */
    heed.visible = (axis) => {
        const all = axis.order.filter((i) => !(heed.state.hide && axis.special[i]));
        return all.length ? all : axis.order;
    };
    /* "[CLS] and [SEP]": the special tokens that the record has; "": none. */
    heed.specials = () => {
        const named = heed.record().axes.flatMap(
            (a) => a.order.filter((i) => a.special[i]).map((i) => heed.token(a, i, 12)));
        const some = [...new Set(named)];
        return some.length > 3 ? "special tokens"
            : some.length > 1  ? `${some.slice(0, -1).join(", ")} and ${some.at(-1)}`
                               : some.join();
    };
    heed.masked = (b, q, k) => (b.triangle && k > q) || b.masked.has(k);
    heed.open = (b, q) => b.keys.order.filter((k) => !heed.masked(b, q, k));
    heed.hatched = (b) => b.triangle || b.masked.size > 0;
    /* What says most without being asked: over a photograph the mean of the last layer, else the
     * most concentrated head (heed__record_focus in focus.c). */
    const photograph = (b) => b.keys.grid && heed.data.records[0].picture;
    heed.naturalLayer = (layers) =>
        layers.reduce((x, b) => (photograph(b) || b.focus.score < x.focus.score ? b : x));
    heed.naturalHead = (b) => (b.heads.length > 1 && photograph(b) ? "mean" : b.focus.head);
    /* Why that head: of the layers of a stack, in a line. */
    heed.whyHead = (layers) => {
        const b = heed.naturalLayer(layers), count = layers.flatMap((x) => x.heads).length,
              least = Math.min(...layers.map((x) => x.focus.positional)), {head, score} = b.focus;
        if (count < 2 || (photograph(b) && !b.queries.grid)) return "";
        if (photograph(b))
            return "First shown: the mean of the last layer, where the class is read.";
        const among = layers.length > 1 ? ` in ${layers.length} layers` : "",
              on = heed.severalInputs() ? " on this input" : "";
        const passed =
            score < 0.5 && least < score ? " except for those that follow positions" : "";
        return `Most concentrated of ${count} heads${among}${on}${passed}: ` +
            `layer ${b.layer + 1}, head ${head + 1}.`;
    };
    heed.headName = (head) => (typeof head === "number" ? `head ${head + 1}` : `${head} of heads`);
    heed.guesses = (axis, query) =>
        heed.record().guesses.filter((g) => g.axis === axis && g.query === query);
    const even = new Map(), measured = new Map();
    /* Whether all of a head's rows of several keys are nearly uniform. */
    heed.nearlyUniform = (b, head) => heed.once(even, `${b.id}.${head}`, () => {
        const m = heed.weights(b, head), row = (q) => heed.open(b, q).map((k) => m.at(q, k)),
              rows = b.queries.order.map(row).filter((list) => list.length > 1);
        return rows.length > 0 && m.min >= 0 && rows.every(heed.math.isEven);
    });
    /* How far apart two places are: tokens apart, or patches as the crow flies; of two axes 0. */
    const distance = ({queries, keys}) => {
        const g = queries.grid,
              at = (i) => [(i - g.first) % g.cols, Math.floor((i - g.first) / g.cols)];
        if (queries !== keys) return () => 0;
        if (!g) return (q, k) => Math.abs(q - k);
        return (q, k) => {
            if (!heed.isPatch(g, q) || !heed.isPatch(g, k)) return 0;
            const [[x, y], [u, v]] = [at(q), at(k)];
            return Math.hypot(x - u, y - v);
        };
    };
    heed.isPatch = (g, i) => Boolean(g) && i >= g.first && i < g.first + g.rows * g.cols;
    heed.measures = (b, head) => heed.once(
        measured, `${b.id}.${head}`,
        () => heed.math.measures(heed.weights(b, head), b.keys.special, distance(b)));

    /* ---- reading the block ---- */

    const axisOf = (a) => {
        const {count, grid: g} = a, order = Array.from({length: count}, (_, i) => i),
              end = g && g.first + g.rows * g.cols,
              fits = g?.rows > 0 && g.cols > 0 && g.first >= 0 && end <= count;
        return {
            labels: order.map((i) => String(i + 1)), name: "", ...a, order,
            special: order.map((i) => Boolean(a.special?.[i])), grid: fits ? g : null,
        };
    };
    /* What is shown before anybody chose: the query that the first guess is about (of a causal
     * layer the last one, which says what comes next; of a caption the word that looks at one patch
     * most), else the first token. */
    const homes = new Map();
    heed.home = (b) => heed.once(homes, b.id, () => {
        const record = heed.data.records.find((r) => r.blocks.includes(b)), {queries, keys} = b;
        const asked = record.guesses.filter((g) => g.axis === b.queryAxis && g.query >= 0)
                          .map((g) => g.query);
        const words = keys.grid && queries !== keys ? asked.filter((q) => !queries.special[q]) : [];
        if (words.length) {
            const m = heed.weights(b, b.heads.length > 1 ? "mean" : b.heads[0]),
                  most = (q) => Math.max(...keys.order.map((k) => m.at(q, k)));
            return words.reduce((best, q) => (most(q) > most(best) ? q : best));
        }
        if (asked.length) return asked.at(b.triangle ? -1 : 0);
        return queries.grid && !queries.grid.first ? Math.floor(queries.count / 2) : 0;
    });
    /* Layers, heads and positions count from 1 in JSON, from 0 here; -1: of the whole model or
     * input. */
    const index = (n) => (n ?? 0) - 1;
    const recordOf = (r, stored) => {
        const axes = r.axes.map(axisOf);
        const placed = (x, more) => ({
            ...x, layer: index(x.layer), queries: axes[x.queries], keys: axes[x.keys],
            queryAxis: x.queries, ...more,
        });
        return {
            title: "", model: "", note: "", ...r, axes,
            guesses: r.guesses.map((g) => ({
                says: "", ...g, query: index(g.position),
                tokens: g.tokens.map((t) => [t.token, t.p]),
            })),
            blocks: r.blocks.map((b, i) => placed(b, {
                heads: b.heads.map(index), width: b.key, ...stored.blocks[i],
                masked: new Set(stored.blocks[i].masked),
            })),
            maps: r.maps.map(
                (m, i) => placed(m, {help: m.help ?? "", head: index(m.head), ...stored.maps[i]})),
            picture: r.picture ? {...r.picture, id: "p" + stored.picture} : null,
        };
    };
    heed.readData = () => {
        const {records, stored, ...more} = JSON.parse(heed.id("meta").textContent),
              steps = heed.id("steps-data");
        heed.data = {
            curves: null, ...more, records: records.map((r, i) => recordOf(r, stored[i])),
            steps: steps ? JSON.parse(steps.textContent) : null,
        };
    };
}

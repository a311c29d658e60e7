/* data.js -- what the page holds: records as C wrote them, decoded when a view asks.
 *
 * The JSON block "meta" has records as `heed attend --json` prints them
 * (src/record/record_json.c), without arrays, and how their numbers are stored
 * (src/view/page_data.c). The numbers lie beside it, a script element per head, in base64 of
 * little-endian u16: weights are u / 65535; whatever leaves [0,1] is lo + (hi - lo) u / 65534 with
 * 65535 for "unknown". Causal layers keep the triangle k <= q, row by row. q and k are IEEE
 * halves, (tokens,
 * width). */
"use strict";
(() => {
    /* ---- bytes ---- */

    const words = (id) => {
        const bytes = atob(heed.id(id).textContent.trim()),
              out = new Uint16Array(bytes.length >> 1);
        for (let i = 0; i < out.length; i++)
            out[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
        return out;
    };
    const value = (scale) => scale
        ? (u) => (u === 65535 ? NaN : scale[0] + ((scale[1] - scale[0]) * u) / 65534)
        : (u) => u / 65535;
    const half = (u) => {
        const sign = u & 0x8000 ? -1 : 1, exponent = (u >> 10) & 31, fraction = u & 1023;
        if (exponent === 31) return fraction ? NaN : sign * Infinity;
        return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : fraction * 2 ** -24);
    };

    /* ---- matrices: {rows, cols, data, min, max}, of weights also {uniform}; the latest ones are
     * kept ---- */

    const cache = new Map(), capacity = 24e6; /* numbers */
    let held = 0;
    const kept = (id, make) => {
        const old = cache.get(id), m = old || make();
        if (old) cache.delete(id);
        else held += m.data.length;
        cache.set(id, m); /* as the latest */
        for (const [first, other] of cache) {
            if (held <= capacity || first === id) break;
            cache.delete(first);
            held -= other.data.length;
        }
        return m;
    };
    const finish = (rows, cols, data) => {
        let max = 0, min = 0;
        for (let i = 0; i < data.length; i++) {
            const x = data[i];
            if (x > max) max = x;
            else if (x < min) min = x;
        }
        return {rows, cols, data, min, max, at: (q, k) => data[q * cols + k]};
    };
    const decode = (id, rows, cols, scale, triangle) => {
        const coded = words(id), read = value(scale), data = new Float32Array(rows * cols);
        for (let q = 0, i = 0; q < rows; q++)
            for (let k = 0; k < (triangle ? q + 1 : cols); k++)
                data[q * cols + k] = read(coded[i++]);
        return finish(rows, cols, data);
    };
    const fuse = (b, how) => {
        const first = heed.weights(b, b.heads[0]), out = Float32Array.from(first.data);
        for (const h of b.heads.slice(1)) {
            const more = heed.weights(b, h).data;
            if (how === "max")
                for (let i = 0; i < out.length; i++) out[i] = Math.max(out[i], more[i]);
            else for (let i = 0; i < out.length; i++) out[i] += more[i];
        }
        if (how === "mean") for (let i = 0; i < out.length; i++) out[i] /= b.heads.length;
        return finish(first.rows, first.cols, out);
    };
    /* As heed_record_scale in heed/view.h, of one matrix: without the first row of a causal layer,
     * which is always 1. */
    const endOf = (m, b) => {
        const rows = m.data.subarray(b.triangle ? m.cols : 0);
        return rows.reduce((end, w) => (w > end ? w : end), Math.min(1, 2 * b.uniform));
    };
    /* Of one head by its number, or of "mean" or "max" over the heads that are held. uniform: a
     * weight if all keys had the same; end: of its scale if it were drawn alone. */
    heed.weights = (b, head) => kept(`${b.id}.${head}`, () => {
        const fused = head === "mean" || head === "max";
        const m = fused
            ? fuse(b, head)
            : decode(`${b.id}.${head}`, b.queries.count, b.keys.count, b.scale, b.triangle);
        return {
            ...m, uniform: b.uniform, of: [b, head], own: fused, end: fused ? endOf(m, b) : b.end
        };
    });
    /* Whether only the mean of the heads is drawn on its scale: over the steps of a training run,
     * as in `heed snapshots --png`. A single head may be far above it. */
    heed.scaledAlone = (head) =>
        head === "mean" && heed.data.records.length > 1 && !heed.severalInputs();
    /* Where the scale of a layer's heads ends (heed_record_scale in heed/view.h), or that of their
     * mean, on any of the inputs or at any of the steps. */
    heed.scaleEnd = (b, head) => Math.max(...heed.alike(b, head).map(
        (x) => (heed.scaledAlone(head) ? heed.weights(x, head).end : x.end)));
    /* Whether weights are above the end of their scale, beyond the rounding of the page's data. */
    heed.isAbove = (m, top) => m.max - top > 1e-5;
    /* What is no share of attention can be negative, and is drawn so wherever it is shown. below:
     * some of it is. own: its scale is not that of the heads. */
    heed.mapValues = (m) => kept(m.id, () => {
        const values = decode(m.id, m.queries.count, m.keys.count, m.scale, false),
              signed = /^(occlusion|gradient)/.test(m.name), {least} = m,
              max = Math.max(values.max, -values.min, least);
        const all = {...values, own: true};
        return signed ? {...all, min: -max, max, least, below: values.min < 0} : all;
    });
    /* (tokens, width) of q or k of one head. */
    heed.vectors = (b, head, which) => {
        const id = `${b.qk}.${which}.${head}`,
              rows = which === "q" ? b.queries.count : b.keys.count;
        return kept(id, () => finish(rows, b.width, Float32Array.from(words(id), half)));
    };

    /* ---- where things stand ---- */

    heed.record = () => heed.data.records[heed.state.record];
    /* Whether the records are of several models. */
    const differ = (what) => heed.data.records.some((r) => r[what] !== heed.data.records[0][what]);
    heed.severalModels = () => differ("run");
    /* Whether the records are of several inputs or models rather than of the steps of a training
     * run. */
    let several;
    heed.severalInputs = () => (several ??= heed.severalModels() ||
        (differ("title") && (differ("model") || !differ("step"))));
    /* This layer in all records that have the head. */
    heed.alike = (b, head) => heed.data.records.flatMap((r) => heed.layerIn(r, b, head) || []);
    heed.layerIn = (r, b, head) => r.blocks.find(
        (x) => x.stack === b.stack && x.layer === b.layer &&
            (typeof head !== "number" || x.heads.includes(head)));
    heed.layers = () =>
        (heed.record() ? heed.record().blocks.filter((b) => b.stack === heed.state.stack) : []);
    heed.block = () => heed.layers().find((b) => b.layer === heed.state.layer) || null;
    heed.stacks = (record) => [...new Set(record.blocks.map((b) => b.stack))];
    heed.matrix = () => heed.weights(heed.block(), heed.state.head);
    /* The places of an axis that are drawn: all, or those that are no special tokens. */
    heed.visible = (axis) => {
        const all = heed.state.hide ? axis.order.filter((i) => !axis.special[i]) : axis.order;
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
    heed.hides = (axis) =>
        heed.state.hide && axis.special.some(Boolean) && heed.visible(axis).length < axis.count;
    heed.masked = (b, q, k) => (b.triangle && k > q) || b.masked.has(k);
    /* What each weight of a query would be if all were equal. */
    heed.uniformOf = (b, q) =>
        1 / Math.max(1, b.keys.order.filter((k) => !heed.masked(b, q, k)).length);
    heed.hatched = (b) => b.triangle || b.masked.size > 0;
    /* What says most without being asked: over a photograph the mean of the last layer, else the
     * most concentrated head (heed_record_focus in heed/view.h). */
    const photograph = (b) => b.keys.grid && heed.data.records[0].picture;
    heed.naturalLayer = (layers) =>
        layers.reduce((x, b) => (photograph(b) || b.focus.score < x.focus.score ? b : x));
    heed.naturalHead = (b) => (b.heads.length > 1 && photograph(b) ? "mean" : b.focus.head);
    /* Why that head: of the layers of a stack, in a line. */
    heed.whyHead = (layers) => {
        const b = heed.naturalLayer(layers), count = layers.reduce((n, x) => n + x.heads.length, 0);
        const least = Math.min(...layers.map((x) => x.focus.positional)), {head, score} = b.focus;
        if (count < 2 || (photograph(b) && !b.queries.grid)) return "";
        if (photograph(b))
            return "First shown: the mean of the last layer, where the class is read.";
        const among = layers.length > 1 ? ` in ${layers.length} layers` : "";
        const of = `${count} heads${among}${heed.severalInputs() ? " on this input" : ""}`;
        const passed =
            score < 0.5 && least < score ? " except for those that follow positions" : "";
        return `Most concentrated of ${of}${passed}: layer ${b.layer + 1}, head ${head + 1}.`;
    };
    heed.headName = (head) =>
        (head === "mean"      ? "mean of heads"
             : head === "max" ? "max of heads"
                              : `head ${head + 1}`);
    heed.guesses = (axis, query) =>
        heed.record().guesses.filter((g) => g.axis === axis && g.query === query);

    /* ---- of a head, a number ---- */

    /* How far apart two places are: tokens apart, or patches as the crow flies. */
    const distance = (b) => {
        const a = b.queries, c = b.keys;
        if (a !== c) return null;
        if (!a.grid) return (q, k) => Math.abs(q - k);
        const {cols, first} = a.grid, n = first + a.grid.rows * cols;
        return (q, k) => {
            if (q < first || k < first || q >= n || k >= n) return 0;
            const dx = ((q - first) % cols) - ((k - first) % cols);
            return Math.hypot(dx, Math.floor((q - first) / cols) - Math.floor((k - first) / cols));
        };
    };
    /* Means over the queries. entropy: bits. distance: of the keys, by weight. special: share on
     * special tokens. previous: share on the token before. diagonal: on the token
     * itself. */
    const measure = (b, m) => {
        const far = distance(b), special = b.keys.special,
              out = {entropy: 0, distance: 0, special: 0, previous: 0, diagonal: 0};
        for (let q = 0, i = 0; q < m.rows; q++)
            for (let k = 0; k < m.cols; k++, i++) {
                const w = m.data[i];
                if (!(w > 0)) continue;
                out.entropy -= w * Math.log2(w);
                if (far) out.distance += w * far(q, k);
                if (special[k]) out.special += w;
                if (k === q - 1) out.previous += w;
                if (k === q) out.diagonal += w;
            }
        for (const name of Object.keys(out)) out[name] /= m.rows;
        return out;
    };
    /* How evenly n weights are spread: 2^H / n, from 1/n to 1 (heed_evenness in heed/view.h). */
    heed.evenness = (w) => {
        const sum = w.reduce((a, x) => a + (x > 0 ? x : 0), 0);
        return sum > 0 ? 2 **
                w.reduce((bits, x) => (x > 0 ? bits - (x / sum) * Math.log2(x / sum) : bits), 0) /
                w.length
                       : 0;
    };
    /* heed_nearly_uniform in heed/view.h. */
    heed.isEven = (w) => heed.evenness(w) >= 0.9 &&
        Math.max(...w) * w.length < 2 * w.reduce((a, x) => a + Math.max(0, x), 0);
    const even = heed.memory();
    /* Whether all of a head's rows are so, those of several keys. */
    heed.nearlyUniform = (b, head) => even(`${b.id}.${head}`, () => {
        const m = heed.weights(b, head), rows = [];
        for (let q = 0; q < m.rows; q++) {
            const keys =
                Array.from({length: m.cols}, (_, k) => k).filter((k) => !heed.masked(b, q, k));
            if (keys.length > 1) rows.push(heed.isEven(keys.map((k) => m.at(q, k))));
        }
        return rows.length > 0 && m.min >= 0 && rows.every(Boolean);
    });
    const measured = heed.memory();
    heed.measures = (b, head) =>
        measured(`${b.id}.${head}`, () => measure(b, heed.weights(b, head)));

    /* ---- reading the block ---- */

    const axisOf = (a) => {
        const labels = a.labels || Array.from({length: a.count}, (_, i) => String(i + 1)),
              g = a.grid;
        const fits =
            g && g.rows > 0 && g.cols > 0 && g.first >= 0 && g.first + g.rows * g.cols <= a.count;
        const special = labels.map((_, i) => Boolean(a.special && a.special[i]));
        return {
            name: "", ...a, labels, order: labels.map((_, i) => i), special, grid: fits ? g : null
        };
    };
    /* The word of a caption that looks at one patch most. */
    const sharpest = (b, words) => {
        const m = heed.weights(b, b.heads.length > 1 ? "mean" : b.heads[0]);
        const most = (q) =>
            m.data.subarray(q * m.cols, (q + 1) * m.cols).reduce((x, w) => Math.max(x, w), 0);
        return words.reduce((best, q) => (most(q) > most(best) ? q : best));
    };
    /* What is shown before anybody chose: the query that the first guess is about (of a causal
     * layer the last one, which says what comes next; of a caption the word that looks at one patch
     * most), else the first token. */
    const homes = heed.memory();
    heed.home = (b) => homes(b.id, () => {
        const record = heed.data.records.find((r) => r.blocks.includes(b)), {queries, keys} = b;
        const asked = record.guesses.map((g) => (record.axes[g.axis] === queries ? g.query : -1))
                          .filter((q) => q >= 0);
        const words = keys.grid && queries !== keys ? asked.filter((q) => !queries.special[q]) : [];
        if (words.length) return sharpest(b, words);
        if (asked.length) return asked.at(b.triangle ? -1 : 0);
        return queries.grid && !queries.grid.first ? Math.floor(queries.count / 2) : 0;
    });
    /* Layers, heads and positions count from 1 in JSON, from 0 here; -1: of the whole model or
     * input. */
    const index = (n) => (n ?? 0) - 1;
    const recordOf = (r, stored) => {
        const record = {title: "", model: "", task: "", note: "", ...r, axes: r.axes.map(axisOf)};
        const placed = (x) => ({
            ...x, layer: index(x.layer), queries: record.axes[x.queries], keys: record.axes[x.keys],
            queryAxis: x.queries, keyAxis: x.keys,
        });
        record.guesses = r.guesses.map((g) => ({
            says: "", ...g, query: index(g.position), tokens: g.tokens.map((t) => [t.token, t.p]),
        }));
        record.blocks = r.blocks.map((b, i) => ({
            ...placed(b), heads: b.heads.map(index), width: b.key, ...stored.blocks[i],
            masked: new Set(stored.blocks[i].masked),
        }));
        record.maps = r.maps.map(
            (m, i) => ({name: "", help: "", ...placed(m), head: index(m.head), ...stored.maps[i]}));
        record.picture = r.picture ? {...r.picture, id: stored.picture} : null;
        return record;
    };
    heed.readData = () => {
        const meta = JSON.parse(heed.id("meta").textContent);
        const steps = heed.id("steps-data"), {curves, opening} = meta,
              records = meta.records.map((r, i) => recordOf(r, meta.stored[i]));
        heed.data = {records, curves, opening, steps: steps ? JSON.parse(steps.textContent) : null};
    };
})();

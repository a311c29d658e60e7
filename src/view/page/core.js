/* core.js -- the frame of the page: views, state, links, tabs, keys. Every other file adds to
 * `heed`.
 *
 * A view is a file of its own here (the Makefile embeds every .js of this folder: core.js first)
 * and registers itself; nothing but `heed` is shared:
 *
 *   heed.view({
 *     id: "steps",                  // in links: #view=steps
 *     title: "Steps",               // on its tab
 *     help: "what it shows",        // a line, for the help and the tab's tooltip
 *     uses: ["layer", "head"],      // shared controls: "layer" (with stack and record), "record",
 *                                   // "head", "scale", "special", "side"
 *     state: {row: 0, soft: true},  // settings of its own with their defaults: they live in
 *                                   // heed.state and in the link
 *     allowed: {sort: ["a", "b"]},  // optional: settings that take one of some words alone
 *     open(box) { ... },            // once, when it is first shown: puts its elements into box, an
 *                                   // empty <div>
 *     layout() { ... },             // {width, height} of what paint(pen) draws on this.canvas
 *                                   // (draw.js has the pens)
 *     keys(event) { ... },          // optional: a key was pressed; true if it was used. Comes
 *                                   // before the shared keys
 *     lacks() { ... },              // optional: why the attention at hand cannot be drawn, or ""
 *                                   // and, in place of what a view of one canvas over the weights
 *                                   // of a head has (usual, below):
 *     available(data) { ... },      // true if there is something to show; data: {records, curves,
 *                                   // steps}
 *     draw() { ... },               // after each change of heed.state, of the window's size and of
 *                                   // the colours, while shown
 *     picture() { ... },            // {width, height, paint(pen)}, for Save PNG and Save SVG
 *     table() { ... },              // {caption, head: [..], rows: [[..]..], all() -> rows}: the
 *                                   // table and Save CSV
 *     legend() { ... },             // what heed.legend gives (figure.js), or null
 *     caption() { ... },            // a line that says what is selected, for saved pictures and
 *                                   // the live region
 *   });
 *
 * State is changed by heed.update({...}) alone; it keeps it within bounds, writes the link and
 * draws. Helpers for every view: heed.el (elements), heed.show (a token with visible spaces),
 * heed.number, heed.color and heed.ink (palette), heed.bind (one control for one setting). Text
 * from the data goes into textContent or canvas text, never into innerHTML.
 */
"use strict";
const heed = {views: [], state: {}, data: {records: [], curves: null, steps: null}};
{
    /* ---- elements ---- */

    /* el("button", {type: "button", onclick: f, text: "Save"}, child, ...): attributes, handlers,
     * text, children. */
    heed.el = (tag, attributes = {}, ...children) => {
        const e = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) {
            if (value === false || value === null || value === undefined) continue;
            if (name === "text") e.textContent = value;
            else if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
            else e.setAttribute(name, value === true ? "" : value);
        }
        e.append(...children.filter((c) => c !== null && c !== undefined));
        return e;
    };
    heed.id = (id) => document.getElementById(id);
    /* Replaces what a box holds; the focus stays at the control in the same place. */
    heed.refill = (box, ...children) => {
        const controls = () => [...box.querySelectorAll("button, select, input")],
              focused = controls().indexOf(document.activeElement);
        box.replaceChildren(...children);
        controls()[focused]?.focus();
    };
    /* What make() gave for that id; it is called once. */
    heed.once = (held, id, make) => {
        if (!held.has(id)) held.set(id, make());
        return held.get(id);
    };

    /* ---- state and links ---- */

    const defaults = {
        view: "", record: 0, stack: "", layer: -1, head: "", query: -1, key: -1, palette: "viridis",
        theme: "auto", scale: "max", hide: false, table: false,
    }; /* -1: nothing locked; layer -1 and "": natural */
    /* Settings that take one of some words alone. */
    const allowed = {
        palette: ["viridis", "cividis", "grey"], theme: ["auto", "light", "dark"],
        scale: ["max", "one"],
    };
    /* From 0 in the data, from 1 in links and on screen. */
    const counted = new Set(["layer", "head", "record", "query", "key"]);
    const inLinks = {query: "row", key: "column"};
    let hover = null, waiting = false;

    const parse = (name, text) => {
        const like = defaults[name], value = Number(text);
        if (typeof like === "boolean") return text === "1";
        if (allowed[name] && !allowed[name].includes(text)) return like;
        if (name === "head" && (text === "mean" || text === "max")) return text;
        if (typeof like === "string" && name !== "head") return text.slice(0, 200);
        if (!Number.isFinite(value)) return like;
        return counted.has(name) ? Math.round(value) - 1 : value;
    };
    const print = (name, value) => typeof value === "boolean" ? String(Number(value))
        : String(counted.has(name) && typeof value === "number" ? value + 1 : value);
    /* Without a link the page opens at what its command was asked for. */
    heed.asked = () => new URLSearchParams(location.hash.slice(1) || heed.data.opening);
    const readLink = () => {
        const asked = heed.asked(), found = {...defaults};
        for (const name of Object.keys(defaults)) {
            const text = asked.get(inLinks[name] ?? name);
            if (text !== null) found[name] = parse(name, text);
        }
        return found;
    };
    /* What is shown without a choice: the first attention of a record, the layer and the head that
     * say most. */
    const natural = {
        stack: () => heed.record().blocks[0].stack,
        layer: () => heed.naturalLayer(heed.layers()).layer,
        head: () => heed.naturalHead(heed.block()),
    };
    const isNatural = (name) => heed.block() && heed.state[name] === natural[name]?.();
    heed.link = () => {
        const link = new URLSearchParams();
        for (const [name, usual] of Object.entries(defaults))
            if (name === "view" || (heed.state[name] !== usual && !isNatural(name)))
                link.set(inLinks[name] ?? name, print(name, heed.state[name]));
        return "#" + link;
    };
    /* A page opens where something is to be read: a worked example, a photograph, the lines of a
     * head. */
    const opening = () => {
        const photograph = heed.record()?.picture && "picture",
              list = heed.shown().map((v) => v.id);
        return ["steps", photograph, "head"].find((id) => list.includes(id)) ?? list[0] ?? "";
    };
    /* Keeps what is chosen within what there is: another record or stack may have fewer layers,
     * heads and tokens. */
    const keepWithin = (s) => {
        const whole = (x, lo, end) => heed.clamp(Math.round(x) || 0, lo, Math.max(lo, end - 1)),
              far = (b) => Math.abs(b.layer - s.layer);
        if (!heed.shown().some((v) => v.id === s.view)) s.view = opening();
        s.record = whole(s.record, 0, heed.data.records.length);
        const blocks = heed.record()?.blocks ?? [];
        if (!blocks.length) return;
        if (!blocks.some((b) => b.stack === s.stack)) s.stack = blocks[0].stack;
        const layers = heed.layers();
        const block = s.layer < 0 ? heed.naturalLayer(layers)
                                  : layers.reduce((best, b) => (far(b) < far(best) ? b : best));
        s.layer = block.layer;
        if (s.head !== "mean" && s.head !== "max" && !block.heads.includes(s.head))
            s.head = s.head === "" ? heed.naturalHead(block) : block.heads[0];
        s.query = whole(s.query, -1, block.queries.count);
        s.key = s.query < 0 ? -1 : whole(s.key, -1, block.keys.count);
    };
    /* The one way to change the state. Heads of another stack are others: who saw the one that says
     * most sees that of the other. */
    heed.update = (change) => {
        const other = change.stack !== undefined && change.stack !== heed.state.stack,
              anew = other && isNatural("layer") && isNatural("head") ? {layer: -1, head: ""} : {};
        Object.assign(heed.state, anew, change);
        keepWithin(heed.state);
        if (location.hash !== heed.link()) {
            try {
                history.replaceState(null, "", heed.link());
            } catch {
                location.replace(heed.link());
            }
        }
        heed.redraw();
    };
    heed.redraw = () => {
        if (!waiting) requestAnimationFrame(heed.drawNow);
        waiting = true;
    };
    /* What the pointer is over: shown as if selected unless something is locked. null: nothing. */
    heed.preview = (place) => {
        const same = place?.query === hover?.query && place?.key === hover?.key;
        hover = place;
        if (!same && heed.state.query < 0) heed.redraw();
    };
    /* The query and key at hand: locked, else under the pointer, else those that the record is
     * about. key -1: none. */
    heed.selected = () => {
        const {query, key} = heed.state, b = heed.block();
        if (query >= 0) return {query, key, locked: true};
        const home = () => (b ? heed.home(b) : 0);
        return {query: hover?.query ?? home(), key: hover?.key ?? -1, locked: false};
    };
    heed.lock = (query, key = -1) => heed.update({query, key});

    /* ---- views ---- */

    const usual = {
        uses: [],
        available: (data) => data.records.some((r) => r.blocks.length),
        draw() {
            heed.drawCanvas(this);
        },
        picture() {
            return {...this.layout(), paint: this.paint};
        },
        table: () => heed.matrixTable(
            heed.weightMatrix(), heed.selected(), "Attention weights, queries in rows"),
        legend: () => heed.matrixLegend(heed.weightMatrix()),
        caption: () => heed.selectionText(),
    };
    heed.view = (view) => {
        heed.views.push({...usual, ...view});
        Object.assign(defaults, view.state);
        Object.assign(allowed, view.allowed);
    };
    const order =
        ["overview", "head", "matrix", "qk", "picture", "cross", "compare", "steps", "curves"];
    let usable = null;
    heed.shown = () => usable ??= order.map((id) => heed.views.find((v) => v.id === id))
        .filter((v) => v?.available(heed.data));
    const chosen = () => heed.shown().find((v) => v.id === heed.state.view);
    /* The view that is shown; one that lacks what it draws says so, and draws nothing. */
    heed.current = () => {
        const v = chosen(), why = v?.lacks?.();
        return !why ? v : {
            ...v, draw() {}, keys: () => false, legend: () => null, caption: () => why,
            table: () => ({caption: why, head: [], rows: []}),
            picture: () => ({width: 260, height: 40, paint() {}}),
        };
    };

    const drawTabs = () => {
        const nav = heed.id("tabs");
        if (!nav.children.length)
            nav.append(...heed.shown().map((v, i) => heed.el("button", {
                type: "button", role: "tab", id: "tab-" + v.id, title: `${v.help} (${i + 1})`,
                "aria-controls": "view-" + v.id, text: v.title,
                onclick: () => heed.update({view: v.id}),
            })));
        for (const tab of nav.children) {
            const on = tab.id === "tab-" + heed.state.view;
            if (on && tab.getAttribute("aria-selected") !== "true")
                tab.scrollIntoView({block: "nearest", inline: "nearest"});
            tab.setAttribute("aria-selected", String(on));
            tab.tabIndex = on ? 0 : -1;
        }
    };
    heed.drawNow = () => {
        const opened = chosen();
        waiting = false;
        drawTabs();
        if (!opened) return;
        if (!opened.box) {
            opened.box = heed.el("div");
            opened.frame = heed.el(
                "div", {
                    id: "view-" + opened.id, class: "view", role: "tabpanel",
                    "aria-labelledby": "tab-" + opened.id,
                },
                heed.el("p", {class: "lead"}), opened.box);
            heed.id("views").append(opened.frame);
            opened.open(opened.box);
        }
        for (const frame of heed.id("views").children) frame.hidden = frame !== opened.frame;
        const v = heed.current(), [why] = v.frame.children;
        why.textContent = v.lacks?.() ?? "";
        v.box.hidden = !(why.hidden = !why.textContent);
        document.body.classList.toggle("with-side", v.uses.includes("side"));
        heed.id("note").hidden = heed.id("record-note").hidden =
            v.id === "curves"; /* of attention, of the input */
        heed.drawTheme();
        heed.drawControls(v);
        heed.drawPanel(v);
        v.draw();
        heed.syncControls();
        heed.drawLegend(v);
        heed.drawTable(v);
        if (!document.documentElement.dataset.ready) performance.mark("ready");
        document.documentElement.dataset.ready = heed.state.view;
    };

    /* ---- keys ---- */

    const walk = (list, value, step) =>
        list[heed.clamp(list.indexOf(value) + step, 0, list.length - 1)];
    heed.nextLayer = (step) =>
        heed.update({layer: walk(heed.layers().map((b) => b.layer), heed.state.layer, step)});
    heed.nextHead = (step) =>
        heed.update({head: walk([...heed.block().heads, "mean", "max"], heed.state.head, step)});
    heed.arrows = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    const move = ([down, right]) => {
        const b = heed.block(), {query, key} = heed.selected(), cols = heed.visible(b.keys);
        const next = (list, value, step) =>
            walk(list, list.find((i) => i >= value) ?? list[0], step);
        const first = right > 0 ? cols[0] : cols.at(-1);
        heed.lock(
            next(heed.visible(b.queries), query, down),
            !right ? key : key < 0 ? first : next(cols, key, right));
    };
    const shared = {
        "[": () => heed.nextHead(-1), "]": () => heed.nextHead(1),
        "{": () => heed.nextLayer(-1), "}": () => heed.nextLayer(1),
        Escape() {
            hover = null;
            heed.update({query: -1, key: -1});
        },
        "?": () => heed.help(), t: () => heed.update({table: !heed.state.table}),
        d: () => heed.flipTheme(), h: () => heed.update({hide: !heed.state.hide}),
    };
    const tabKeys = (e) => {
        const by = heed.arrows[e.key]?.[1];
        if (!by || !e.target.closest?.("#tabs")) return false;
        heed.update({view: walk(heed.shown(), heed.current(), by).id});
        heed.id("tab-" + heed.state.view).focus();
        return true;
    };
    const fields = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]";
    const onKey = (e) => {
        const v = heed.current(), other = /^[1-9]$/.test(e.key) && heed.shown()[e.key - 1];
        if (!v || e.ctrlKey || e.metaKey || e.altKey || heed.id("help").open ||
            e.target.closest?.(fields))
            return;
        if (tabKeys(e) || v.keys?.(e)) return e.preventDefault();
        if (other) return heed.update({view: other.id});
        const act = heed.arrows[e.key] && heed.block() && v.uses.includes("side")
            ? () => move(heed.arrows[e.key])
            : Object.hasOwn(shared, e.key) && (heed.block() || !"[]{}".includes(e.key)) &&
                shared[e.key];
        if (!act) return;
        e.preventDefault();
        act();
    };

    /* When all scripts are read: decodes the data and opens the view that the link names. */
    document.addEventListener("DOMContentLoaded", () => {
        heed.readData();
        heed.dressPage();
        heed.dressSaves();
        heed.state = readLink();
        keepWithin(heed.state);
        document.addEventListener("keydown", onKey);
        window.addEventListener("hashchange", () => {
            if (location.hash === heed.link()) return;
            heed.state = readLink();
            heed.update({});
        });
        window.addEventListener("resize", heed.redraw);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", heed.redraw);
        heed.drawNow();
    });
}

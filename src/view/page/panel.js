/* panel.js -- what surrounds a view: the shared controls, the panel of the selected token, legend,
 * table, tip and help. */
"use strict";
(() => {
    /* ---- theme ---- */

    let printing = false; /* on paper, which is white */
    const print = (on) => { printing = on; heed.drawNow(); };
    heed.drawTheme = () => {
        const wished = heed.state.theme === "auto"
            ? matchMedia("(prefers-color-scheme: dark)").matches
            : heed.state.theme === "dark";
        const dark = wished && !printing;
        document.documentElement.dataset.theme = dark ? "dark" : "light";
        heed.id("theme").textContent = dark ? "Light" : "Dark";
        heed.readTheme();
    };
    heed.flipTheme = () => heed.update({theme: heed.dark() ? "light" : "dark"});

    /* ---- controls ---- */

    /* A control bound to one setting of heed.state. kind: {choices: [[value, text], ...]}, {range:
     * [lo, hi, step]} or {check: true}. Or, of another value, to get() and set(value). say(value):
     * what stands beside a range. Returns {box, input}; after each drawing all controls are brought
     * to their values. */
    heed.bind = (name, label, kind) => {
        const {
            choices, range, check,
            get = () => heed.state[name],
            set = (value) => heed.update({[name]: value}),
            say = String
        } = kind;
        let input, said = null;
        if (check)
            input = heed.el("input", {type: "checkbox", onchange: () => set(input.checked)});
        else if (range) {
            const [min, max, step] = range;
            input = heed.el(
                "input", {type: "range", min, max, step, oninput: () => set(Number(input.value))});
            said = heed.el("output");
        } else {
            const options = choices.map(([value, text]) => heed.el("option", {value, text}));
            input = heed.el(
                "select", {onchange: () => set(choices[input.selectedIndex][0])}, ...options);
        }
        const box = heed.el(
            "label", {class: check ? "check" : "field"}, check ? input : null,
            heed.el("span", {text: label}), check ? null : input, said);
        const sync = () => {
            if (check) input.checked = get();
            else input.value = String(get());
            if (said) said.textContent = say(get());
        };
        sync();
        bound.push({box, sync});
        return {box, input};
    };
    let bound = [];
    heed.syncControls = () => {
        bound = bound.filter((control) => control.box.isConnected);
        for (const control of bound) control.sync();
    };

    const stackNames = {encoder: "encoder", decoder: "decoder", cross: "cross: decoder to encoder"};
    const step = (label, text, act) => heed.el(
        "button",
        {type: "button", class: "step", "aria-label": label, title: label, text, onclick: act});
    const stepped = (control, before, after) =>
        heed.el("span", {class: "stepped"}, before, control.box, after);
    heed.stepName = (i) => {
        const {step, model, title, run} = heed.data.records[i],
              alike = heed.data.records.every((r) => r.title === title),
              name = !heed.severalModels() ? title : alike ? run : `${run}: ${title}`;
        if (heed.severalInputs()) return `${i + 1}. ${heed.cut(heed.show(name || ""), 40)}`;
        return step >= 0 ? `step ${heed.count(step)}` : model || `record ${i + 1}`;
    };
    const layerBox = () => stepped(
        heed.bind(
            "layer", "Layer", {choices: heed.layers().map((b) => [b.layer, String(b.layer + 1)])}),
        step("previous layer ({)", "‹", () => heed.nextLayer(-1)),
        step("next layer (})", "›", () => heed.nextLayer(1)));
    const headBox = () => {
        const heads = heed.block().heads.map((h) => [h, String(h + 1)]);
        const more = heads.length > 1 ? [["mean", "mean"], ["max", "max"]] : [];
        return stepped(
            heed.bind("head", "Head", {choices: [...heads, ...more]}),
            step("previous head ([)", "‹", () => heed.nextHead(-1)),
            step("next head (])", "›", () => heed.nextHead(1)));
    };
    const wanted = (v) => {
        if (!heed.block()) return [];
        const {records} = heed.data, stacks = heed.stacks(heed.record()), out = [],
              has = (name) => v.uses.includes(name);
        const bind = (name, label, kind) => out.push(heed.bind(name, label, kind).box);
        if ((has("layer") || has("record")) && records.length > 1)
            bind(
                "record",
                heed.severalModels() ? "Model" : heed.severalInputs() ? "Input" : "Step",
                {choices: records.map((_, i) => [i, heed.stepName(i)])});
        if (has("layer") && stacks.length > 1)
            bind("stack", "Attention", {choices: stacks.map((s) => [s, stackNames[s]])});
        if (has("layer")) out.push(layerBox());
        if (has("head")) out.push(headBox());
        if (has("scale")) {
            bind("palette", "Colours", {choices: heed.palettes.map((p) => [p, p])});
            const choices = [["max", "to the largest of all heads"], ["one", "0 to 1"]];
            bind("scale", "Scale", {choices});
        }
        if (has("special") && heed.specials())
            bind("hide", `Hide ${heed.specials()}`, {check: true});
        const why = has("head") ? heed.whyHead(heed.layers()) : "";
        if (why) out.push(heed.el("span", {class: "muted why", text: why}));
        return out;
    };
    let built = "";
    heed.drawControls = (v) => {
        const s = heed.state, form = heed.id("controls"), b = heed.block();
        const shape = [
            v.id, s.record, s.stack, s.layer, s.head, s.palette, s.scale, s.hide,
            b ? b.heads.join() : ""
        ].join("|");
        heed.id("table-switch").setAttribute("aria-pressed", String(s.table));
        if (shape === built) return;
        built = shape;
        heed.refill(form, ...wanted(v));
        form.hidden = !form.children.length;
        const r = heed.record() || {}, named = r.title || heed.data.steps?.title || "Attention";
        const title = r.picture ? named.replace(/^.*[/\\](?=[^/\\]*$)/, "") : named;
        heed.id("title").textContent = heed.cut(heed.show(title), 240);
        heed.id("model").textContent = r.model || "";
        heed.id("record-note").textContent = r.note || "";
        document.title = heed.cut(heed.show(title), 80) + " · heed";
        heed.id("badge").hidden =
            !(b && v.uses.includes("special") && (heed.hides(b.queries) || heed.hides(b.keys)));
    };

    /* ---- the selected token ---- */

    const bar = (share) => {
        const outer = heed.el("span", {class: "bar", "aria-hidden": "true"}),
              inner = heed.el("span");
        inner.style.width = `${Math.max(0, Math.min(100, share * 100)).toFixed(1)}%`;
        if (share > 0) inner.style.minWidth = "2px"; /* little is not none */
        outer.append(inner);
        return outer;
    };
    const word = (text, full = text) =>
        heed.el("span", {class: "token", dir: "auto", title: heed.cut(full, 2000), text});
    heed.word = (axis, i, n = 24) => word(heed.token(axis, i, n), heed.show(axis.labels[i]));
    heed.quote = (axis, i, n = 24) => `‘${heed.within(heed.token(axis, i, n))}’`;
    /* The keys of a row and their weights, the largest first. */
    const ranked = (b, m, q, cols) =>
        cols.filter((k) => !heed.masked(b, q, k) && !Number.isNaN(m.at(q, k)))
            .map((k) => [k, m.at(q, k)])
            .sort((a, b) => b[1] - a[1]);
    const amount = (text) => heed.el("span", {class: "value", text});

    /* How a token, or a patch, is chosen where there is no pointer that hovers. */
    heed.toChoose = (axis) => {
        const what = axis?.grid ? "patch" : "token";
        return matchMedia("(hover: none)").matches ? `Tap a ${what} to lock it.`
                                                   : "Hover to look, click to lock.";
    };
    /* The number of a token; a patch has its row and column as its label. */
    const indexOf = (axis, i) => heed.el("span", {
        class: "index", text: axis.grid && i >= axis.grid.first ? "" : String(heed.nth(i))
    });
    const unlock = () => {
        heed.update({query: -1, key: -1});
        heed.current().box.querySelector("canvas[tabindex]")?.focus({preventScroll: true});
    };
    const listOf = (rows) => heed.el("ol", {class: "bars"}, ...rows);
    const keyRow = (b, at, [k, w], full) => {
        const button = heed.el(
            "button", {
                type: "button", class: "row" + (k === at.key ? " chosen" : ""),
                onclick: () => heed.lock(at.query, k),
                "aria-label":
                    `row ${heed.nth(at.query)} ${heed.quote(b.queries, at.query)} attends ` +
                        `${heed.weight(w)} to ${heed.quote(b.keys, k)}`,
            },
            indexOf(b.keys, k), heed.word(b.keys, k, 18), bar(w / full), amount(heed.weight(w)));
        return heed.el("li", {}, button);
    };
    /* The keys that are not listed, several ones, so that the column adds up. */
    const othersRow = (count, w, full) => heed.el(
        "li", {class: "row others muted"}, heed.el("span", {text: `${count} others`}),
        bar(w / full), amount(heed.weight(w)));
    const guessBlock = (g, query) => {
        const first = g.tokens[0];
        const probable = (p) => heed.probable(p).replaceAll(" ", "\u00a0");
        const answer = first ? ["‘", word(heed.show(first[0])), `’, ${probable(first[1])}`] : [];
        const of = heed.guessOf(g, query);
        const line = heed.el("h3", {}, of[0].toUpperCase() + of.slice(1), ...answer);
        const row = (token, p) => heed.el(
            "li", {class: "row"}, word(heed.cut(token, 18), token), bar(p),
            amount(heed.probability(p)));
        const rows = g.tokens.slice(0, 5).map(([token, p]) => row(heed.show(token), p));
        return heed.el("div", {class: "guess"}, line, listOf(rows));
    };
    const guesses = (b, at) => [
        ...heed.guesses(b.queryAxis, at.query).map((g) => guessBlock(g, at.query)),
        ...heed.record().guesses.filter((g) => g.query < 0).map((g) => guessBlock(g, -1)),
    ];
    /* A line of everything selected, for saved pictures and the live region. */
    heed.selectionText = () => {
        const b = heed.block(), at = heed.selected(), m = heed.matrix(),
              many = heed.stacks(heed.record()).length > 1;
        const where =
            `${many ? b.stack + ", " : ""}layer ${b.layer + 1}, ${heed.headName(heed.state.head)}`;
        const who = `row ${heed.nth(at.query)} ${heed.quote(b.queries, at.query)}`;
        return at.key < 0 ? `${where}: ${who}`
                          : `${where}: ${who} attends ${heed.weight(m.at(at.query, at.key))} to ` +
                                `${heed.quote(b.keys, at.key)}`;
    };
    /* "row 5 predicts token 6: "; at a mask "row 5 predicts "; "the class: " of an input. */
    heed.guessOf = (g, query) => {
        const what = g.says === "[MASK]" ? "" : g.says + ": ";
        return query < 0 ? what : `row ${heed.nth(query)} predicts ${what}`;
    };
    /* "row 5 predicts token 6: ‘Paris’, p = 0.83", or "". */
    heed.predicts = (b, query) => {
        const g = heed.guesses(b.queryAxis, query)[0], [token, p] = g?.tokens[0] || [];
        if (token === undefined) return "";
        return heed.guessOf(g, query) +
            `‘${heed.within(heed.cut(heed.show(token), 16))}’, ${heed.probable(p)}`;
    };
    let spoken = "";
    const speak = () => {
        const text = heed.current().caption();
        if (text !== spoken) heed.id("live").textContent = text;
        spoken = text;
    };
    heed.drawPanel = (v) => {
        const side = heed.id("side"), b = heed.block();
        side.hidden = !(b && v.uses.includes("side"));
        if (side.hidden) return;
        const at = heed.selected(), m = heed.matrix(),
              all = ranked(b, m, at.query, heed.visible(b.keys));
        const rows = all.slice(0, all.length > 9 ? 8 : 9), left = all.slice(rows.length);
        const row = m.data.subarray(at.query * m.cols, (at.query + 1) * m.cols);
        const head = heed.el(
            "h2", {}, indexOf(b.queries, at.query), heed.word(b.queries, at.query, 40));
        const free = heed.el("button", {
            type: "button", class: "free", hidden: !at.locked, title: "Esc", text: "Unlock",
            onclick: unlock
        });
        const lock =
            heed.el(
                "p", {class: "lock muted small"},
                at.locked ? "Locked. " : heed.toChoose(b.queries), free);
        const full = Math.max(1, m.max),
              rest =
                  left.reduce((a, x) => a + x[1], 0); /* bars of 0 to 1, as those of predictions */
        const total = row.reduce((a, w) => a + (w === w ? w : 0), 0);
        const even = heed.nearlyUniform(b, heed.state.head) ? ", nearly uniform" : "";
        const places = b.keys.grid ? "; patches: row,column" : "";
        const how = heed.headName(heed.state.head) + even + places;
        const heading = heed.el("h3", {text: `attends to (${how})`});
        const sum = Math.abs(total - 1) > 0.002
            ? heed.el("p", {class: "muted small", text: `The row sums to ${heed.number(total)}.`})
            : null;
        const others = left.length ? [othersRow(left.length, rest, full)] : [];
        heed.refill(
            side, head, lock, ...guesses(b, at), heading,
            listOf([...rows.map((x) => keyRow(b, at, x, full)), ...others]), sum || "");
        if (at.locked) speak();
    };

    /* ---- legend ---- */

    /* {label, lo, hi, color(t in 0..1) -> [r,g,b], uniform, at} or null: the colours of the current
     * view, always in sight. lo and hi are numbers, or words where parts of the view have scales of
     * their own; uniform, if given, is marked, `at` a share of the scale; of: of which rows
     * it is. above: some weights are larger than hi. Which way the colours of
     * weights run is said. */
    const end = (x) => (typeof x === "number" ? heed.number(x) : x);
    const way = () => (heed.dark() ? "; brighter is more" : "; darker is more");
    heed.legend = (label, lo, hi, color, {uniform = 0, of = "", above = false} = {}) => ({
        label: color === heed.color ? label + way() : label, lo: end(lo),
        hi: end(hi) + (above ? " and more" : ""), color, at: Math.min(1, uniform / hi),
        uniform: uniform ? `uniform = ${heed.number(uniform)}${of}` : "",
    });
    heed.signedLegend = (top, below = true) => below
        ? heed.legend("blue below 0, orange above", -top, top, (t) => heed.signed(2 * t - 1))
        : heed.legend("more orange is more", 0, top, (t) => heed.signed(t));
    heed.matrixLegend = (m) => {
        if (m.signed) return heed.signedLegend(m.top);
        const more = [
            m.hatched && "; hatched: may not attend",
            m.even && "; this head is nearly uniform"
        ];
        return heed.legend(
            "weight: share of a row's attention (1 = 100 %)" + more.filter(Boolean).join(""), 0,
            m.top, heed.color,
            {uniform: m.uniform, of: m.mean ? ", mean of rows" : "", above: m.above});
    };
    heed.drawLegend = (v) => {
        const box = heed.id("legend"), l = v.legend();
        box.hidden = !l;
        if (!l) return;
        const strip = heed.bitmap(1, 128, (_, i) => l.color(i / 127));
        strip.className = "strip";
        strip.setAttribute("role", "img");
        strip.setAttribute("aria-label", `colours from ${l.lo} to ${l.hi}`);
        const ramp = heed.el("span", {class: "ramp"}, strip),
              mark = heed.el("span", {class: "mark", "aria-hidden": "true"});
        if (l.uniform) { mark.style.left = `${(100 * l.at).toFixed(1)}%`; ramp.append(mark); }
        const uniform = l.uniform ? [heed.el("span", {class: "marked", text: l.uniform})] : [],
              label = heed.el("span", {class: "muted", text: l.label});
        box.replaceChildren(
            heed.el("span", {text: l.lo}), ramp, heed.el("span", {text: l.hi}), ...uniform, label);
    };

    /* ---- the table of what is drawn ---- */

    /* Of a query and a key in a saved table, in words that the program's CSV has, too. */
    heed.placeColumns = ["query_position", "query_token", "key_position", "key_token"];
    heed.placeCells =
        (queries, q, keys, k) => [heed.nth(q), queries.labels[q], heed.nth(k), keys.labels[k]];

    heed.matrixTable = (m, at, caption) => {
        const whole = m.rows.length * m.cols.length <= 600, rows = whole ? m.rows : [at.query];
        const cell = (q, k) => (m.void(q, k) ? "masked" : heed.weight(m.value(q, k)));
        const who = (q) => `row ${heed.nth(q)} ${heed.quote(m.queries, q)}`;
        return {
            caption: caption +
                (whole ? ""
                       : `: row ${heed.nth(at.query)} of ` +
                             `${m.rows.length}; choose another one with the arrow keys`),
            head: ["query", ...m.cols.map((k) => `${heed.nth(k)} ${heed.token(m.keys, k)}`)],
            rows: rows.map(
                (q) =>
                    [`${heed.nth(q)} ${heed.token(m.queries, q)}`,
                     ...m.cols.map((k) => cell(q, k))]),
            label: (i, j) => `${who(rows[i])} attends ${cell(rows[i], m.cols[j - 1])} to ` +
                `${heed.quote(m.keys, m.cols[j - 1])}`,
            all: () => [
                [...heed.placeColumns, "weight"],
                ...m.rows.flatMap(
                    (q) =>
                        m.cols.filter((k) => !m.void(q, k))
                            .map(
                                (k) =>
                                    [...heed.placeCells(m.queries, q, m.keys, k), m.value(q, k)]))],
        };
    };
    const tableOf = (t) => {
        const head = heed.el(
            "tr", {}, ...t.head.map((text) => heed.el("th", {scope: "col", dir: "auto", text})));
        const row = (cells, i) =>
            heed.el("tr", {}, ...cells.map((text, j) => heed.el(j ? "td" : "th", {
                scope: j ? null : "row", dir: "auto", text: String(text),
                "aria-label": j && t.label ? t.label(i, j) : null,
            })));
        return heed.el(
            "table", {}, heed.el("caption", {text: t.caption}), heed.el("thead", {}, head),
            heed.el("tbody", {}, ...t.rows.map(row)));
    };
    /* Always there for screen readers; to be seen with the button "Table". Filled when the hand
     * rests. */
    let later = 0;
    heed.drawTable = (v) => {
        const box = heed.id("table");
        box.classList.toggle("aside", !heed.state.table);
        box.tabIndex = heed.state.table ? 0 : -1; /* what scrolls is reached by the keyboard */
        clearTimeout(later);
        later =
            setTimeout(() => box.replaceChildren(tableOf(v.table())), heed.state.table ? 0 : 150);
    };

    /* ---- tip ---- */

    /* tip(text, event): beside the pointer; tip(null) hides it. Long tokens are shown here in
     * full. */
    heed.tip = (text, e) => {
        const tip = heed.id("tip");
        tip.hidden = !text;
        if (!text) return;
        tip.replaceChildren(
            ...(Array.isArray(text) ? text : [text])
                .filter(Boolean)
                .map((line) => heed.el("div", {dir: "auto", text: heed.cut(line, 2000)})));
        const box = tip.getBoundingClientRect(), wide = document.documentElement.clientWidth,
              high = window.innerHeight;
        tip.style.left = Math.max(4, Math.min(e.clientX + 14, wide - box.width - 8)) + "px";
        tip.style.top =
            Math.max(
                4,
                e.clientY + 18 + box.height > high ? e.clientY - box.height - 10 : e.clientY + 18) +
            "px";
    };
    heed.cellTip = (b, m, q, k) => {
        if (k < 0) return [`${heed.nth(q)} ${heed.show(b.queries.labels[q])}`, heed.predicts(b, q)];
        const what = heed.masked(b, q, k) ? "may not attend" : `attends ${heed.weight(m.at(q, k))}`;
        const whole = (axis, i) => `${heed.nth(i)} ‘${heed.within(heed.show(axis.labels[i]))}’`;
        return [`row ${whole(b.queries, q)} ${what} to ${whole(b.keys, k)}`, heed.predicts(b, q)];
    };

    /* ---- help ---- */

    const keys = [
        ["← → ↑ ↓", "move: the query up and down, the key left and right"],
        ["[ ]", "head before, head after (then mean, max)"],
        ["{ }", "layer before, layer after"],
        ["Esc", "unlock the selected token"],
        ["1 – 9", "views, in the order of the tabs"],
        ["h", "hide special tokens, where there are some"],
        ["t", "table of what is drawn"],
        ["d", "light or dark"],
        ["?", "this help"],
    ];
    const paragraphs = [
        "A row is a query: the token that looks. A column is a key: the token that is looked at. " +
            "A weight says which share of the key's value the query takes; a row sums to 1. " +
            heed.toChoose(),
        "Without a choice, a text opens at the most concentrated head: that whose queries attend " +
            "to the smallest part of their keys. Heads that mostly follow positions come last.",
        "What is much stands out from the page: dark where the page is light, bright where it is " +
            "dark. The legend under a picture has the scale.",
        "The address of the page holds the view: copy it to send what you see. Tokens, layers " +
            "and heads count from 1, here, in links and in saved tables.",
    ];
    heed.help = () => {
        const tabs = [...heed.id("tabs").children].map(
                  (tab) => heed.views.find((v) => tab.id === "tab-" + v.id)),
              box = heed.id("help");
        const pair = ([a, b]) => [heed.el("dt", {text: a}), heed.el("dd", {text: b})],
              pairs = (list) => heed.el("dl", {}, ...list.flatMap(pair));
        box.replaceChildren(
            heed.el(
                "h2",
                {id: "help-title", tabindex: -1, autofocus: true, text: "How to read this page"}),
            ...paragraphs.map((text) => heed.el("p", {text})), heed.el("h3", {text: "Keys"}),
            pairs(keys), heed.el("h3", {text: "Views"}),
            pairs(tabs.map((v) => [v.title, v.help || ""])),
            heed.el(
                "form", {method: "dialog"}, heed.el("button", {type: "submit", text: "Close"})));
        box.addEventListener("click", (e) => { if (e.target === box) box.close(); }, {once: true});
        box.showModal();
    };
    heed.dressPage = () => {
        window.addEventListener("beforeprint", () => print(true));
        window.addEventListener("afterprint", () => print(false));
        heed.id("theme").addEventListener("click", heed.flipTheme);
        heed.id("help-switch").addEventListener("click", heed.help);
        heed.id("table-switch").addEventListener("click", () => heed.update({
            table: !heed.state.table
        }));
        heed.id("controls").addEventListener("submit", (e) => e.preventDefault());
    };
})();

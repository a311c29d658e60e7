/* panel.js -- what surrounds a view: theme, controls, the panel of the selected token, tip and
 * help. */
"use strict";
{
    /* ---- theme ---- */

    let printing = false; /* on paper, which is white */
    heed.drawTheme = () => {
        const {theme} = heed.state, system = matchMedia("(prefers-color-scheme: dark)").matches,
              dark = !printing && (theme === "auto" ? system : theme === "dark");
        document.documentElement.dataset.theme = dark ? "dark" : "light";
        heed.id("theme").textContent = dark ? "Light" : "Dark";
        heed.readTheme();
    };
    heed.flipTheme = () => heed.update({theme: heed.dark() ? "light" : "dark"});

    /* ---- controls ---- */

    let bound = [];
    /* A control bound to one setting of heed.state. kind: {choices: [[value, text], ...]}, {range:
     * [lo, hi, step]} or {check: true}. Or, of another value, to get() and set(value). say(value):
     * what stands beside a range. Returns {box, input}; after each drawing all controls are brought
     * to their values. */
    heed.bind = (name, label, kind) => {
        const {
            choices, range, check,
            get = () => heed.state[name],
            set = (value) => heed.update({[name]: value}),
            say = String,
        } = kind;
        const [min, max, step] = range ?? [], said = range ? heed.el("output") : "";
        const input = check
            ? heed.el("input", {type: "checkbox", onchange: () => set(input.checked)})
            : range
            ? heed.el(
                  "input",
                  {type: "range", min, max, step, oninput: () => set(Number(input.value))})
            : heed.el(
                  "select", {onchange: () => set(choices[input.selectedIndex][0])},
                  ...choices.map(([value, text]) => heed.el("option", {value, text})));
        const text = heed.el("span", {text: label}),
              parts = check ? [input, text] : [text, input, said],
              box = heed.el("label", {class: check ? "check" : "field"}, ...parts);
        const sync = () => {
            input[check ? "checked" : "value"] = get();
            if (range) said.textContent = say(get());
        };
        sync();
        bound.push({box, sync});
        return {box, input};
    };
    heed.syncControls = () => {
        bound = bound.filter((control) => control.box.isConnected);
        for (const control of bound) control.sync();
    };
    heed.tools = (...controls) => heed.el("div", {class: "tools"}, ...controls.map((c) => c.box));
    heed.group = (name, label) => heed.el("div", {class: name, role: "group", "aria-label": label});

    heed.stepName = (i) => {
        const {records} = heed.data, {step, model, title = "", run} = records[i],
              alike = records.every((r) => r.title === title);
        const name = !heed.severalModels() ? title : alike ? run : `${run}: ${title}`;
        return heed.severalInputs() ? `${i + 1}. ${heed.cut(heed.show(name), 40)}`
            : step >= 0             ? `step ${heed.count(step)}`
                                    : model || `record ${i + 1}`;
    };
    /* A choice between two buttons that go back and on; the name of its setting is `what`. */
    const stepped = (what, label, choices, [back, on], move) => {
        const button = (way, by, key, text) => {
            const title = `${way} ${what} (${key})`;
            return heed.el("button", {
                type: "button", class: "step", "aria-label": title, title, text,
                onclick: () => move(by),
            });
        };
        return heed.el(
            "span", {class: "stepped"}, button("previous", -1, back, "‹"),
            heed.bind(what, label, {choices}).box, button("next", 1, on, "›"));
    };
    const wanted = ({uses}) => {
        if (!heed.block()) return [];
        const {records} = heed.data, {heads} = heed.block(), has = (name) => uses.includes(name),
              several = heed.severalModels() ? "Model" : heed.severalInputs() ? "Input" : "Step",
              names = {encoder: "encoder", decoder: "decoder", cross: "cross: decoder to encoder"};
        const bind = (name, label, choices) => heed.bind(name, label, {choices}).box,
              numbers = (list) => list.map((x) => [x, String(x + 1)]),
              fused = heads.length > 1 ? [["mean", "mean"], ["max", "max"]] : [];
        const why = has("head") ? heed.whyHead(heed.layers()) : "";
        return [
            (has("layer") || has("record")) && records.length > 1 &&
                bind("record", several, records.map((_, i) => [i, heed.stepName(i)])),
            has("layer") && heed.stacks().length > 1 &&
                bind("stack", "Attention", heed.stacks().map((s) => [s, names[s]])),
            has("layer") && stepped(
                "layer", "Layer", numbers(heed.layers().map((b) => b.layer)), "{}", heed.nextLayer),
            has("head") &&
                stepped("head", "Head", [...numbers(heads), ...fused], "[]", heed.nextHead),
            has("scale") && bind("palette", "Colours", heed.palettes.map((p) => [p, p])),
            has("scale") &&
                bind("scale", "Scale", [["max", "to the largest of all heads"], ["one", "0 to 1"]]),
            has("special") && heed.specials() &&
                heed.bind("hide", `Hide ${heed.specials()}`, {check: true}).box,
            why && heed.el("span", {class: "muted why", text: why}),
        ].filter(Boolean);
    };
    let built = "";
    heed.drawControls = (v) => {
        const s = heed.state, form = heed.id("controls"), b = heed.block();
        const shape = [v.id, s.record, s.stack, s.layer, s.head, s.palette, s.scale, s.hide].join();
        heed.id("table-switch").setAttribute("aria-pressed", String(s.table));
        if (shape === built) return;
        built = shape;
        heed.refill(form, ...wanted(v));
        form.hidden = !form.children.length;
        const {title, model, note, picture} = heed.record() ?? {},
              name = title || heed.data.steps?.title || "Attention",
              shown = heed.show(picture ? name.replace(/^.*[/\\](?=[^/\\]*$)/, "") : name);
        heed.id("title").textContent = heed.cut(shown, 240);
        heed.id("model").textContent = model || "";
        heed.id("record-note").textContent = note || "";
        document.title = heed.cut(shown, 80) + " · heed";
        const hides = (axis) => heed.visible(axis).length < axis.count;
        heed.id("badge").hidden =
            !(b && v.uses.includes("special") && (hides(b.queries) || hides(b.keys)));
    };

    /* ---- the selected token ---- */

    const word = (text, full = text) =>
        heed.el("span", {class: "token", dir: "auto", title: heed.cut(full, 2000), text});
    const wordOf = (axis, i, n) => word(heed.token(axis, i, n), heed.show(axis.labels[i]));
    /* The number of a token; a patch has its row and column as its label. */
    const indexOf = (axis, i) => heed.el("span", {
        class: "index", text: axis.grid && i >= axis.grid.first ? "" : String(heed.nth(i)),
    });
    /* A name, a bar of a share of 0 to 1, and a number. */
    const barOf = (share, text) => {
        const inner = heed.el("span");
        inner.style.width = `${(100 * heed.clamp(share)).toFixed(1)}%`;
        if (share > 0) inner.style.minWidth = "2px"; /* little is not none */
        return [
            heed.el("span", {class: "bar", "aria-hidden": "true"}, inner),
            heed.el("span", {class: "value", text}),
        ];
    };
    const listOf = (rows) => heed.el("ol", {class: "bars"}, ...rows);
    /* How a token, or a patch, is chosen where there is no pointer that hovers. */
    heed.toChoose = (axis) => matchMedia("(hover: none)").matches
        ? `Tap a ${axis?.grid ? "patch" : "token"} to lock it.`
        : "Hover to look, click to lock.";
    const unlock = () => {
        heed.update({query: -1, key: -1});
        heed.current().box.querySelector("canvas[tabindex]")?.focus({preventScroll: true});
    };
    const keyRow = (b, at, k, w, full) => {
        const button = heed.el(
            "button", {
                type: "button", class: "row" + (k === at.key ? " chosen" : ""),
                onclick: () => heed.lock(at.query, k),
                "aria-label": `row ${heed.placed(b.queries, at.query)} attends ` +
                    `${heed.weight(w)} to ${heed.quote(b.keys, k)}`,
            },
            indexOf(b.keys, k), wordOf(b.keys, k, 18), ...barOf(w / full, heed.weight(w)));
        return heed.el("li", {}, button);
    };
    const guessBlock = (g) => {
        const of = heed.guessOf(g), rows = g.tokens.slice(0, 5).map(([token, p]) => heed.el(
            "li", {class: "row"}, word(heed.cut(heed.show(token), 18), heed.show(token)),
            ...barOf(p, heed.probability(p))));
        const answer = g.tokens.slice(0, 1).flatMap(([token, p]) => [
            "‘", word(heed.show(token)), `’, ${heed.probable(p).replaceAll(" ", "\u00a0")}`]);
        const title = heed.el("h3", {}, of[0].toUpperCase() + of.slice(1), ...answer);
        return heed.el("div", {class: "guess"}, title, listOf(rows));
    };
    /* A line of everything selected, for saved pictures and the live region. */
    heed.selectionText = () => {
        const b = heed.block(), {query, key} = heed.selected(),
              stack = heed.stacks().length > 1 ? b.stack + ", " : "",
              who = `${stack}layer ${b.layer + 1}, ${heed.headName(heed.state.head)}: ` +
                  `row ${heed.placed(b.queries, query)}`;
        return key < 0 ? who
                       : `${who} attends ${heed.weight(heed.matrix().at(query, key))} to ` +
                             `${heed.quote(b.keys, key)}`;
    };
    /* "row 5 predicts token 6: "; at a mask "row 5 predicts "; "the class: " of an input. */
    heed.guessOf = ({says, query}) => (query < 0 ? "" : `row ${heed.nth(query)} predicts `) +
        (says === "[MASK]" && query >= 0 ? "" : `${says}: `);
    /* "row 5 predicts token 6: ‘Paris’, p = 0.83", or "". */
    heed.predicts = (b, query) => {
        const g = heed.guesses(b.queryAxis, query)[0], [token, p] = g?.tokens[0] ?? [];
        return token === undefined
            ? ""
            : `${heed.guessOf(g)}${heed.quoted(token, 16)}, ${heed.probable(p)}`;
    };
    let spoken = "";
    heed.drawPanel = (v) => {
        const side = heed.id("side"), b = heed.block();
        side.hidden = !(b && v.uses.includes("side"));
        if (side.hidden) return;
        const at = heed.selected(), m = heed.matrix(), {sum} = heed.math,
              row = b.keys.order.map((k) => m.at(at.query, k) || 0), total = sum(row),
              full = Math.max(1, m.max);
        const ranked = heed.visible(b.keys)
            .filter((k) => !heed.masked(b, at.query, k) && !Number.isNaN(m.at(at.query, k)))
            .sort((x, y) => row[y] - row[x]);
        /* Several keys that are not listed have a row of their own, so that the column adds up. */
        const listed = ranked.slice(0, ranked.length > 9 ? 8 : 9),
              left = ranked.slice(listed.length), rest = sum(left.map((k) => row[k]));
        const others = left.length ? [heed.el(
            "li", {class: "row others muted"}, heed.el("span", {text: `${left.length} others`}),
            ...barOf(rest / full, heed.weight(rest)))] : [];
        const how = heed.headName(heed.state.head) +
            (heed.nearlyUniform(b, heed.state.head) ? ", nearly uniform" : "") +
            (b.keys.grid ? "; patches: row,column" : "");
        const free = heed.el("button", {
            type: "button", class: "free", hidden: !at.locked, title: "Esc", text: "Unlock",
            onclick: unlock,
        });
        heed.refill(
            side,
            heed.el("h2", {}, indexOf(b.queries, at.query), wordOf(b.queries, at.query, 40)),
            heed.el(
                "p", {class: "lock muted small"},
                at.locked ? "Locked. " : heed.toChoose(b.queries), free),
            ...[...heed.guesses(b.queryAxis, at.query),
                ...heed.record().guesses.filter((g) => g.query < 0)].map(guessBlock),
            heed.el("h3", {text: `attends to (${how})`}),
            listOf([...listed.map((k) => keyRow(b, at, k, row[k], full)), ...others]),
            Math.abs(total - 1) > 0.002 ? heed.el("p", {
                class: "muted small", text: `The row sums to ${heed.number(total)}.`,
            }) : "");
        if (at.locked && v.caption() !== spoken) heed.id("live").textContent = spoken = v.caption();
    };

    /* ---- tip ---- */

    /* tip(lines, event): beside the pointer; tip(null) hides it. Long tokens are shown here in
     * full. */
    heed.tip = (text, e) => {
        const tip = heed.id("tip");
        tip.hidden = !text;
        if (!text) return;
        const line = (x) => heed.el("div", {dir: "auto", text: heed.cut(x, 2000)});
        tip.replaceChildren(...[text].flat().filter(Boolean).map(line));
        const {width, height} = tip.getBoundingClientRect(), below = e.clientY + 18,
              top = below + height > innerHeight ? e.clientY - height - 10 : below,
              right = document.documentElement.clientWidth - width - 8;
        tip.style.left = Math.max(4, Math.min(e.clientX + 14, right)) + "px";
        tip.style.top = Math.max(4, top) + "px";
    };
    heed.cellTip = ({query, key}, b = heed.block(), m = heed.matrix()) => {
        const predicts = heed.predicts(b, query),
              whole = (axis, i) => `${heed.nth(i)} ${heed.quoted(axis.labels[i], Infinity)}`;
        if (key < 0) return [`${heed.nth(query)} ${heed.show(b.queries.labels[query])}`, predicts];
        const what = heed.masked(b, query, key) ? "may not attend"
                                                : `attends ${heed.weight(m.at(query, key))}`;
        return [`row ${whole(b.queries, query)} ${what} to ${whole(b.keys, key)}`, predicts];
    };

    /* ---- help ---- */

    heed.help = () => {
        heed.id("how-to-choose").textContent = heed.toChoose();
        heed.id("help-views").replaceChildren(...heed.shown().flatMap(
            (v) => [heed.el("dt", {text: v.title}), heed.el("dd", {text: v.help})]));
        heed.id("help").showModal();
        heed.id("help-title").focus();
    };
    heed.dressPage = () => {
        for (const [event, on] of [["beforeprint", true], ["afterprint", false]])
            window.addEventListener(event, () => {
                printing = on;
                heed.drawNow();
            });
        heed.id("theme").addEventListener("click", heed.flipTheme);
        heed.id("help-switch").addEventListener("click", heed.help);
        heed.id("help").addEventListener(
            "click", (e) => e.target === e.currentTarget && e.target.close());
        heed.id("table-switch").addEventListener(
            "click", () => heed.update({table: !heed.state.table}));
        heed.id("controls").addEventListener("submit", (e) => e.preventDefault());
    };
}

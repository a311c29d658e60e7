/* steps.js -- the Steps view: a worked example of attention that is computed here, again at every
 * edit. heed.data.steps is what `heed explain --json` prints; steps_math.js computes,
 * steps_table.js draws the matrices, steps_parts.js has them in their order, steps_cell.js has the
 * chosen cell, steps_words.js explains. */
"use strict";
(() => {
    const LARGEST = 48; /* tokens whose tables are still readable */
    const GIVEN = [
        "X", "Z", "W_Q", "W_K", "W_V", "B_Q", "B_K", "B_V", "W_h", "B_O", "others", "gain", "bias"
    ];
    const MADE = [
        "Q", "K", "V", "Q_R", "K_R", "raw", "scores", "weights", "output", "share", "all_heads",
        "normed"
    ];
    const ASKING = [
        "X", "Q", "Q_R", "raw", "scores", "weights", "output", "share", "others", "all_heads",
        "normed"
    ]; /* a row a query */
    const LAYER = ["share", "others", "all_heads", "normed"];  /* a row a token, as wide as W_h */
    const VECTORS = {B_O: "bias", gain: "gain", bias: "bias"}; /* one row of that width */
    const s = {
        model: null, result: null, gradients: null, tokens: [], sources: [], tables: [],
        known: new Set(), tried: new Set()
    };
    const ui = {}; /* its elements */
    let lesson = null, built = "", fitted = "";

    /* ---- the numbers ---- */

    const isGiven = (name) => GIVEN.includes(name);
    const has = (name) => !!s.model[name];
    const usual = () => 1 / Math.sqrt(s.model.W_Q[0].length);
    s.columns = () => heed.state.notation === "columns";
    const isGradient = (name) =>
        s.gradients !== null && heed.stepsSlopes.is(name) && !!s.gradients[name];
    s.matrix = (name) =>
        (isGiven(name) ? s.model : isGradient(name) ? s.gradients : s.result)[name];
    s.digits = (name) => heed.stepsDigits(s.matrix(name), heed.state.digits);
    s.number = (name, i, j) => heed.stepsNumber(s.matrix(name)[i][j], s.digits(name));
    s.labels = (name) => {
        if (isGradient(name)) return s.labels(heed.stepsSlopes.of(name));
        const count = (m) => m[0].map((_, j) => String(j + 1)), m = s.matrix(name);
        if (name === "X") return [s.tokens, lesson.features || count(m)];
        if (name === "Z") return [s.sources, lesson.memory || count(m)];
        const unit =
            name === "V" || name === "W_V" || name === "B_V" || name === "output" ? "v" : "q";
        const units = () => (lesson.units && lesson.units[unit]) || count(m);
        if (LAYER.includes(name) || VECTORS[name])
            return [VECTORS[name] ? [VECTORS[name]] : s.tokens, count(m)];
        if (name === "W_h") return [s.labels("V")[1], count(m)];
        if (name[0] === "B") return [["bias"], units()];
        if (name[0] === "W") return [s.labels(name !== "W_Q" && has("Z") ? "Z" : "X")[1], units()];
        const rows = ASKING.includes(name) ? s.tokens : s.sources;
        return [rows, ["raw", "scores", "weights"].includes(name) ? s.sources : units()];
    };
    const load = () => {
        s.tokens = lesson.tokens.slice();
        s.sources =
            lesson.Z ? (lesson.sources || lesson.Z.map((_, i) => String(i + 1))).slice() : s.tokens;
        s.model = {hidden: (lesson.hidden || s.sources.map(() => 0)).slice()};
        for (const name of GIVEN)
            if (lesson[name]) s.model[name] = heed.stepsMath.copy(lesson[name]);
        if (has("gain")) s.model.eps = lesson.eps;
        if (lesson.rotary) s.model.rotary = lesson.rotary;
        s.known.clear();
        s.tried.clear();
    };
    /* Settings live in the link; until the reader changes them they are those of the example. */
    const setting = (name) =>
        (heed.state[name] === "" || !Number.isFinite(Number(heed.state[name]))
             ? lesson[name]
             : Number(heed.state[name]));
    const DIGITS = [2, 3, 4, 6, 12];
    const keepWithin = (state) => { /* a link may say anything */
        if (!DIGITS.includes(state.digits)) state.digits = 2;
        if (state.notation !== "columns") state.notation = "rows";
    };
    const compute = () => {
        s.model.beta = setting("beta");
        s.model.causal = !!setting("causal");
        s.model.hard = !!setting("hard");
        s.result = heed.stepsMath.compute(s.model);
        s.gradients =
            lesson.backward ? heed.stepsSlopes.compute(s.model, s.result, lesson.target) : null;
    };

    /* ---- the cell at hand: "weights 3 4" in the link ---- */

    const spot = () => {
        const [name, row, col] = heed.state.spot.split(" ");
        const m = (isGiven(name) && has(name)) || MADE.includes(name) || isGradient(name)
            ? s.matrix(name)
            : null; /* undefined: not in this example */
        if (!m || !m[row - 1] || m[row - 1][col - 1] === undefined)
            return {name: "output", i: 0, j: 0};
        return {name, i: row - 1, j: col - 1};
    };
    const pick = (name, i, j) => heed.update({spot: `${name} ${i + 1} ${j + 1}`});
    s.row = () => (ASKING.includes(spot().name) ? spot().i : 0);

    const edit = (name, i, j, value) => {
        s.model[name][i][j] = value;
        pick(name, i, j);
    };
    /* What a sheet says of a cell: 1 it is blank, 2 it is filled in. The scores would tell what raw
     * is. */
    const onSheet = (name, i, j) => {
        const list = (lesson.blanks || {})[name === "scores" ? "raw" : name];
        return list && list[i] ? list[i][j] : 0;
    };
    const opened = (name, i, j) => s.known.has(name) || s.known.has(`${name} ${i} ${j}`);
    const isBlank = (name, i, j) => onSheet(name, i, j) === 1 && !opened(name, i, j) &&
        !(name === "scores" && opened("raw", i, j));
    const secret = (name, i, j) =>
        !isGiven(name) && (isBlank(name, i, j) || (heed.state.predict && !opened(name, i, j)));
    /* Whether a cell is made of one that is still blank: written out, it would tell that one. */
    const ofBlanks = (name, i, j) => {
        const meets = (want, k) => want === null || want === k;
        const among = ([from, [row, col]]) => s.matrix(from).some((list, r) =>
            meets(row, r) && list.some((_, c) => meets(col, c) && isBlank(from, r, c)));
        const made = Object.entries(heed.stepsWords.sources(s, name, i, j));
        return made.some((source) => !isGiven(source[0]) && among(source));
    };
    const say = (text) => { ui.said.textContent = text; };
    /* The number that was typed; what is none is said. */
    const read = (text) => {
        const x = heed.stepsRead(text);
        say(x === null && text.trim()
                ? `${text.trim()} is not taken: expected a number from −1000000 to 1000000.`
                : "");
        return x;
    };

    /* Two words change places; what that did to the output is said by its numbers. */
    const swap = (a, b) => {
        const {swapped, distance} = heed.stepsMath, before = s.result.output;
        const own = has("Z"), name = own ? "Z" : "X";
        s.model[name] = swapped(s.model[name], a, b);
        if (!own && has("others")) s.model.others = swapped(s.model.others, a, b);
        s.model.hidden = swapped(s.model.hidden, a, b);
        s.sources = swapped(s.sources, a, b);
        if (!own) s.tokens = s.sources;
        compute();
        const off = distance(own ? before : swapped(before, a, b), s.result.output);
        const why = s.model.rotary ? "a score depends on how far apart two words are"
            : s.model.causal       ? "with the causal mask the order matters"
                                   : "a hard selection among equal scores takes the first";
        if (off > 1e-12)
            say(`Swapped. The output changed by up to ${off.toPrecision(2)} besides: ${why}.`);
        else
            say(own ? "Swapped. The output is what it was: a sum has no order."
                    : "Swapped. The same two rows of the output changed places; nothing else did.");
        built = "";
        heed.redraw();
    };

    /* ---- tables ---- */

    const titleOf = (name) => {
        if (isGradient(name))
            return heed.stepsSlopes.title(name, s.columns(), has("Z") ? "Z" : "X", s.gradients);
        const memory = has("Z") ? "Z" : "X", prime = "′", flip = s.columns();
        const product = (y, x, w) =>
            (flip ? `${y}${prime} = ${w}${prime} ${x}${prime}` : `${y} = ${x} ${w}`) +
            (has("B_" + y) ? " + B" : "");
        const turned = s.model.rotary ? "_R" : "", line = flip ? "column" : "row";
        const hard = s.model.hard;
        const titles = {
            Q: product("Q", "X", "W_Q"), K: product("K", memory, "W_K"),
            V: product("V", memory, "W_V"), share: flip ? "share = W_h′ H" : "share = output W_h",
            others: "others: what the other heads add",
            all_heads: `all heads = share + others${has("B_O") ? " + B_O" : ""}`,
            normed: "Y = LN(X + all heads)", Q_R: "Q_R: Q rotated by its place",
            K_R: "K_R: K rotated by its place",
            raw: flip ? `S = K${turned} Q${turned}′` : `S = Q${turned} K${turned}′`,
            scores: "beta S, masked",
            weights: `A = ${hard ? "1 at the largest" : "softmax"} of each ${line}`,
            output: flip ? "H = V′ A" : "output = A V",
        };
        return titles[name] || (flip ? name + prime : name);
    };
    const SIGNED = ["raw", "scores", "output", "share", "others", "all_heads", "normed"];
    const heatOf = (name) => {
        if (name === "weights") return "share";
        return SIGNED.includes(name) || isGradient(name) ? "signed" : "";
    };
    const table = (name, turned = false) => {
        const [rows, cols] = s.labels(name), flip = turned !== s.columns();
        const t = heed.stepsTable({
            name, rows, cols, flip,
            title: turned ? (flip ? `${name}′` : name) : titleOf(name), editable: isGiven(name),
            heat: heatOf(name), slim: name === "X" || name === "Z",
            hints: lesson.notes && lesson.notes[name], pick: (i, j) => pick(name, i, j),
            edit: (i, j, value) => edit(name, i, j, value), read,
            guess: (i, j, key) => heed.stepsCell.type(s, name, i, j, key),
        });
        s.tables.push({name, ...t});
        return t.element;
    };
    /* What the fourth part is called and says depends on how the weights are chosen. */
    const nameChoice = () => {
        const line = s.columns() ? "column" : "row", hard = s.model.hard,
              [title, text] = heed.current().box.querySelectorAll(".choice h2, .choice > p");
        title.textContent = hard ? "4 · Hard selection, and the value it takes"
                                 : "4 · Softmax, and the mix of values";
        text.textContent = hard
            ? `Each ${line} of A has a 1 at its largest score, the first of equal ones: its ` +
                "token takes that value alone."
            : `Each ${line} of A sums to 1: the shares that a token takes of all values.`;
        title.parentNode.setAttribute("aria-label", title.textContent);
        for (const t of s.tables)
            if (t.name === "weights") t.retitle(titleOf("weights"));
    };
    /* ---- controls ---- */

    const LOW = -2, HIGH = 2, NOTCHES = 200; /* the slider: 0, then 10^LOW to 10^HIGH */
    const ofNotch = (k) => (k === 0 ? 0 : 10 ** (LOW + ((HIGH - LOW) * (k - 1)) / (NOTCHES - 1)));
    const nearNotch = (beta) => 1 + ((Math.log10(beta) - LOW) * (NOTCHES - 1)) / (HIGH - LOW);
    const notch = (beta) =>
        (beta <= 0 ? 0 : Math.max(1, Math.min(NOTCHES, Math.round(nearNotch(beta)))));
    const button = (text, onclick, title = text) =>
        heed.el("button", {type: "button", text, title, onclick});
    /* A field for a number; what is typed goes to set, null where it is none. */
    const numberField = (label, set) => {
        const field = heed.el("input", {
            type: "text", inputmode: "decimal", size: 8, "aria-label": label,
            onchange: () => set(read(field.value))
        });
        return field;
    };
    const betaControls = () => {
        ui.slider = heed.el("input", {
            type: "range", min: 0, max: NOTCHES, step: 1,
            "aria-label": "beta, from 0: the mean, to 100: nearly hard",
            oninput: () => heed.update({beta: String(ofNotch(Number(ui.slider.value)))})
        });
        ui.beta = numberField("beta", (x) => heed.update(x === null ? {} : {beta: String(x)}));
        return heed.el(
            "span", {class: "field"}, heed.el("span", {text: "beta: mean"}), ui.slider,
            heed.el("span", {text: "hard"}), ui.beta);
    };
    const swapControls = () => {
        const choices = s.sources.map((t, i) => [i, `${i + 1} ${heed.cut(heed.show(t), 16)}`]),
              pair = [1, Math.min(2, s.sources.length - 1)];
        const choice = (k) => ({choices, get: () => pair[k], set: (i) => { pair[k] = i; }});
        const choose = (label, k) => heed.bind("", label, choice(k)).box;
        return heed.el(
            "span", {class: "stepped"}, choose("Swap", 0), choose("and", 1),
            button("Swap", () => swap(...pair), "the two change places"));
    };
    const learnControls = () => {
        const list = lesson.learn.steps || lesson.learn;
        let at = list.length - 1;
        const show = (k) => {
            for (const name of GIVEN)
                if (list[k][name]) s.model[name] = heed.stepsMath.copy(list[k][name]);
            at = k;
            heed.redraw();
        };
        const say = (k) => `step ${list[k].step}, loss ${Number(list[k].loss).toPrecision(3)}`;
        const range = [0, list.length - 1, 1];
        return heed.bind("", "learning", {range, get: () => at, set: show, say}).box;
    };
    const controls = () => {
        const bind = (name, label, kind) => heed.bind(name, label, kind).box;
        const flag = (name, label) => bind(name, label, {
            check: true, get: () => s.model[name],
            set: (on) => heed.update({[name]: on ? "1" : "0"})
        });
        const scaled = {
            check: true, get: () => Math.abs(s.model.beta - usual()) < 1e-9,
            set: (on) => heed.update({beta: String(on ? usual() : 1)})
        };
        return heed.el(
            "div", {class: "tools"}, betaControls(),
            bind("beta", `scale by 1/√${s.model.W_Q[0].length}`, scaled),
            has("Z") ? null : flag("causal", "causal mask"), flag("hard", "hard selection"),
            bind("predict", "predict first", {check: true}),
            bind("notation", "Tokens as", {choices: [["rows", "rows"], ["columns", "columns"]]}),
            bind("digits", "Digits", {choices: DIGITS.map((d) => [d, String(d)])}),
            s.sources.length > 1 ? swapControls() : null, lesson.learn ? learnControls() : null,
            button("Reset", reset, "everything as it was"),
            button("Save JSON", saveJson, "a file for heed explain --from"));
    };
    const reset = () => {
        load();
        built = "";
        heed.update({beta: "", causal: "", hard: "", predict: false});
        say("Everything is as it was.");
    };

    /* ---- files ---- */

    const gradientNames = () =>
        Object.keys(s.gradients || {})
            .filter((name) => (name[1] !== "B" && name !== "dZ") || has(name.slice(1)));
    const shownNames = () => [...GIVEN.filter(has), ...MADE.filter((name) => s.result[name])];
    const numbers = (m) => m.map((row) => row.map((x) => (Number.isFinite(x) ? x : null)));
    const asJson = () => {
        const out = {
            example: lesson.example, title: lesson.title, tokens: s.tokens,
            features: lesson.features
        };
        if (has("Z")) Object.assign(out, {sources: s.sources, memory: lesson.memory});
        const {beta, causal, hard, hidden} = s.model;
        Object.assign(out, {beta, causal, hard, hidden});
        if (lesson.target) out.target = lesson.target;
        if (has("gain")) out.eps = s.model.eps;
        if (s.model.rotary) out.rotary = s.model.rotary;
        for (const name of shownNames())
            out[name] = numbers(
                s.matrix(name).map((row, i) => row.map((x, j) => (secret(name, i, j) ? null : x))));
        return JSON.stringify(out, null, 1) + "\n";
    };
    const saveJson = () =>
        heed.download(new Blob([asJson()], {type: "application/json"}), "heed-steps.json");
    const allRows = () => [...shownNames(), ...gradientNames()].flatMap((name) => {
        const [rows, cols] = s.labels(name);
        return [
            [name, ...cols],
            ...s.matrix(name).map(
                (row, i) => [rows[i], ...row.map((x, j) => (secret(name, i, j) ? "?" : x))])
        ];
    });

    /* ---- drawing ---- */

    const marks = (name) => {
        const at = spot(), lit = heed.stepsWords.sources(s, at.name, at.i, at.j)[name],
              start = isGiven(name) ? lesson[name] : null;
        const covers = (k, want) => want === null || want === k;
        const ties =
            name === "scores" && s.model.hard ? s.result.scores.map(heed.stepsMath.winners) : null;
        return (i, j) => [
            at.name === name && at.i === i && at.j === j ? "chosen" : "",
            lit && covers(i, lit[0]) && covers(j, lit[1]) ? "lit" : "",
            start && start[i][j] !== s.model[name][i][j] ? "changed" : "",
            ties && ties[i].length > 1 && ties[i].includes(j) ? "tie" : "",
            secret(name, i, j) ? "guess" : "",
            onSheet(name, i, j) && name !== "scores" ? "asked" : "",
        ].filter(Boolean);
    };

    const drawQuestions = () => ui.questions.replaceChildren(...heed.stepsWords.questions(s).map(
        ([question, answer]) => heed.el(
            "details", {}, heed.el("summary", {text: question}), heed.el("p", {text: answer}))));

    /* The page's own heading names the example: here stands which sheet it is, or which head of a
     * trained model. */
    const heading = () => {
        const block = heed.record()?.blocks.find((b) => b.path === lesson.layer),
              sheet = lesson.sheet && `${lesson.sheet}: ${heed.show(lesson.title || "")}`;
        const text = sheet ||
            (block && `${block.stack}, layer ${heed.nth(block.layer)}, head ${lesson.head}`);
        return text ? heed.el("h2", {dir: "auto", text}) : null;
    };
    /* Their answers would tell what an exercise asks for. */
    const questions = () =>
        (Object.values(lesson.blanks || {}).flat(2).includes(1)
             ? null
             : heed.el(
                   "section", {"aria-label": "Before you look"},
                   heed.el("h2", {text: "Before you look"}), ui.questions));
    /* What a sheet asks for; null: there is none. */
    const task = () => {
        const flags = Object.values(lesson.blanks || {}).flat(2),
              count = flags.filter(Boolean).length;
        if (!count) return null;
        return heed.el("p", {
            text: flags.includes(1)
                ? `Fill in the ${count} blanks, marked ?, in the order of the steps: choose one, ` +
                    "type its number and press Enter."
                : `The ${count} numbers that the exercise leaves blank are underlined.`
        });
    };
    const build = (box) => {
        s.tables = [];
        fitted = "";
        ui.said = ui.said || heed.el("p", {class: "said", role: "status"});
        ui.cell = heed.el(
            "div", {class: "inspector", "aria-live": "polite", "aria-label": "The chosen cell"});
        ui.questions = heed.el("div");
        box.replaceChildren(heed.el(
            "div", {class: "steps"}, heading(), task(),
            lesson.about ? heed.el("p", {class: "muted", text: lesson.about}) : null, controls(),
            ui.said, ...heed.stepsParts(s), questions(),
            heed.el(
                "details", {}, heed.el("summary", {text: "Sizes and their symbols"}),
                heed.el("div", {class: "wide"}, heed.stepsWords.symbols(s))),
            ui.cell));
    };
    /* Matrices that do not fit beside one another stand closer, else below one another; wider ones
     * scroll. */
    const fit = (box) => {
        const now = [
            box.clientWidth, ...s.tables.map((t) => t.element.style.getPropertyValue("--cell"))
        ].join();
        if (now === fitted) return;
        for (const wide of box.querySelectorAll(".wide"))
            for (const way of ["", "tight", "stacked", "stacked tight", "stacked tight scrolls"]) {
                wide.className = `wide ${way}`;
                if (wide.scrollWidth <= wide.clientWidth) break;
            }
        fitted = now;
    };
    const sayLoss = (loss) => {
        const text = heed.stepsNumber(loss, heed.stepsDigits([[loss]], heed.state.digits));
        const aim = lesson.target || s.gradients.dU ? "" : ", with a target of 0";
        ui.loss.textContent = `L = ${text}${aim}`;
    };
    const syncBeta = () => {
        ui.slider.value = String(notch(s.model.beta));
        if (document.activeElement !== ui.beta)
            ui.beta.value = String(Number(s.model.beta.toPrecision(6)));
    };

    const mixed = (from, to, t) => from + (to - from) * 0.55 * t;
    /* What the parts and the chosen cell read. */
    const refit = () => { fitted = ""; heed.redraw(); };
    Object.assign(s, {
        ui, isGiven, has, spot, pick, edit, opened, secret, ofBlanks, say, read, table, refit,
        button, numberField
    });
    const values = () => {
        compute();
        return {...s.model, ...s.result, ...s.gradients, tokens: s.tokens, sources: s.sources};
    };
    heed.view({
        id: "steps",
        title: "Steps",
        help: "the computation step by step, with numbers that can be changed",
        state: {
            beta: "", causal: "", hard: "", notation: "rows", digits: 2, predict: false,
            spot: "output 2 1"
        },
        available: (data) => !!(data.steps && data.steps.X),
        open() {
            lesson = s.lesson = heed.data.steps;
            if (lesson.notation === "columns" && heed.state.notation === "rows")
                heed.state.notation = "columns";
            load();
            heed.steps = {values}; /* for checks */
        },
        draw() {
            const box = heed.current().box;
            if (Math.max(s.tokens.length, s.sources.length) > LARGEST)
                return box.replaceChildren(heed.el("p", {
                    text: `${s.sources.length} tokens: this view is for at most ` +
                        `${LARGEST}; the other views have no such limit.`
                }));
            keepWithin(heed.state);
            compute();
            if (built !== heed.state.notation) build(box);
            built = heed.state.notation;
            nameChoice();
            for (const t of s.tables) t.update(s.matrix(t.name), heed.state.digits, marks(t.name));
            fit(box);
            syncBeta();
            if (s.gradients)
                sayLoss(heed.stepsSlopes.loss(s.gradients));
            heed.stepsCell.draw(s);
            drawQuestions();
        },
        legend: () => heed.legend(
            "shade: how large within its matrix, of weights from 0 to 1; striped: below 0", 0,
            "largest",
            (t) => heed.theme.bar.map((x, i) => Math.round(mixed(heed.theme.surface[i], x, t)))),
        picture: () => heed.stepsPicture(heed.current().box),
        table() {
            const [rows, keys] = s.labels("weights"), w = s.result.weights;
            const cell = (i, j) => (secret("weights", i, j) ? "?" : s.number("weights", i, j));
            return {
                caption: "Weights, queries in rows", head: ["query", ...keys],
                rows: w.map((row, i) => [rows[i], ...row.map((_, j) => cell(i, j))]), all: allRows
            };
        },
        caption: () => {
            const {name, i, j} = spot();
            return secret(name, i, j)
                ? ""
                : `${heed.stepsWords.cellName(s, name, i, j)} = ${s.number(name, i, j)}`;
        },
    });
})();

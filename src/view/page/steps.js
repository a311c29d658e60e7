/* steps.js -- the Steps view: a worked example as its list of steps, matrices that can be walked
 * through, guessed and, of a head, changed: steps_math.js then computes the rest again.
 * heed.data.steps is {title, words, notation, lists, head}: lists has the steps of either notation
 * (train/explain/files.c); head, which some examples lack, is what `heed explain --json` prints.
 * steps_table.js draws a matrix. A matrix is known by its id, a cell by its stored row and column.
 */
"use strict";
(() => {
    const LARGEST = 48; /* tokens whose tables are still readable */
    const MOST = 16; /* terms of a sum that are written out; rows of a matrix that is not folded */
    const GIVEN = "X Z W_Q W_K W_V B_Q B_K B_V W_h B_O others gain bias".split(" ");
    const DIGITS = [2, 3, 4, 6, 12];
    const ui = {}, known = new Set(), tried = new Set();
    let data = null, head = null, list = [], tables = [], home = new Map(), built = "", fitted = "";
    let model = null, result = {}, gradients = null, sets = {};
    const math = () => heed.stepsMath;

    /* ---- the numbers ---- */

    const matrix = (id) => {
        if (!head) return home.get(id)?.view.values;
        if (id === "target") return head.target ?? result.output.map((row) => row.map(() => 0));
        return model[id] || result[id] || gradients?.[id];
    };
    const isGiven = (id) => !!head && GIVEN.includes(id);
    const digits = (id) => heed.stepsDigits(matrix(id), heed.state.digits);
    const number = (id, i, j) => heed.stepsNumber(matrix(id)[i][j], digits(id));
    const load = () => {
        known.clear();
        tried.clear();
        if (!head) return;
        sets = {
            tokens: head.tokens.slice(), features: head.features, ...head.units,
            memory: head.memory || head.features,
        };
        sets.sources = head.Z ? head.sources.slice() : sets.tokens;
        model = {hidden: head.hidden.slice(), eps: head.eps, rotary: head.rotary};
        for (const id of GIVEN)
            if (head[id]) model[id] = math().copy(head[id]);
    };
    /* Settings live in the link; until the reader changes them they are those of the example. */
    const setting = (name) => (heed.state[name] === "" || !Number.isFinite(Number(heed.state[name]))
                                   ? head[name]
                                   : Number(heed.state[name]));
    const compute = () => {
        if (!DIGITS.includes(heed.state.digits))
            heed.state.digits = 2; /* a link may say anything */
        if (heed.state.notation !== "columns") heed.state.notation = "rows";
        if (!head) return;
        model.beta = setting("beta");
        model.causal = !!setting("causal");
        model.hard = !!setting("hard");
        result = math().compute(model);
        gradients = head.backward ? math().gradients(model, result, head.target) : null;
    };

    /* ---- the list ---- */

    const wayOf = () => heed.state.notation + (model?.hard ? " hard" : "");
    /* Gives the matrices their ids, and each the step whose result it is. */
    const choose = () => {
        list = data.lists[wayOf()];
        home = new Map();
        list.forEach((step, i) => step.views.forEach((view, k) => {
            view.id = head ? view.key : `${i}.${k}`;
            const isResult = k === step.views.length - 1 && !!step.formula;
            if (!home.has(view.id) || (isResult && !home.get(view.id).isResult))
                home.set(view.id, {step, view, isResult});
        }));
    };
    const count = (n) => Array.from({length: n}, (_, i) => String(i + 1));
    const labelsOf = (labels, n) =>
        (typeof labels === "string" ? sets[labels] : labels) || count(n);
    /* Labels of the rows and columns of the drawing. */
    const drawn = (view) => {
        const m = matrix(view.id),
              [r, c] = view.flip ? [m[0].length, m.length] : [m.length, m[0].length];
        return [labelsOf(view.rows, r), labelsOf(view.cols, c)];
    };
    const stored = (view) => (view.flip ? drawn(view).reverse() : drawn(view));
    const placed = (view, i, j) => (view.flip ? [j, i] : [i, j]); /* either way */
    const quote = (label) => `‘${heed.within(heed.show(label))}’`;
    const cellName = (id, i, j) => {
        const {view} = home.get(id), [r, c] = placed(view, i, j), [rows, cols] = drawn(view);
        return `${view.name}[${heed.within(heed.show(rows[r]))}, ${
            heed.within(heed.show(cols[c]))}]`;
    };
    /* Whether a step multiplies two matrices that it draws. */
    const isProduct = ({made, views}) =>
        made === "sum" && !views[0].seen && views.findLastIndex((v) => v.sign === "·") === 1;
    /* The way in which a matrix is made, and of which ones; none: it is only shown. */
    const makingOf = (id) => {
        const {step: {made, views}, view} = home.get(id) ?? {step: {views: []}};
        return made && view === views.at(-1) ? {made, view, from: views.slice(0, -1)} : null;
    };
    const broadcast = (v, i, j) =>
        [matrix(v.id).length > 1 ? i : 0, matrix(v.id)[0].length > 1 ? j : 0];
    /* What a cell is made of: [id, row, column], null for all of them. */
    const sources = (id, i, j) => {
        const {made, view, from} = makingOf(id) ?? {from: []},
              [r, c] = view ? placed(view, i, j) : [];
        const cellOf = (v, k) => made === "sum" ? v.sign === "·" ? placed(v, null, c)
                : from[k + 1]?.sign === "·"                      ? placed(v, r, null)
                                                                 : broadcast(v, i, j)
            : ["scaled", "masked"].includes(made) ? [i, j]
            : ["rows", "gain"].includes(made)     ? [null, j]
            : k < 2                               ? [broadcast(v, i, j)[0], null]
                                                  : [0, j];
        return from.map((v, k) => [v.id, ...cellOf(v, k)]);
    };
    /* The numbers whose products a cell is the sum of: [x, y], or [x] alone. A token's number
     * stands first in either notation. */
    const terms = ({made, view, from}, i, j) => {
        const [r, c] = placed(view, i, j), columns = heed.state.notation === "columns";
        if (made === "rows") return matrix(from[0].id).map((row) => [row[j]]);
        if (made === "gain") return matrix(from[0].id).map((row, k) => [row[j], result.N[k][j]]);
        return from.flatMap((a, k) => {
            const b = from[k + 1];
            if (a.sign === "·") return [];
            if (b?.sign !== "·") {
                const [row, col] = broadcast(a, i, j), x = matrix(a.id)[row][col];
                return [[a.sign === "-" ? -x : x]];
            }
            const pairs = drawn(a)[1].map((_, n) => [at(a, r, n), at(b, n, c)]);
            return columns ? pairs.map(([x, y]) => [y, x]) : pairs;
        });
    };

    /* ---- the cell at hand: "weights 3 4" in the link ---- */

    const spot = () => {
        const [id, row, col] = heed.state.spot.split(" "), m = home.has(id) ? matrix(id) : null;
        if (m && m[row - 1] && m[row - 1][col - 1] !== undefined)
            return {id, i: row - 1, j: col - 1};
        const last = head ? "output" : [...home.keys()].at(-1),
              second = head && matrix(last).length > 1 && heed.state.spot === "";
        return {id: last, i: second ? 1 : 0, j: 0};
    };
    const pick = (id, i, j) => heed.update({spot: `${id} ${i + 1} ${j + 1}`});
    const edit = (id, i, j, value) => {
        model[id][i][j] = value;
        pick(id, i, j);
    };
    /* What a sheet says of a cell: 1 it is blank, 2 it is filled in. */
    const onSheet = (id, i, j) => head?.blanks?.[id]?.[i]?.[j] || 0;
    const opened = (id, i, j) => known.has(id) || known.has(`${id} ${i} ${j}`);
    const isBlank = (id, i, j) => onSheet(id, i, j) === 1 && !opened(id, i, j);
    const secret = (id, i, j) =>
        !isGiven(id) &&
        (isBlank(id, i, j) || (heed.state.predict && home.get(id)?.isResult && !opened(id, i, j)));
    /* Whether a cell is made of one that is still blank: written out, it would tell that one. */
    const ofBlanks = (id, i, j) => sources(id, i, j).some(
        ([from, row, col]) => matrix(from).some(
            (cells, r) =>
                (row === null || row === r) &&
                cells.some((_, c) => (col === null || col === c) && isBlank(from, r, c))));

    /* ---- a cell written out ---- */

    const bold = (text) => heed.el("b", {text});
    const rounded = (x, n) => Number(n(x).replace("−", "-"));
    const equals = (shown, x, n) => (rounded(shown, n) === rounded(x, n) ? " = " : " ≈ ");
    const bracket = (text) => (text.startsWith("−") ? `(${text})` : text);
    const at = (view, r, c) => { /* of the drawing */
        const [i, j] = placed(view, r, c);
        return matrix(view.id)[i][j];
    };
    /* The sum of terms, and what it gives as it is shown. */
    const writeSum = (list, n) => {
        const term = ([x, y], k) => heed.el("span", {
            class: x * (y ?? 1) === 0 ? "nothing" : "term",
            text: y === undefined ? n(k ? Math.abs(x) : x)
                                  : `${k ? bracket(n(x)) : n(x)}·${bracket(n(y))}`,
        });
        const sign = ([x, y]) => (y === undefined && x < 0 ? " − " : " + ");
        const words = list.slice(0, MOST).flatMap((t, k) => [k ? sign(t) : "", term(t, k)]);
        if (list.length > MOST) words.push(` + … (${list.length} terms)`);
        const shown = math().total(list.map(([x, y = 1], k) =>
            k >= MOST ? x * y : rounded(x, n) * (y === 1 ? 1 : rounded(y, n))));
        return [words, shown];
    };
    const writeWeight = (i, j, n) => {
        const row = result.scores[i], best = math().winners(row), weight = result.weights[i][j];
        if (!best.length) return [" = 0: the whole row is hidden"];
        if (model.hard)
            return [
                j === best[0] ? " = 1: the highest score of the row"
                              : " = 0: not the one that is selected",
                best.length > 1 ? `; ${best.length} keys tie, and the first of them is taken` : ""
            ];
        const top = row[best[0]], sum = math().total(row.map((x) => Math.exp(x - top))),
              part = Math.exp(row[j] - top),
              same = equals(rounded(part, n) / rounded(sum, n), weight, n);
        return [
            " = e", heed.el("sup", {text: `${n(row[j])} − ${n(top)}`}),
            ` / ${n(sum)} = ${n(part)} / ${n(sum)}${same}`, bold(n(weight)),
            `. ${n(top)} is the highest score of the row; ${n(sum)} is the sum over all keys`
        ];
    };
    const writeNorm = (i, j, n) => {
        const {X, gain, bias} = model, {N, all_heads: all, deviation, normed} = result;
        const row = X[i].map((x, k) => x + all[i][k]), mean = math().total(row) / row.length,
              last = ` · ${bracket(n(gain[0][j]))} + ${bracket(n(bias[0][j]))}`;
        const given = rounded(N[i][j], n) * rounded(gain[0][j], n) + rounded(bias[0][j], n);
        return [
            ` = (${n(row[j])} − ${bracket(n(mean))}) / ${n(deviation[i])}${last} = `,
            `${n(N[i][j])}${last}${equals(given, normed[i][j], n)}`, bold(n(normed[i][j])),
            ": the token's number minus the token's mean, over its deviation, times gain, plus " +
                "bias",
        ];
    };
    const writtenOut = (id, i, j) => {
        const making = makingOf(id), n = (x) => heed.stepsNumber(x, digits(id)),
              x = matrix(id)[i][j], {made} = making ?? {},
              from = making && matrix(making.from[0].id);
        const summed = (list, last = "") => {
            const [words, shown] = writeSum(list, n);
            return list.length === 1 && !list[0].slice(1).length
                ? [" = ", bold(n(x)), last]
                : [" = ", ...words, equals(shown, x, n), bold(n(x)), last];
        };
        if (["sum", "rows", "gain"].includes(made)) return summed(terms(making, i, j));
        if (made === "softmax") return writeWeight(i, j, n);
        if (made === "normed") return writeNorm(i, j, n);
        if (made === "masked" && x === -Infinity)
            return [" = −∞: the mask hides this key, so its weight is 0"];
        if (made === "scaled" || made === "masked") {
            const name = made === "scaled" ? making.from[0].name : "raw",
                  y = (made === "scaled" ? from : result.raw)[i][j],
                  given = rounded(model.beta, n) * rounded(y, n);
            return [
                ` = beta · ${name} = ${n(model.beta)} · ${bracket(n(y))}${equals(given, x, n)}`,
                bold(n(x)),
            ];
        }
        if (made?.startsWith("rotated")) {
            const row = from[i], back = made === "rotated back",
                  turn = math().turn(model.rotary, row.length, i, j, back),
                  pairs = turn.map(([f, k]) => [row[k], f]),
                  of = pairs.map(([y]) => n(y)).join(", "),
                  way = back ? "rotated back by its place" : "rotated by its place";
            return summed(pairs, `: the pair ${of} ${way}, ${i}`);
        }
        if (made === "softmax back") {
            const p = math().softmax(result.scores[i]), d = gradients.dP[i],
                  mean = math().total(p.map((y, k) => y * d[k]));
            const given = rounded(p[j], n) * (rounded(d[j], n) - rounded(mean, n));
            return [
                ` = ${n(p[j])} · (${n(d[j])} − ${bracket(n(mean))})${equals(given, x, n)}`,
                bold(n(x)),
            ];
        }
        const {formula} = home.get(id).step;
        return [" = ", bold(n(x)), formula ? `, by ${formula}` : ""];
    };
    /* What to compute for a cell, without its numbers. */
    const hint = (id, i, j) => {
        const {step, view} = home.get(id), [r, c] = placed(view, i, j);
        if (!isProduct(step)) return `It is made by ${step.formula || "the step's words"}.`;
        const [a, b, bias] = step.views;
        return `Multiply row ${quote(drawn(a)[0][r])} of ${a.name} with column ` +
               `${quote(drawn(b)[1][c])} of ${b.name}, number by number, and add up` +
               `${step.views.length > 3 ? `, with ${bias.name}` : ""}.`;
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
    const isRight = (id, x, value) =>
        x === value ||
        Math.abs(x - value) <= Math.max(1.1 * 10 ** -Math.max(2, heed.stepsDigits(matrix(id), 2)),
                                   0.01 * Math.abs(value));
    const reveal = (what) => {
        known.add(what);
        heed.redraw();
    };
    /* A first wrong number gets a hint; right or wrong again, or nothing typed, opens the cell. */
    const checkGuess = ({id, i, j}, text) => {
        const x = read(text), cell = `${id} ${i} ${j}`,
              right = x !== null && isRight(id, x, matrix(id)[i][j]);
        if (x === null && text.trim()) return;
        if (x !== null && !right && !tried.has(cell)) {
            tried.add(cell);
            return say(`Not ${text}. ${hint(id, i, j)} Try again.`);
        }
        const next = ofBlanks(id, i, j) ? "the cell is open now" : "the sum is written out below";
        say(right ? "Right." : x === null ? "The cell is open now." : `Not ${text}: ${next}.`);
        reveal(cell);
    };
    const button = (text, onclick, title = text) =>
        heed.el("button", {type: "button", text, title, onclick});
    /* A field for a number; take gets what is typed, null where it is none. */
    const numberField = (label, take, more = {}) => {
        const field = heed.el("input", {
            type: "text", inputmode: "decimal", size: 8, "aria-label": label,
            onchange: () => take(read(field.value)), ...more,
        });
        return field;
    };
    const guessing = (cell) => {
        const tell = () => {
            checkGuess(cell, field.value);
            field.select();
        };
        const onkeydown = (e) => {
            if (e.key === "Enter") tell();
            if (e.key === "Escape" || (e.key === "Enter" && opened(cell.id, cell.i, cell.j)))
                heed.current().box.querySelector("td.chosen")?.focus({preventScroll: true});
        };
        const field = numberField("your guess", null, {onchange: null, onkeydown});
        return [
            " = ? It is made of the outlined cells. ", field,
            button("Check", tell, "compare: a wrong number gets a hint first"),
            button(`Open all of ${home.get(cell.id).view.name}`, () => reveal(cell.id)),
        ];
    };
    /* What is typed at a blank goes to the field below. */
    const typeGuess = (id, i, j, key) => {
        if (!secret(id, i, j)) return false;
        pick(id, i, j);
        drawCell();
        const field = ui.cell.querySelector("input");
        field.value = key;
        field.focus();
        return true;
    };
    const drawCell = () => {
        const now = spot(), {id, i, j} = now, cell = `${id} ${i} ${j}`, hidden = secret(id, i, j);
        /* A guess that is being typed stays. */
        if (ui.cell.dataset.at === cell && hidden && ui.cell.contains(document.activeElement))
            return;
        ui.cell.dataset.at = cell;
        const field = isGiven(id) && numberField(`value of ${cellName(id, i, j)}`, (x) => {
            if (x !== null) edit(id, i, j, x);
        });
        if (field) field.value = String(model[id][i][j]);
        const words = field ? [" = ", field, " Change it here, or type into the table."]
            : hidden ? guessing(now)
            : ofBlanks(id, i, j)
            ? [` = ${number(id, i, j)}. Among the cells it is made of are blanks, so its sum is ` +
                "not written out yet."]
            : writtenOut(id, i, j);
        ui.cell.replaceChildren(bold(cellName(id, i, j)), ...words);
    };

    /* ---- controls ---- */

    const LOW = -2, HIGH = 2, NOTCHES = 200; /* the slider: 0, then 10^LOW to 10^HIGH */
    const ofNotch = (k) => (k === 0 ? 0 : 10 ** (LOW + ((HIGH - LOW) * (k - 1)) / (NOTCHES - 1)));
    const notch = (beta) => beta <= 0 ? 0
        : heed.clamp(
              Math.round(1 + ((Math.log10(beta) - LOW) * (NOTCHES - 1)) / (HIGH - LOW)), 1,
              NOTCHES);
    const betaControls = () => {
        ui.slider = heed.el("input", {
            type: "range", min: 0, max: NOTCHES, step: 1,
            "aria-label": "beta, from 0: the mean, to 100: nearly hard",
            oninput: () => heed.update({beta: String(ofNotch(Number(ui.slider.value)))}),
        });
        ui.beta = numberField("beta", (x) => heed.update(x === null ? {} : {beta: String(x)}));
        return heed.el("span", {class: "field"}, heed.el("span", {text: "beta: mean"}), ui.slider,
            heed.el("span", {text: "hard"}), ui.beta);
    };
    /* Two words change places; what that did to the output is said by its numbers. */
    const swap = (a, b) => {
        const {swapped, distance} = math(), before = result.output, own = !!model.Z,
                        name = own ? "Z" : "X";
        model[name] = swapped(model[name], a, b);
        if (!own && model.others) model.others = swapped(model.others, a, b);
        model.hidden = swapped(model.hidden, a, b);
        sets.sources = swapped(sets.sources, a, b);
        if (!own) sets.tokens = sets.sources;
        compute();
        const off = distance(own ? before : swapped(before, a, b), result.output);
        const why = model.rotary   ? "a score depends on how far apart two words are"
                    : model.causal ? "with the causal mask the order matters"
                                   : "a hard selection among equal scores takes the first";
        say(off > 1e-12
                ? `Swapped. The output changed by up to ${off.toPrecision(2)} besides: ${why}.`
            : own ? "Swapped. The output is what it was: a sum has no order."
                  : "Swapped. The same two rows of the output changed places; nothing else did.");
        built = "";
        heed.redraw();
    };
    const swapControls = () => {
        const choices = sets.sources.map((t, i) => [i, `${i + 1} ${heed.cut(heed.show(t), 16)}`]),
              pair = [1, Math.min(2, sets.sources.length - 1)];
        const choice = (k) => ({choices, get: () => pair[k], set: (i) => { pair[k] = i; }});
        return heed.el("span", {class: "stepped"}, heed.bind("", "Swap", choice(0)).box,
            heed.bind("", "and", choice(1)).box,
            button("Swap", () => swap(...pair), "the two change places"));
    };
    const learnControls = () => {
        const moments = head.learn.steps;
        let now = moments.length - 1;
        const set = (k) => {
            for (const id of ["W_Q", "W_K", "W_V"]) model[id] = math().copy(moments[k][id]);
            now = k;
            heed.redraw();
        };
        const say = (k) =>
            `step ${moments[k].step}, loss ${Number(moments[k].loss).toPrecision(3)}`;
        const range = [0, moments.length - 1, 1];
        return heed.bind("", "learning", {range, get: () => now, set, say}).box;
    };
    const reset = () => {
        load();
        built = "";
        heed.update({beta: "", causal: "", hard: "", predict: false});
        say("Everything is as it was.");
    };
    const saveJson = () => {
        const numbers = (id) => matrix(id).map(
            (row, i) => row.map((x, j) => (Number.isFinite(x) && !secret(id, i, j) ? x : null)));
        const {example, title, features, target, memory} = head, {tokens, sources} = sets;
        const own = model.Z ? {sources, memory} : {},
              out = {example, title, tokens, features, ...own, target, ...model};
        for (const id of Object.keys({...model, ...result}))
            if (Array.isArray(matrix(id)?.[0])) out[id] = numbers(id);
        const blob = new Blob([JSON.stringify(out, null, 1) + "\n"], {type: "application/json"});
        heed.download(blob, "heed-steps.json");
    };
    const controls = () => {
        const bind = (name, label, kind) => heed.bind(name, label, kind).box;
        const flag = (name, label) => bind(name, label, {
            check: true, get: () => model[name], set: (on) => heed.update({[name]: on ? "1" : "0"}),
        });
        const usual = head ? 1 / Math.sqrt(model.W_Q[0].length) : 1;
        const scaled = {
            check: true, get: () => Math.abs(model.beta - usual) < 1e-9,
            set: (on) => heed.update({beta: String(on ? usual : 1)}),
        };
        const ofHead = head && [
            betaControls(), bind("beta", `scale by 1/√${model.W_Q[0].length}`, scaled),
            model.Z ? null : flag("causal", "causal mask"), flag("hard", "hard selection")
        ];
        const more = head && [
            sets.sources.length > 1 ? swapControls() : null, head.learn ? learnControls() : null,
            button("Reset", reset, "everything as it was"),
            button("Save JSON", saveJson, "a file for heed explain --from")
        ];
        return heed.el("div", {class: "tools"}, ...(ofHead || []),
            bind("predict", "predict first", {check: true}),
            bind("notation", "Tokens as", {choices: [["rows", "rows"], ["columns", "columns"]]}),
            bind("digits", "Digits", {choices: DIGITS.map((d) => [d, String(d)])}),
            ...(more || []));
    };

    /* ---- drawing ---- */

    const marks = (id) => {
        const now = spot(), lit = sources(now.id, now.i, now.j).filter(([from]) => from === id),
              start = isGiven(id) ? head[id] : null;
        const covers = (k, want) => want === null || want === k;
        const ties = id === "scores" && model?.hard ? result.scores.map(math().winners) : null;
        return (i, j) => Object.entries({
            chosen: now.id === id && now.i === i && now.j === j,
            lit: lit.some(([, r, c]) => covers(i, r) && covers(j, c)),
            changed: start && start[i][j] !== model[id][i][j],
            tie: ties && ties[i].length > 1 && ties[i].includes(j), guess: secret(id, i, j),
            asked: onSheet(id, i, j),
        }).filter(([, on]) => on).map(([name]) => name);
    };
    const heatOf = (view) => {
        if (view.key === "weights" || (view.heat && !head))
            return matrix(view.id).flat().every((x) => x >= 0 && x <= 1) ? "share" : "signed";
        const plain = isGiven(view.id) && view.id !== "others";
        return plain || ["Q", "K", "V", "Q_R", "K_R"].includes(view.key) || !head ? "" : "signed";
    };
    const table = (view) => {
        const [rows, cols] = stored(view), id = view.id;
        const t = heed.stepsTable({
            name: view.name, rows, cols, flip: view.flip, title: view.name, editable: isGiven(id),
            heat: heatOf(view), slim: id === "X" || id === "Z", hints: head?.notes[id], read,
            pick: (i, j) => pick(id, i, j), edit: (i, j, value) => edit(id, i, j, value),
            guess: (i, j, key) => typeGuess(id, i, j, key),
        });
        tables.push({id, ...t});
        return t.element;
    };
    /* Tables beside one another, with the signs between them. */
    const equation = (views) => heed.el("div", {class: "beside"}, ...views.flatMap(
        (v, k) => [k && v.sign ? heed.el("span", {class: "sign", text: v.sign}) : null, table(v)]));
    /* The factor that products in a row may share: of tokens. */
    const shared = ({views}) => views[heed.state.notation === "columns" ? 1 : 0];
    const isSame = (v, w) => v.id === w.id && v.flip === w.flip;
    /* Products as they are done by hand: where the row of what stands at the left and the column of
     * what stands on top cross is their number. A bias stands with its matrix. */
    const crossing = (steps) => {
        const columns = heed.state.notation === "columns", one = [[shared(steps[0])]],
              others = steps.map(
                  ({views: [a, b, ...more]}) => [columns ? a : b, ...more.slice(0, -1)]),
              made = steps.map(({views}) => [views.at(-1)]),
              [left, top] = columns ? [others, one] : [one, others];
        const group = (list) => heed.el("div", {class: "group"}, ...list.map(
            (views) => heed.el("div", {class: "factor"}, ...views.map(table))));
        return heed.el("div", {class: columns ? "crossing mirrored" : "crossing"}, heed.el("div"),
            group(top), group(left), group(made));
    };
    /* What a step draws, with the steps before it that wait for it. A matrix alone is drawn where a
     * product further down has it as a factor. */
    const drawing = (steps) => {
        if (isProduct(steps[0])) return crossing(steps);
        const views = steps[0].views.filter((v) => !v.seen), [alone] = views,
              below = list.slice(list.indexOf(steps[0])).filter(isProduct);
        const later = alone && below.some((s) => s.views.slice(0, 2).some((v) => isSame(v, alone)));
        const masked = list[list.indexOf(steps[0]) + 1]?.made === "masked"; /* shows the same */
        return views.length > 1 || (alone && !later && !masked) ? equation(views) : null;
    };
    /* A trained model's matrices fill screens: they are folded, so that the page opens at the
     * scores. */
    const isLarge = ({views}) => head && !head.blanks && views.some((v) => drawn(v).some(
        (l) => l.length > MOST && l !== sets.tokens && l !== sets.sources));
    const refit = () => {
        fitted = "";
        heed.redraw();
    };
    const text = (step, keys) => keys.map((key) => step[key] && heed.el(
        "p", {class: /words|now|aside/.test(key) ? "muted" : "", text: step[key]}));
    const content = (step, steps) => {
        const words = text(step, ["words", "now"]), after = text(step, ["cell", "after", "aside"]);
        if (step.listed)
            words.push(heed.el("p", {
                text: (step.listed === "sources" ? "Inputs: " : "") +
                    sets[step.listed].map((l, i) => `${i + 1}\u00a0${heed.show(l)}`).join(", "),
            }));
        if (step.loss) words.push(ui.loss = heed.el("p", {class: "loss"}));
        const made = steps && drawing(steps), views = steps?.flatMap((s) => s.views) ?? [],
              wide = made && heed.el("div", {class: "wide", tabindex: -1}, made),
              open = views.some((v) => v.id === spot().id && !isGiven(v.id)),
              names = new Set(views.filter((v) => !v.seen).map((v) => v.name));
        const shown = wide && isLarge({views})
            ? heed.el("details", {class: "fold", open, ontoggle: refit},
                  heed.el("summary", {text: [...names].join(", ")}), wide)
            : wide;
        return [...words, shown, ...after].filter(Boolean);
    };
    const sections = () => {
        const out = [];
        let part = 0, waiting = [];
        list.forEach((step, i) => {
            const next = list[i + 1], title =
                step.title && `${++part} · ${step.title}${step.formula ? `: ${step.formula}` : ""}`;
            if (title || !out.length)
                out.push(heed.el("section", {class: "sum", "aria-label": title || "What is given"},
                    title ? heed.el("h2", {text: title}) : null));
            waiting.push(step);
            const waits = next && isProduct(step) && isProduct(next) &&
                isSame(shared(step), shared(next));
            out.at(-1).append(...content(step, waits ? null : waiting));
            if (!waits) waiting = [];
        });
        return out;
    };
    /* [question, answer] about the row at hand. */
    const questions = () => {
        const {id, i: at} = spot(), keys = sets.sources, rows = sets.tokens;
        const i =
            home.get(id)?.view.rows === "tokens" && matrix(id).length === rows.length ? at : 0;
        const n = (x) => heed.stepsNumber(x, heed.state.digits, false),
              names = (labels) => labels.map(quote).join(", ");
        const asked = result.Q_R || result.Q,
              same = rows.filter((_, k) => k !== i && asked[k].every((x, c) => x === asked[i][c]));
        const word = quote(rows[i]);
        const mean = result.V[0].map(
            (_, c) => math().total(result.V.map((row) => row[c])) / result.V.length);
        const best = math().winners(result.scores[i]).map((k) => keys[k]);
        const changing = model.rotary
            ? "Their rows change places, and the weights change too: queries and keys are " +
                "rotated by their places, so a score depends on how far apart two words are."
            : model.Z ? "Nothing: the output is a sum over the keys, and a sum has no order."
            : "The same two rows change places and nothing else: attention knows no order. With " +
                "the causal mask this no longer holds.";
        return [
            [`Who asks for exactly the same as ${word}?`,
             same.length ? `${names(same)}: equal queries, so equal scores and weights, unless a ` +
                     "mask tells them apart."
                         : "Nobody: no other query is equal."],
            [`Whose key fits the query of ${word} best?`,
             best.length ? `${names(best)} with the score ${n(Math.max(...result.scores[i]))}` +
                     `${best.length > 1 ? ": a tie" : ""}.`
                         : "Nobody's: the row is hidden."],
            ["What will the output be with beta = 0?",
             `Every score is 0 and every weight ${n(1 / keys.length)}: the mean of the values, ` +
                 `(${mean.map(n).join(", ")}), for every query; with a mask, the mean of what it ` +
                 "leaves."],
            ["Two words change places. What happens to the output?", changing],
        ];
    };
    const drawQuestions = () => ui.questions?.replaceChildren(...questions().map(
        ([question, answer]) => heed.el(
            "details", {}, heed.el("summary", {text: question}), heed.el("p", {text: answer}))));

    /* The page's own heading names the example: here stands which sheet it is, what that asks for,
     * or which head of a trained model. */
    const heading = () => {
        const block = heed.record()?.blocks.find((b) => b.path === head?.layer),
              flags = Object.values(head?.blanks || {}).flat(2), n = flags.filter(Boolean).length;
        const text = head?.sheet ? `${head.sheet}: ${heed.show(head.title || "")}`
            : block && `${block.stack}, layer ${heed.nth(block.layer)}, head ${head.head}`;
        const task = flags.includes(1)
            ? `Fill in the ${n} blanks, marked ?, in the order of the steps: choose one, type ` +
                "its number and press Enter."
            : n && `The ${n} numbers that the exercise leaves blank are underlined.`;
        return [
            text ? heed.el("h2", {dir: "auto", text}) : null,
            task ? heed.el("p", {text: task}) : null,
            data.words ? heed.el("p", {class: "muted", text: data.words}) : null,
        ];
    };
    const build = (box) => {
        const answers = Object.values(head?.blanks || {}).flat(2).includes(1);
        tables = [];
        fitted = "";
        ui.said = ui.said || heed.el("p", {class: "said", role: "status"});
        ui.cell = heed.el(
            "div", {class: "inspector", "aria-live": "polite", "aria-label": "The chosen cell"});
        /* Answers would tell what an exercise asks for. */
        ui.questions = head && !answers ? heed.el("div") : null;
        box.replaceChildren(
            heed.el("div", {class: "steps"}, ...heading(), controls(), ui.said, ...sections(),
                ui.questions && heed.el("section", {"aria-label": "Before you look"},
                                    heed.el("h2", {text: "Before you look"}), ui.questions),
                data.symbols &&
                    heed.el("details", {}, heed.el("summary", {text: "Sizes and their symbols"}),
                        heed.el("p", {text: data.symbols})),
                ui.cell));
    };
    /* Matrices that do not fit beside one another stand closer, else below one another; wider ones
     * scroll. */
    const fit = (box) => {
        const now = [
            box.clientWidth, ...tables.map((t) => t.element.style.getPropertyValue("--cell"))
        ].join();
        if (now === fitted) return;
        for (const wide of box.querySelectorAll(".wide"))
            for (const way of ["", "tight", "stacked", "stacked tight", "stacked tight scrolls"]) {
                wide.className = `wide ${way}`;
                if (wide.scrollWidth <= wide.clientWidth) break;
            }
        fitted = now;
    };
    const sync = () => {
        if (!head) return;
        ui.slider.value = String(notch(model.beta));
        if (document.activeElement !== ui.beta)
            ui.beta.value = String(Number(model.beta.toPrecision(6)));
        if (!gradients) return;
        const loss = math().loss(gradients),
              aim = head.target || gradients.dU ? "" : ", with a target of 0";
        ui.loss.textContent =
            `L = ${heed.stepsNumber(loss, heed.stepsDigits([[loss]], heed.state.digits))}${aim}`;
    };
    const allRows = () => [...home].flatMap(([id, {view}]) => {
        const [rows, cols] = stored(view);
        return [
            [view.key, ...cols],
            ...matrix(id).map(
                (row, i) => [rows[i], ...row.map((x, j) => (secret(id, i, j) ? "?" : x))])
        ];
    });

    heed.view({
        id: "steps",
        title: "Steps",
        help: "the computation step by step, with numbers that can be changed",
        state:
            {beta: "", causal: "", hard: "", notation: "rows", digits: 2, predict: false, spot: ""},
        available: (all) => !!(all.steps && all.steps.lists),
        open() {
            data = heed.data.steps;
            head = data.head || null;
            if (data.notation === "columns" && heed.state.notation === "rows")
                heed.state.notation = "columns";
            load();
            const values = () => {
                compute();
                return {...model, ...result, ...gradients, ...sets};
            };
            heed.steps = {values}; /* for checks */
        },
        draw() {
            const box = heed.current().box;
            if (head && Math.max(sets.tokens.length, sets.sources.length) > LARGEST)
                return box.replaceChildren(heed.el("p", {
                    text: `${sets.sources.length} tokens: this view is for at most ${LARGEST}; ` +
                        "the other views have no such limit.",
                }));
            compute();
            choose();
            if (built !== wayOf()) build(box);
            built = wayOf();
            for (const t of tables) t.update(matrix(t.id), heed.state.digits, marks(t.id));
            fit(box);
            sync();
            drawCell();
            drawQuestions();
        },
        legend: () => heed.legend(
            "shade: how large within its matrix, of weights from 0 to 1; striped: below 0", 0,
            "largest", (t) => heed.between(heed.theme.surface, heed.theme.bar, 0.55 * t)),
        picture: () => heed.stepsPicture(heed.current().box),
        table() {
            const id = head ? "weights" : spot().id, {view} = home.get(id),
                  [rows, cols] = stored(view);
            const cell = (i, j) => (secret(id, i, j) ? "?" : number(id, i, j));
            return {
                caption: head ? "Weights, queries in rows" : view.name, head: ["", ...cols],
                rows: matrix(id).map((row, i) => [rows[i], ...row.map((_, j) => cell(i, j))]),
                all: allRows,
            };
        },
        caption: () => {
            const {id, i, j} = spot();
            return secret(id, i, j) ? "" : `${cellName(id, i, j)} = ${number(id, i, j)}`;
        },
    });
})();

/* steps_cell.js -- the chosen cell of the Steps view: its computation, a field for its number, or a
 * field to guess it in. */
"use strict";
(() => {
    let s = null; /* the view's worked example (steps.js) */

    const valueField = ({name, i, j}) => {
        const field = s.numberField(`value of ${heed.stepsWords.cellName(s, name, i, j)}`, (x) => {
            if (x !== null) s.edit(name, i, j, x);
        });
        field.value = String(s.model[name][i][j]);
        return field;
    };
    const lastDigit = (name) => 1.1 * 10 ** -Math.max(2, heed.stepsDigits(s.matrix(name), 2));
    const isRight = (name, x, value) => x === value ||
        Math.abs(x - value) <= Math.max(lastDigit(name), 0.01 * Math.abs(value));
    /* A first wrong number gets a hint; right or wrong again, or nothing typed, opens the cell. */
    const checkGuess = ({name, i, j}, text) => {
        const x = s.read(text), cell = `${name} ${i} ${j}`,
              right = x !== null && isRight(name, x, s.matrix(name)[i][j]);
        if (x === null && text.trim()) return;
        if (x !== null && !right && !s.tried.has(cell)) {
            s.tried.add(cell);
            return s.say(`Not ${text}. ${heed.stepsWords.hint(s, name, i, j)} Try again.`);
        }
        const next =
            s.ofBlanks(name, i, j) ? "the cell is open now" : "the sum is written out below";
        s.say(right ? "Right." : x === null ? "The cell is open now." : `Not ${text}: ${next}.`);
        reveal(cell);
    };
    const reveal = (what) => { s.known.add(what); heed.redraw(); };
    const toCell = () =>
        heed.current().box.querySelector("td.chosen")?.focus({preventScroll: true});
    const guess = (at) => {
        const field = heed.el("input", {
            type: "text", inputmode: "decimal", size: 8, "aria-label": "your guess",
            onkeydown: (e) => {
                if (e.key === "Enter") tell();
                if (e.key === "Escape" || (e.key === "Enter" && s.opened(at.name, at.i, at.j)))
                    toCell();
            }
        });
        const tell = () => { checkGuess(at, field.value); field.select(); };
        return [
            heed.el("b", {text: heed.stepsWords.cellName(s, at.name, at.i, at.j)}),
            " = ? It is made of the outlined cells. ", field,
            s.button("Check", tell, "compare: a wrong number gets a hint first"),
            s.button(`Open all of ${at.name}`, () => reveal(at.name))
        ];
    };
    /* What is typed at a blank goes to the field below. */
    const typeGuess = (name, i, j, key) => {
        if (!s.secret(name, i, j)) return false;
        s.pick(name, i, j);
        draw();
        const field = s.ui.cell.querySelector("input");
        field.value = key;
        field.focus();
        return true;
    };
    const draw = () => {
        const at = s.spot(), cell = `${at.name} ${at.i} ${at.j}`,
              name = heed.el("b", {text: heed.stepsWords.cellName(s, at.name, at.i, at.j)});
        /* A guess that is being typed stays. */
        if (s.ui.cell.dataset.at === cell && s.secret(at.name, at.i, at.j) &&
            s.ui.cell.contains(document.activeElement))
            return;
        s.ui.cell.dataset.at = cell;
        if (s.isGiven(at.name))
            return s.ui.cell.replaceChildren(
                name, " = ", valueField(at), " Change it here, or type into the table.");
        if (!s.secret(at.name, at.i, at.j) && s.ofBlanks(at.name, at.i, at.j))
            return s.ui.cell.replaceChildren(
                name, ` = ${s.number(at.name, at.i, at.j)}. Among the cells it is made of are `,
                "blanks, so its sum is not written out yet.");
        const words = s.secret(at.name, at.i, at.j)
            ? guess(at)
            : heed.stepsWords.writtenOut(s, at.name, at.i, at.j);
        s.ui.cell.replaceChildren(...words);
    };
    heed.stepsCell = {
        draw: (view) => { s = view; draw(); },
        type: (view, ...at) => { s = view; return typeGuess(...at); },
    };
})();

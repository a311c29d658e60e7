/* steps_table.js -- a small matrix as a real table: labels, one chosen cell, arrow keys, numbers
 * that can be edited in place. A table knows its matrix by (row, column) also where it is drawn
 * transposed. And all tables as a picture. */
"use strict";
(() => {
    /* whole: no number of the matrix has a fraction. */
    heed.stepsNumber = (x, digits, whole = Number.isInteger(x)) => {
        if (x === null) return "";
        if (!Number.isFinite(x)) return x < 0 ? "−∞" : String(x);
        const text = whole ? String(x) : x.toFixed(digits);
        return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
    };
    /* Digits behind the point for a matrix: more where all of it is small, as the program has it
     * (train/explain/equation.c: matrix_digits). */
    heed.stepsDigits = (m, digits) => {
        const MORE = 6, most = Math.max(0, ...m.flat().filter(Number.isFinite).map(Math.abs));
        let more = 0;
        while (more < MORE && most < 10 ** (-more - 1)) more++;
        return more < MORE ? digits + more : digits;
    };
    const isWhole = (m) => m.flat().every(
        (x) => !Number.isFinite(x) || (Number.isInteger(x) && Math.abs(x) < 1e6));

    /* The number that somebody typed, or null. */
    heed.stepsRead = (text) => {
        const x = Number(text.trim().replace("−", "-").replace(",", "."));
        return text.trim() !== "" && Number.isFinite(x) && Math.abs(x) <= 1e6 ? x : null;
    };

    /* A field in the place of a cell's number. Enter and leaving it take the number, Escape does
     * not. */
    const openField = (td, label, text, read, done) => {
        const field = heed.el("input", {type: "text", inputmode: "decimal", "aria-label": label});
        let open = true;
        const close = (keep, back) => {
            if (!open) return;
            open = false;
            const value = keep ? read(field.value) : null;
            td.textContent = "";
            done(value);
            if (back) td.focus();
        };
        field.value = text;
        field.addEventListener("blur", () => close(true, false));
        field.addEventListener("keydown", (e) => {
            e.stopPropagation();
            if (e.key === "Enter" || e.key === "Escape") {
                e.preventDefault();
                close(e.key === "Enter", true);
            }
        });
        td.textContent = "";
        td.append(field);
        field.focus();
        return field;
    };

    /* spec: {name, title, rows, cols: labels, hints: of the rows or none, editable, flip: draw
     * transposed, heat: "share", "signed" or none, slim: narrow columns for whole numbers, pick(i,
     * j), edit(i, j, value), read(text): the number typed or null, guess(i, j, key): a key was
     * typed at a number that is no given one; true if it was used}. Gives {element, update,
     * retitle}. */
    heed.stepsTable = (spec) => {
        const [down, across] = spec.flip ? [spec.cols, spec.rows] : [spec.rows, spec.cols];
        const at = (r, c) => (spec.flip ? [c, r] : [r, c]);
        const label = (text, scope, hint) => heed.el(
            "th",
            {scope, dir: "auto", title: hint ? `${text}: ${hint}` : text, text: heed.show(text)});
        const cells = [];
        /* Room for the labels of few columns. */
        const named = across.length > 12
            ? 0
            : Math.min(4, 0.43 * Math.max(...across.map((text) => heed.show(text).length)));
        let shown = null;

        const focus = (r, c) => {
            for (const td of cells.flat()) td.tabIndex = -1;
            cells[r][c].tabIndex = 0;
            cells[r][c].focus();
        };
        const edit = (r, c, typed) => {
            const [i, j] = at(r, c), td = cells[r][c];
            if (!spec.editable || td.querySelector("input")) return;
            const field = openField(
                td, `${spec.name}, row ${spec.rows[i]}, column ${spec.cols[j]}`,
                typed || String(shown[i][j]), spec.read,
                (value) => (value === null ? spec.pick(i, j) : spec.edit(i, j, value)));
            if (!typed) field.select();
        };
        const onKey = (e, r, c) => {
            if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT") return;
            const bottom = down.length - 1, right = across.length - 1,
                  typed = /^[-0-9.]$/.test(e.key);
            const moves = {
                ArrowUp: [Math.max(r - 1, 0), c], ArrowDown: [Math.min(r + 1, bottom), c],
                PageUp: [0, c], PageDown: [bottom, c], ArrowLeft: [r, Math.max(c - 1, 0)],
                ArrowRight: [r, Math.min(c + 1, right)], Home: [r, 0], End: [r, right],
            };
            if (Object.hasOwn(moves, e.key)) focus(...moves[e.key]);
            else if (spec.editable && (typed || e.key === "Enter" || e.key === "F2"))
                edit(r, c, typed ? e.key : "");
            else if (typed && spec.guess(...at(r, c), e.key)) { /* taken */ }
            else return;
            e.preventDefault();
            e.stopPropagation();
        };
        const makeCell = (r, c) => {
            const td = heed.el("td", {
                role: "gridcell", tabindex: r || c ? -1 : 0, onfocus: () => spec.pick(...at(r, c)),
                onclick: () => focus(r, c), ondblclick: () => edit(r, c, ""),
                onkeydown: (e) => onKey(e, r, c),
            });
            (cells[r] = cells[r] || []).push(td);
            return td;
        };

        const title = heed.el("b", {text: spec.title}), shape = `${down.length} × ${across.length}`;
        const top = heed.el(
            "tr", {}, heed.el("td", {class: "corner"}),
            ...across.map(
                (text, c) => label(text, "col", spec.flip && spec.hints && spec.hints[c])));
        const body = down.map(
            (text, r) => heed.el(
                "tr", {}, label(text, "row", !spec.flip && spec.hints && spec.hints[r]),
                ...across.map((_, c) => makeCell(r, c))));
        const element = heed.el(
            "figure",
            {class: ["matrix", spec.heat ? "heat" : "", spec.editable ? "editable" : ""].join(" ")},
            heed.el(
                "table", {role: "grid", "aria-label": `${spec.title}, ${shape}`},
                heed.el("thead", {}, top), heed.el("tbody", {}, ...body)),
            heed.el("figcaption", {}, title, ` ${shape}`));

        /* Writes the numbers again. mark(i, j): the classes of a cell, "guess" among them where it
         * is to be guessed first. */
        const update = (m, least, mark) => {
            const digits = heed.stepsDigits(m, least);
            const whole = isWhole(m),
                  most = Math.max(1e-12, ...m.flat().filter(Number.isFinite).map(Math.abs));
            shown = m;
            const wide = whole && spec.slim ? 2.5 : 1.75 + 0.5 * Math.max(digits, 2);
            element.style.setProperty("--cell", `${Math.max(wide, named)}rem`);
            cells.forEach((row, r) => row.forEach((td, c) => {
                const [i, j] = at(r, c), classes = mark(i, j), secret = classes.includes("guess");
                if (td.querySelector("input")) return;
                const share = secret || !spec.heat || !Number.isFinite(m[i][j])
                    ? 0
                    : m[i][j] / (spec.heat === "share" ? 1 : most);
                td.className = [...classes, share < 0 ? "negative" : ""].join(" ");
                td.style.setProperty("--heat", Math.abs(share).toFixed(3));
                td.textContent = secret ? "?" : heed.stepsNumber(m[i][j], digits, whole);
                td.setAttribute("aria-selected", String(classes.includes("chosen")));
            }));
        };
        const retitle = (text) => {
            title.textContent = text;
            element.firstChild.setAttribute("aria-label", `${text}, ${shape}`);
        };
        return {element, update, retitle};
    };

    /* ---- the tables and their headings as a picture to save, where the page has laid them out
     * ---- */

    const colorOf = (name) =>
        getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    const paintCell = (pen, td, x, y, w, h) => {
        const heat = Number(td.style.getPropertyValue("--heat")) || 0,
              has = (name) => td.classList.contains(name);
        if (td.classList.contains("corner")) return;
        if (heat)
            pen.rect(
                x, y, w, h, {fill: colorOf(has("negative") ? "accent" : "bar"), alpha: heat * 0.5});
        if (heat && has("negative"))
            for (let i = 0; i <= w - h; i += 7)
                pen.line(
                    [[x + i, y + h], [x + i + h, y]],
                    {color: heed.css(heed.theme.surface), width: 3});
        pen.rect(x, y, w, h, {stroke: heed.theme.line});
        if (has("lit")) pen.rect(x, y, w, h, {stroke: colorOf("bar"), width: 2});
        if (has("chosen")) pen.rect(x, y, w, h, {stroke: heed.theme.accent, width: 3});
        pen.text(
            td.textContent + (has("tie") ? " =" : ""), x + w - 4, y + h / 2,
            {size: 13, align: "right", weight: has("chosen") || has("changed") ? 700 : 400});
    };
    const painters = {
        TD: paintCell,
        TH: (pen, th, x, y, w, h) =>
            (th.scope === "col"
                 ? pen.text(
                       th.textContent, x + w / 2, y + h / 2,
                       {size: 12, align: "center", color: heed.theme.muted, width: w})
                 : pen.text(
                       th.textContent, x + w - 4, y + h / 2,
                       {size: 12, align: "right", color: heed.theme.muted, width: w - 4})),
        H2: (pen, head, x, y, w, h) =>
            pen.text(head.textContent, x, y + h / 2, {size: 16, weight: 650}),
        FIGCAPTION: (pen, text, x, y, w, h) =>
            pen.text(text.textContent, x + w - 2, y + h / 2, {size: 13, align: "right"}),
    };

    /* What the page's view.picture gives, for the sections in box. */
    heed.stepsPicture = (box) => {
        const parts = [...box.querySelectorAll("section.sum")].flatMap(
            (section) => [...section.querySelectorAll("h2, th, td, figcaption")]);
        const boxes = parts.map((part) => [part, part.getBoundingClientRect()]);
        const left = Math.min(...boxes.map(([, b]) => b.left)),
              top = Math.min(...boxes.map(([, b]) => b.top));
        const width = Math.max(...boxes.map(([, b]) => b.right)) - left,
              height = Math.max(...boxes.map(([, b]) => b.bottom)) - top;
        const paint = (pen) => {
            for (const [part, b] of boxes)
                painters[part.tagName](pen, part, b.left - left, b.top - top, b.width, b.height);
        };
        return {width: Math.ceil(width) + 4, height: Math.ceil(height) + 4, paint};
    };
})();

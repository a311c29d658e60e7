/* steps_picture.js -- the Steps view as a picture to save: its headings and matrices, where the page has laid them out. */
"use strict";
(() => {
    const heats = {share: "bar", negative: "accent"};
    const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

    const paintCell = (pen, td, x, y, w, h) => {
        const heat = Number(td.style.getPropertyValue("--heat")) || 0, has = (name) => td.classList.contains(name);
        if (td.classList.contains("corner")) return;
        if (heat) pen.rect(x, y, w, h, {fill: colorOf(has("negative") ? heats.negative : heats.share), alpha: heat * 0.5});
        if (heat && has("negative")) for (let i = 0; i <= w - h; i += 7) pen.line([[x + i, y + h], [x + i + h, y]], {color: heed.css(heed.theme.surface), width: 3});
        pen.rect(x, y, w, h, {stroke: heed.theme.line});
        if (has("lit")) pen.rect(x, y, w, h, {stroke: colorOf("bar"), width: 2});
        if (has("chosen")) pen.rect(x, y, w, h, {stroke: heed.theme.accent, width: 3});
        pen.text(td.textContent + (has("tie") ? " =" : ""), x + w - 4, y + h / 2, {size: 13, align: "right", weight: has("chosen") || has("changed") ? 700 : 400});
    };
    const painters = {
        TD: paintCell,
        TH: (pen, th, x, y, w, h) => (th.scope === "col"
            ? pen.text(th.textContent, x + w / 2, y + h / 2, {size: 12, align: "center", color: heed.theme.muted, width: w})
            : pen.text(th.textContent, x + w - 4, y + h / 2, {size: 12, align: "right", color: heed.theme.muted, width: w - 4})),
        H2: (pen, head, x, y, w, h) => pen.text(head.textContent, x, y + h / 2, {size: 16, weight: 650}),
        FIGCAPTION: (pen, text, x, y, w, h) => pen.text(text.textContent, x + w - 2, y + h / 2, {size: 13, align: "right"}),
    };

    /* What the page's view.picture gives, for the sections in box. */
    heed.stepsPicture = (box) => {
        const parts = [...box.querySelectorAll("section.sum")].flatMap((section) => [...section.querySelectorAll("h2, th, td, figcaption")]);
        const boxes = parts.map((part) => [part, part.getBoundingClientRect()]);
        const left = Math.min(...boxes.map(([, b]) => b.left)), top = Math.min(...boxes.map(([, b]) => b.top));
        const width = Math.max(...boxes.map(([, b]) => b.right)) - left, height = Math.max(...boxes.map(([, b]) => b.bottom)) - top;
        const paint = (pen) => { for (const [part, b] of boxes) painters[part.tagName](pen, part, b.left - left, b.top - top, b.width, b.height); };
        return {width: Math.ceil(width) + 4, height: Math.ceil(height) + 4, paint};
    };
})();

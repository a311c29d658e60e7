/* steps_parts.js -- the numbered parts of the Steps view, from queries and keys to the gradients:
 * their titles, what they say, and which matrices stand where. */
"use strict";
(() => {
    let s = null; /* the view's worked example (steps.js) */

    const beside = (...names) => heed.el(
        "div", {class: "beside"},
        ...names.filter((n) => !s.isGiven(n) || s.has(n)).map((n) => s.table(n)));
    /* What stands at the left times what stands on top gives what they meet at; in columns the same
     * mirrored. */
    const crossing = (left, top, meet) => {
        const group = (list) => heed.el("div", {class: "group"}, ...list);
        const order = s.columns() ? [left, top, meet] : [top, left, meet];
        const way = s.columns() ? "crossing mirrored" : "crossing";
        return heed.el("div", {class: way}, heed.el("div"), ...order.map(group));
    };
    const projections = () => {
        const tables = (letters, of = "") => letters.map((l) => s.table(of + l));
        const of = (x, letters) => crossing([s.table(x)], tables(letters, "W_"), tables(letters));
        const biases = ["B_Q", "B_K", "B_V"].some(s.has) ? [beside("B_Q", "B_K", "B_V")] : [];
        return s.has("Z") ? [of("X", ["Q"]), of("Z", ["K", "V"]), ...biases]
                          : [of("X", ["Q", "K", "V"]), ...biases];
    };

    const backward = () => {
        const biases = ["Q", "K", "V"].filter((l) => s.has("B_" + l)).map((l) => "dB_" + l),
              layered = heed.stepsSlopes.ofLayer(s.model, s.lesson.target);
        let number = s.has("W_h") ? 6 : 5;
        s.ui.loss = heed.el("p", {class: "muted"});
        const shape = "every gradient has the shape of what it belongs to.";
        const first = layered
            ? part(
                  number++, "Backward: from the loss through the layer",
                  `The loss is L = ½ Σ (${s.has("gain") ? "Y − X" : "all heads"})²: how far ` +
                      `the layer moves its tokens. U is ${s.has("gain") ? "X + " : ""}all heads; ` +
                      shape,
                  s.ui.loss, ...(s.has("gain") ? [beside("dY"), beside("dgain", "dbias")] : []),
                  beside("dU"), ...(s.has("B_O") ? [beside("dB_O")] : []), beside("dW_h"))
            : null;
        return [
            first,
            layered
                ? part(
                      number, "Back to values and weights",
                      "dO says how L changes with each number of the head's output.",
                      beside("dO", "dV", "dP"))
                : part(
                      number, "Backward: from the loss to values and weights",
                      "The loss is L = ½ Σ (output − target)². dO says how L changes with each " +
                          `number of the output; ${shape}`,
                      s.ui.loss, beside("dO", "dV", "dP")),
            part(
                number + 1, "Back through softmax and scale",
                "What one weight gains the others lose, so dS sums to 0; where a weight is 0 or " +
                    "1 nothing flows.",
                beside("dS", "dR")),
            part(
                number + 2, "Back to queries, keys and their matrices",
                "A matrix hears from all tokens at once.",
                ...(s.gradients.dQ_R ? [beside("dQ_R", "dK_R")] : []), beside("dQ", "dK"),
                beside("dW_Q", "dW_K", "dW_V"), ...(biases.length ? [beside(...biases)] : []),
                beside("dX", ...(s.has("Z") ? ["dZ"] : []))),
        ];
    };
    const part = (number, title, text, ...content) => heed.el(
        "section", {class: number === 4 ? "sum choice" : "sum", "aria-label": title},
        heed.el("h2", {text: `${number} · ${title}`}), heed.el("p", {class: "muted", text}),
        heed.el("div", {class: "wide", tabindex: -1}, ...content));
    const isLarge = () => s.model.W_Q.length > 16 && !s.lesson.blanks;
    /* A trained model's matrices fill screens: they are folded, so that the page opens at the
     * scores. */
    const folded = (what, names, ...content) => {
        if (!isLarge()) return content;
        return [heed.el(
            "details", {class: "fold", open: names.includes(s.spot().name), ontoggle: s.refit},
            heed.el("summary", {text: what}), ...content)];
    };
    const layerWords = () =>
        "What this head adds to each token; the other heads and the bias add theirs. " +
        (s.has("gain")
             ? "The sum is added to X, and each token is brought to mean 0 and deviation 1, " +
                 "times gain, plus bias."
             : "The sum is added to what each token was before.");
    const turnedWords = (e) =>
        ` Before that, rotary positions rotate the numbers i and i + ${e / 2} of a query and of ` +
        `a key, as a pair, by the angle p θ^(−2(i−1)/${e}), for the place p of the token, from ` +
        `0, and θ = ${s.model.rotary}: Q_R and K_R.`;
    const projected = () => folded(
        `X and the matrices W, of ${s.model.W_Q.length} rows`,
        ["X", "Z", "W_Q", "W_K", "W_V", "B_Q", "B_K", "B_V", "Q", "K", "V"], ...projections());
    const compared = (names) => (isLarge()
        ? [...folded(names.join(" and "), names, beside(...names)), s.table("raw")]
        : [crossing([s.table(names[0])], [s.table(names[1], true)], [s.table("raw")])]);
    const widened = () => folded(
        "W_h and what it adds",
        ["W_h", "share", "others", "B_O", "all_heads", "gain", "bias", "normed"],
        crossing([s.table("output")], [s.table("W_h")], [s.table("share")]), beside("others"),
        ...(s.has("B_O") ? [beside("B_O")] : []), beside("all_heads"),
        ...(s.has("gain") ? [beside("gain", "bias"), beside("normed")] : []));
    const parts = () => {
        const e = s.model.W_Q[0].length, turned = !!s.model.rotary;
        return [
            part(
                1, "Queries, keys and values",
                "The same three matrices act on every token: what it asks for (Q), what it " +
                    "offers (K), what it hands over (V).",
                ...projected()),
            part(
                2, "Every query against every key",
                "A dot product for each pair: large where one token offers what another asks for." +
                    (turned ? turnedWords(e) : ""),
                ...compared(turned ? ["Q_R", "K_R"] : ["Q", "K"])),
            part(
                3, "Scale and mask",
                "Scores are multiplied by beta. Their variance grows with the width of a query; " +
                    `the usual beta, 1/√${e}, makes it independent of the width. The ` +
                    "larger beta is, the sharper softmax chooses. A mask takes keys away.",
                s.table("scores")),
            part(4, "", "", beside("weights", "V", "output")),
            s.has("W_h") ? part(5, "Back to the width of the model", layerWords(), ...widened())
                       : null,
            ...(s.gradients ? backward() : []),
        ];
    };
    heed.stepsParts = (view) => {
        s = view;
        return parts().filter(Boolean);
    };
})();

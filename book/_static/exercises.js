// Below an exercise whose answer is a number, or a function of one number: a form that says whether
// an answer is right, or gives the hint of the usual mistake, as `exercises.check` does.
(() => {
  const near = (given, wanted, tolerance) => Math.abs(given - wanted) <= tolerance * Math.abs(wanted);
  const percent = share => `${Number((100 * share).toPrecision(2))} %`;

  function check(key, given) {
    const { right, tolerance } = key, fine = Math.min(tolerance, 0.01);
    if (near(given, right, tolerance)) return `right, within ${percent(tolerance)}.`;
    for (const [wrong, hint] of key.mistakes) if (near(given, wrong, tolerance)) return `not yet. ${hint}`;
    const close = Math.max(0.01, 2 * tolerance);
    if (near(given, right, close)) {
      return `close: within ${percent(close)}, but not within ${percent(tolerance)}. Give more figures.`;
    }
    for (const [wrong, hint] of key.slips) if (near(given, wrong, fine)) return `not yet. ${hint}`;
    return "not yet. It is none of the usual mistakes; go through the steps one at a time.";
  }

  const keys = JSON.parse(atob(document.getElementById("wfm-keys").textContent));
  window.wfm = Object.assign(window.wfm ?? {}, { keys, check });

  for (const code of document.querySelectorAll("article code")) {
    const number = code.textContent.match(/^exercises\.check\("(\d+\.\d+)"/)?.[1];
    if (!keys[number]) continue;
    const { asked, point, tolerance } = keys[number];
    const form = document.createElement("form");
    form.className = "wfm-check";
    const label = document.createElement("label");
    const named = /\bat an? [^,]+$/.test(asked);  // "at a load", of 0.7
    const where = point === null ? "" : named ? ` of ${point}` : `, at ${point}`;
    label.textContent = `Without Python: ${asked}${where} (within ${percent(tolerance)}) `;
    const input = document.createElement("input");
    Object.assign(input, { type: "text", inputMode: "decimal", autocomplete: "off", size: 12 });
    label.append(input);
    const button = document.createElement("button");
    button.textContent = "Check";
    const said = document.createElement("output");
    form.append(label, button, said);
    form.addEventListener("submit", event => {
      event.preventDefault();
      const text = input.value.trim().replace(",", ".").replace("\u2212", "-");
      said.textContent = text && Number.isFinite(Number(text))
        ? check(keys[number], Number(text)) : "Type a number, such as 0.25 or 1e-3.";
    });
    code.closest("p, li").after(form);
  }
})();

// On paper the page is light: the theme is put aside while it is printed.
(() => {
  const root = document.documentElement;
  let theme = null;
  matchMedia("print").addEventListener("change", print => {
    if (print.matches) theme = root.dataset.theme;
    root.dataset.theme = print.matches ? "light" : theme;
  });
})();

// A line does not break between a formula and the sign that touches it.
for (const formula of document.querySelectorAll("article span.math")) {
  const {previousSibling: before, nextSibling: after} = formula;
  const opening = before?.nodeType === Node.TEXT_NODE ? before.data.match(/[([]*$/)[0] : "";
  const closing = after?.nodeType === Node.TEXT_NODE ? after.data.match(/^[.,;:!?)\]]*/)[0] : "";
  if (!opening && !closing) continue;
  const unbroken = document.createElement("span");
  unbroken.style.whiteSpace = "nowrap";
  formula.before(unbroken);
  unbroken.append(opening, formula, closing);
  if (opening) before.data = before.data.slice(0, -opening.length);
  if (closing) after.data = after.data.slice(closing.length);
}

// A formula in a line that is wider than a phone scrolls, and the others are left alone.
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  const formulas = [...document.querySelectorAll("article span.math")];
  const watch = () => {
    const widths = formulas.map(one => one.firstElementChild?.offsetWidth - one.clientWidth);
    formulas.forEach((one, i) => one.classList.toggle("wfm-wide", widths[i] > 2));
  };
  watch();
  matchMedia("(max-width: 720px)").addEventListener("change", watch);  // as in book.css
});

// What a fold holds is said: the code of which figure, or imports. A fold before another joins it.
for (const fold of document.querySelectorAll("article details.above-input")) {
  const cell = fold.closest(".cell");
  const next = cell.nextElementSibling?.querySelector(":scope > details.above-input");
  if (next && !cell.querySelector(".cell_output")) {
    next.querySelector("summary").after(...fold.querySelectorAll(":scope > :not(summary)"));
    cell.remove();
    continue;
  }
  const figure = cell.querySelector("figcaption .caption-number")?.textContent.trim();
  const imports = /^(from|import) /.test(fold.querySelector("pre")?.textContent ?? "");
  const what = figure ? `Code of ${figure}` : cell.querySelector(".cell_output") ? "Code"
    : imports ? "Imports" : "Preparation";
  const [collapsed, expanded] = fold.querySelectorAll("summary > p");
  collapsed.textContent = what;
  expanded.textContent = `${what} (hide)`;
}

// A table that scrolls is reached by the keyboard.
addEventListener("load", () => {
  for (const one of document.querySelectorAll("article .wfm-table")) {
    if (one.scrollWidth <= one.clientWidth) continue;
    one.tabIndex = 0;
    one.setAttribute("role", "region");
    one.setAttribute("aria-label", "Table");
  }
});

// For who listens to the page: the arrows of the contents have a name.
for (const arrow of document.querySelectorAll("nav.bd-docs-nav summary")) {
  arrow.setAttribute("aria-label", `Pages of ${arrow.closest("li").querySelector("a").textContent.trim()}`);
}

// Old roles of docutils, and a frame of the theme without one.
for (const one of document.querySelectorAll(".citation-list, .citation")) one.removeAttribute("role");
for (const [i, one] of document.querySelectorAll(".sidebar-primary-items__start").entries()) {
  one.setAttribute("role", "navigation");
  one.setAttribute("aria-label", i ? `Book ${i + 1}` : "Book");
}

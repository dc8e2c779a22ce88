// A click or Enter on a figure shows it large, in a dialog: Escape, the button and a click beside
// the figure close it, and the figure has the focus again. Without scripts the link opens the
// drawing by itself.
(() => {
  let dialog = null;

  function made() {
    if (dialog) return dialog;
    dialog = document.createElement("dialog");
    dialog.id = "wfm-large";
    dialog.setAttribute("aria-label", "Figure");
    dialog.innerHTML = '<form method="dialog"><button aria-label="Close">×</button></form>'
      + '<div tabindex="0" role="region" aria-label="The figure, to be scrolled"><img alt="" class="dark-light"></div>';
    dialog.addEventListener("click", event => {
      if (!event.target.closest("img, form")) dialog.close();
    });
    document.body.append(dialog);
    return dialog;
  }

  document.addEventListener("click", event => {
    const link = event.target.closest(".wfm-figure > a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const [small, large] = [link.querySelector("img"), made().querySelector("img")];
    [large.src, large.alt] = [link.href, small.alt];
    dialog.showModal();
    dialog.querySelector("div").scrollTo(0, 0);
  });
})();

// On paper the page is light: the theme is put aside while it is printed, and all figures come.
(() => {
  const root = document.documentElement, print = matchMedia("print");
  let theme = null;

  function begin() {
    if (theme) return;
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    document.querySelectorAll("img.only-light[loading=lazy]").forEach(one => { one.loading = "eager"; });
  }

  function end() {
    if (theme) root.dataset.theme = theme;
    theme = null;
  }

  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  print.addEventListener("change", () => print.matches ? begin() : end());
})();

// What is wider than its place scrolls, also a formula in a line; as long as there is more, an edge
// of it fades.
(() => {
  const wide = "article :is(pre, .wfm-wide, mjx-container[display=true], .pst-scrollable-table-container, "
    + "table.table, .wfm-scorecard)";
  const mark = one => {
    const rest = one.scrollWidth - one.clientWidth - one.scrollLeft;
    one.classList.toggle("wfm-more-right", rest > 2);
    one.classList.toggle("wfm-more-left", one.scrollLeft > 2);
  };
  const sizes = new ResizeObserver(all => {
    new Set(all.map(one => one.target.closest(wide))).forEach(one => one && mark(one));
  });
  const watch = () => {
    const formulas = [...document.querySelectorAll("article span.math")];
    const widths = formulas.map(one => one.firstElementChild?.offsetWidth - one.clientWidth);
    formulas.forEach((one, i) => {  // what was wide before its font came, or on a phone, is whole
      if (!one.classList.toggle("wfm-wide", widths[i] > 2)) one.classList.remove("wfm-more-right", "wfm-more-left");
    });
    document.querySelectorAll(wide).forEach(one => {
      sizes.observe(one);
      if (one.firstElementChild) sizes.observe(one.firstElementChild);
    });
  };
  document.addEventListener("scroll", event => {
    if (event.target.matches?.(wide)) mark(event.target);
  }, { capture: true, passive: true });
  watch();
  addEventListener("load", () => window.MathJax?.startup?.promise?.then(watch));
  matchMedia("(max-width: 720px)").addEventListener("change", watch);  // as in book.css
})();

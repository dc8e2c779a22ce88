// What both figures that compute share: elements, the panel, numbers that are typed, lines to copy.
(() => {
  "use strict";
  const lab = (window.wfmLab ??= {});
  const MINUS = "\u2212";
  const SVG = "http://www.w3.org/2000/svg";
  const typeset = (text) =>
    text.replace(/(?<![A-Za-z])-(?=[\d.i])|(?<=\de)-(?=\d)/g, MINUS);

  // Says which field is wrong, and what to type there.
  class Refused extends Error {}

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const drawn = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const labelled = (text, input) =>
    element("label", {}, element("span", { textContent: text }), input);
  // A field to type in. JupyterLab takes keys from inputs, unless told not to.
  const field = (properties, label) => {
    const made = element("input", { type: "text", autocomplete: "off", ...properties });
    made.dataset.lmSuppressShortcuts = "true";
    if (label) made.setAttribute("aria-label", label);
    return made;
  };
  const choice = (options) => element("select", {},
    ...Object.entries(options).map(([value, textContent]) =>
      element("option", { value, textContent })));

  // The number in a text, or an error that names the field.
  function number(text, name, { low = -Infinity, high = Infinity, whole = false } = {}) {
    const plain = String(text).trim().replace(MINUS, "-").replace(",", ".");
    const value = plain === "" ? NaN : Number(plain);
    if (Number.isFinite(value) && value >= low && value <= high &&
      (!whole || Number.isInteger(value))) return value;
    const kind = whole ? "a whole number" : "a number";
    const end = (x) => Number(x.toPrecision(whole ? 12 : 4));
    const range = Number.isFinite(high) ? ` from ${end(low)} to ${end(high)}`
      : Number.isFinite(low) ? `, at least ${end(low)}` : "";
    throw new Refused(typeset(`${name}: type ${kind}${range}, not “${text}”.`));
  }

  // Lines of Python with a button that copies them.
  function python() {
    const code = element("code", {});
    const copy = element("button", { type: "button", textContent: "Copy as Python" });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        copy.textContent = "Copied";
      } catch { // not allowed: the lines are selected, to be copied by hand
        getSelection().selectAllChildren(code);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy as Python"; }, 2000);
    });
    const show = (text) => {
      code.textContent = text;
      copy.disabled = !text;
    };
    return { row: element("div", { className: "wfm-python" }, code, copy), show };
  }

  // The panel of a figure: its paths, and how numbers become places on it.
  function panel(figure, { left, right, top, bottom, xlim, ylim }) {
    const drawing = figure.querySelector("svg[role=img]");
    const inner = drawing.querySelector("svg");
    const paths = [...inner.querySelectorAll("path")];
    const grid = drawing.querySelector(".wfm-grid");
    const share = (x, [low, high]) => Math.max(-50, Math.min(50, (x - low) / (high - low)));
    const across = (x) => left + share(x, xlim) * (right - left);
    const up = (y) => bottom - share(y, ylim) * (bottom - top);

    const ticks = ([low, high], most, whole) => {
      const power = 10 ** Math.floor(Math.log10((high - low) / most));
      const step = [1, 2, 5, 10].map((one) => Math.max(whole ? 1 : 0, one * power))
        .find((one) => (high - low) / one <= most);
      const found = [];
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
        found.push(Number((k * step).toPrecision(6)));
      }
      return found;
    };

    // Set the ends of the axes, and draw grid and labels.
    function limits(x, y = ylim, whole = false) {
      [xlim, ylim] = [x, y];
      drawing.querySelectorAll("text").forEach((one) => one.remove());
      const text = (value, place) => {
        const made = drawn("text", place);
        made.textContent = typeset(String(value));
        inner.before(made);
      };
      let lines = "";
      for (const one of ticks(xlim, 7, whole)) {
        const place = across(one).toFixed(0);
        lines += `M${place} ${top}v${bottom - top}`;
        text(one, { x: place, y: bottom + 85, class: "wfm-x" });
      }
      for (const one of ticks(ylim, 6, false)) {
        const place = up(one).toFixed(0);
        lines += `M${left} ${place}h${right - left}`;
        text(one, { x: left - 70, y: place, class: "wfm-y" });
      }
      grid.setAttribute("d", lines);
    }

    const clear = () => paths.forEach((path) => path.setAttribute("d", ""));
    const frame = { left, right, top, bottom };
    return { drawing, paths, across, up, limits, clear, frame };
  }

  Object.assign(lab, { MINUS, Refused, choice, drawn, element, field, labelled, number, panel,
    python, typeset });
})();

// Figures that compute: kernels of the package, as WebAssembly, draw at any value.
// The slider of such a figure stands as the page was made until the kernels are there.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll("figure.wfm-slider:has(script.wfm-live)")];
  if (!window.wfmKernels || !window.WebAssembly) return;
  const MINUS = "\u2212";

  // A number as Python prints it: repr, and ".10g".
  const padded = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");
  const repr = (x) => {
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e16)) {
      return padded(x.toExponential());
    }
    return Number.isInteger(x) ? x.toFixed(1) : String(x);
  };
  const general = (x) => {
    const [digits, power] = x.toExponential(9).split("e").map(Number);
    if (x === 0 || (power >= -4 && power < 10)) return String(Number(x.toPrecision(10)));
    return padded(`${digits}e${power < 0 ? "-" : "+"}${Math.abs(power)}`);
  };
  const typeset = (text) => text.replace(/-(?=[\d.])/g, MINUS);
  const filled = (text, values) =>
    text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

  // A kernel: numbers to numbers. All memory of the last call is taken back first. A status other
  // than 0 is an exception of the kernel, and a trap is memory that the browser does not give.
  const caller = (exports, kernels) => Object.assign((name, ...numbers) => {
    const { gives } = kernels[name];
    try {
      exports.reset();
      const results = exports.take(8 * gives);
      const failure = exports.take(8);
      if (exports[name](results, failure, ...numbers) === 0) {
        return [...new Float64Array(exports.memory.buffer, results, gives)];
      }
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    }
    return Array(gives).fill(NaN);
  }, { memory: () => exports.memory.buffer.byteLength });

  // What was typed as a number of the package: the number, or its message.
  const read = (text, { low, high, no_number, outside }) => {
    const plain = text.trim().replace(MINUS, "-").replace(",", ".");
    const value = plain === "" ? NaN : Number(plain);
    if (!Number.isFinite(value)) return { message: no_number.replace("{got}", `'${text}'`) };
    if ((low !== null && value < low) || (high !== null && value > high)) {
      return { message: outside.replace("{got}", repr(value)) };
    }
    return { value };
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  function start(figure, call) {
    const find = (one) => figure.querySelector(one);
    const live = JSON.parse(find("script.wfm-live").textContent);
    const { panel, lines } = live;
    const [range, typed] = [find("input[type=range]"), find("input[type=text]")];
    const [said, output, note] = [find(".wfm-said"), find("output"), find(".wfm-note")];
    const paths = [...figure.querySelectorAll(".wfm-moves")];
    const limited = (u) => Math.max(-50, Math.min(50, u));
    const across = (x) => panel.left +
      limited((x - panel.xlim[0]) / (panel.xlim[1] - panel.xlim[0])) * (panel.right - panel.left);
    const up = (y) => panel.bottom -
      limited((y - panel.ylim[0]) / (panel.ylim[1] - panel.ylim[0])) * (panel.bottom - panel.top);

    let value = live.start;
    let place = live.first;

    // The points of a curve: where two neighbours in the panel are farther apart than a hundredth
    // of its width, or a fiftieth of its height, there is one more between them.
    function points(kernel, which) {
      const [width, height] = [panel.right - panel.left, panel.bottom - panel.top];
      const at = (t) => {
        const numbers = call(kernel, t, value);
        return { t, x: across(numbers[0]), y: up(numbers[which]) };
      };
      const seen = ({ x, y }) => x <= panel.right && y <= panel.bottom && y >= panel.top;
      const ordered = [];
      const between = (a, b, depth) => {
        const apart = Math.abs(b.x - a.x) > width / 100 || Math.abs(b.y - a.y) > height / 50;
        if (depth && apart && (seen(a) || seen(b))) {
          const middle = at((a.t + b.t) / 2);
          between(a, middle, depth - 1);
          between(middle, b, depth - 1);
        } else if (Number.isFinite(b.x + b.y)) {
          ordered.push(b);
        }
      };
      const [low, high] = live.along;
      let before = at(low);
      ordered.push(before);
      for (let i = 1; i <= 25 && before.x <= panel.right; i += 1) {
        const next = at(low + (i / 25) * (high - low));
        between(before, next, 12);
        before = next;
      }
      return ordered;
    }

    function path(i, done) {
      const [kernel, which] = lines[i];
      if (live.rules[i]) { // upright
        const x = call(kernel, value)[which];
        return Number.isFinite(x) ? `M${across(x).toFixed(1)} ${panel.top}V${panel.bottom}` : "";
      }
      const key = `${kernel} ${which}`;
      if (!done.has(key)) {
        const steps = points(kernel, which).map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
        done.set(key, `M${steps.join("L")}`);
      }
      return done.get(key);
    }

    const field = element("input", {
      type: "text", inputMode: "decimal", autocomplete: "off", value: typeset(general(place)),
    });
    field.setAttribute("aria-label", `${live.place.label}, to type`);
    field.dataset.lmSuppressShortcuts = "true";
    const found = element("p", { className: "wfm-found" });
    found.setAttribute("role", "status");
    const code = element("code", {});
    const copy = element("button", { type: "button", textContent: "Copy as Python" });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        copy.textContent = "Copied";
      } catch { // not allowed: the call is selected, to be copied by hand
        getSelection().selectAllChildren(code);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy as Python"; }, 2000);
    });
    find(".wfm-control").after(
      element("div", { className: "wfm-control wfm-place" },
        element("label", {}, element("span", { textContent: `At ${live.place.label}` }), field),
        found),
      element("p", { className: "wfm-python" }, code, " ", copy));

    function tell() {
      const [ended, residual, ...rest] = call(live.at, place, value);
      const numbers = [ended, residual, ...rest];
      const given = { alpha: repr(place), value: repr(value) };
      code.textContent = filled(live.python, given);
      if (ended === 0) {
        const parts = live.shown.map(([name, which]) => `${name} = ${general(numbers[which])}`);
        const exact = `the load is met to ${residual.toExponential(0)}`;
        found.textContent = typeset(`${parts.join(", ")} (${exact})`);
      } else {
        const last = general(call(live.last, value)[0]);
        found.textContent =
          filled(live.failed, { ...given, alpha: general(place), last });
      }
    }

    function draw() {
      const began = performance.now();
      const done = new Map();
      paths.forEach((one, i) => one.setAttribute("d", path(i, done)));
      const [name, kernel, which] = live.note;
      const text = `${name} ${general(call(kernel, value)[which])}.`;
      if (note) note.textContent = typeset(text);
      range.setAttribute("aria-valuetext", `${typed.value}; ${text}`);
      tell();
      figure.dataset.took = (performance.now() - began).toFixed(1);
    }

    function move(to, keep = false) {
      value = to;
      if (!keep) range.value = String(to);
      output.textContent = typed.value = typeset(String(to));
      typed.removeAttribute("aria-invalid");
      said.textContent = "";
      draw(); // at once: a browser tells of a slider that is dragged once a frame
    }

    function enter(input, kind, take) {
      const { value: given, message } = read(input.value, kind);
      if (message) {
        input.setAttribute("aria-invalid", "true");
        said.textContent = message;
      } else {
        input.removeAttribute("aria-invalid");
        said.textContent = "";
        take(given);
      }
    }

    figure.wfmMemory = call.memory; // for tests
    figure.wfmLive = true; // slider.js leaves it alone
    [range.min, range.max, range.step] = [live.low, live.high, live.step].map(String);
    find(".wfm-made")?.remove();
    range.addEventListener("input", () => move(Number(range.value), true));
    typed.addEventListener("change", () => enter(typed, live.value, move));
    field.addEventListener("change", () => enter(field, live.place, (x) => { place = x; tell(); }));
    typed.addEventListener("keydown", (event) => { if (event.key === "Escape") move(value); });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      field.value = typeset(general(place));
      field.removeAttribute("aria-invalid");
      said.textContent = "";
    });
    move(value);
  }

  // Each group of kernels is compiled once.
  const groups = new Map();
  for (const figure of figures) {
    const { group } = JSON.parse(figure.querySelector("script.wfm-live").textContent);
    groups.set(group, [...(groups.get(group) ?? []), figure]);
  }
  for (const [group, those] of groups) {
    const { module, kernels } = window.wfmKernels[group];
    const bytes = Uint8Array.from(atob(module), (one) => one.charCodeAt(0));
    WebAssembly.instantiate(bytes).then(({ instance }) => {
      const call = caller(instance.exports, kernels);
      for (const figure of those) start(figure, call);
    }, () => {}); // a policy that forbids it, or a browser that lacks it: the figure stands
  }

  window.wfmParts = { repr, typeset, read, element }; // for follow.js
})();

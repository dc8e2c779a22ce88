// The calculator: typical solutions of a device that the reader chooses, types or draws. Kernels of
// the package answer (compute.js); what is sampled of a typed activation goes through a worker,
// which starts from text of this page, since pages from files may start no other.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll("figure.wfm-calculator")];
  const parts = window.wfm?.parts;
  if (!figures.length || !parts) return;
  const { compute, device, group, formula, caller, tabled, sampling, weights, general, repr } = parts;
  const { number, margin, range, filled, Refused } = parts;
  const MINUS = "\u2212";
  const typeset = (text) => text.replace(/(?<![A-Za-z])-(?=[\d.i])|(?<=\de)-(?=\d)/g, MINUS);
  const SVG = "http://www.w3.org/2000/svg";

  // The menu: what stands there, and the unit; a formula may be changed by hand.
  const UNITS = {
    none: ["none: a perceptron"],
    sign: ["sign", "Sign()"],
    relu: ["ReLU", "ReLU()"],
    tanh: ["tanh", null, "tanh(x)"],
    erf: ["erf", null, "erf(x)"],
    gelu: ["GELU", null, "x*ndtr(x)"],
    swish: ["swish", null, "x/(1 + exp(-x))"],
    own: ["a formula of yours", null, ""],
    drawn: ["drawn by hand"],
  };

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
  const round = (x) => Number(x.toPrecision(6));

  function start(figure, kernels) {
    const find = (one) => figure.querySelector(one);
    const told = JSON.parse(find("script.wfm-calculator-data").textContent);
    const { panel } = told;
    const drawing = find("svg[role=img]");
    const inner = drawing.querySelector("svg");
    const paths = [...inner.querySelectorAll("path")];
    const [grid, xlabel] = [find(".wfm-grid"), find(".wfm-xlabel")];
    let [xlim, ylim] = [panel.xlim, panel.ylim];
    const limited = (u) => Math.max(-50, Math.min(50, u));
    const across = (x) => panel.left +
      limited((x - xlim[0]) / (xlim[1] - xlim[0])) * (panel.right - panel.left);
    const up = (y) => panel.bottom -
      limited((y - ylim[0]) / (ylim[1] - ylim[0])) * (panel.bottom - panel.top);

    // ---- what is asked ------------------------------------------------------------------------
    const field = (properties, label) => {
      const made = element("input", { type: "text", autocomplete: "off", ...properties });
      made.dataset.lmSuppressShortcuts = "true";
      if (label) made.setAttribute("aria-label", label);
      return made;
    };
    const choice = (options) => element("select", {},
      ...Object.entries(options).map(([value, text]) =>
        element("option", { value, textContent: [text].flat()[0] })));
    const prior = choice({ Binary: "binary", Spherical: "spherical" });
    const unit = choice(UNITS);
    const typed = field({ className: "wfm-formula", value: "tanh(x)", spellcheck: false });
    const slide = (label, low, high, step, value) => {
      const bar = element("input", { type: "range", min: low, max: high, step, value });
      bar.dataset.lmSuppressShortcuts = "true";
      const text = field({ inputMode: "decimal", value: typeset(String(value)) }, `${label}, to type`);
      const row = element("div", { className: "wfm-control" },
        element("label", {}, element("span", { textContent: label }), bar), text);
      return { bar, text, row, value, label };
    };
    const kappa = slide("margin κ", -1, 2, 0.01, told.margin);
    const alpha = slide("load α", 0, 2, 0.01, told.load);
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", "how far the sampling of the activation is");
    const stop = element("button", { type: "button", textContent: "Stop" });
    const waiting = element("div", { className: "wfm-fields", hidden: true },
      element("span", { textContent: "Sampling the activation" }), bar, stop);
    const said = element("p", { className: "wfm-said" });
    said.setAttribute("role", "status");
    const numbers = element("dl", { className: "wfm-numbers" });
    const found = element("p", { className: "wfm-found" });
    found.setAttribute("role", "status");
    const code = element("code", {});
    const copy = element("button", { type: "button", textContent: "Copy as Python" });

    // ---- the activation that is drawn: knots that are dragged, or moved with arrow keys ----------
    const COUNT = 17;
    const t = Array.from({ length: COUNT }, (_, i) => -4 + i / 2);
    const v = t.map((x) => Math.max(-1, Math.min(1, x)));
    const [wide, high, most] = [340, 150, 2];
    const pad = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, class: "wfm-pad", role: "group",
      "aria-label": "the activation g(x), drawn: seventeen points from x = −4 to 4" });
    const px = (x) => 15 + ((x + 4) / 8) * (wide - 30);
    const py = (y) => high / 2 - (y / most) * (high / 2 - 10);
    const line = drawn("path", { class: "wfm-theory" });
    pad.append(drawn("path", { class: "wfm-axes", d: `M15 ${high / 2}H${wide - 15}M${wide / 2} 10V${high - 10}` }), line);
    const knots = t.map((x, i) => {
      const knot = drawn("circle", { cx: px(x), r: 5, tabindex: 0, role: "slider",
        "aria-label": `g at x = ${typeset(String(x))}`, "aria-valuemin": -most,
        "aria-valuemax": most, "aria-orientation": "vertical" });
      knot.addEventListener("keydown", (event) => {
        const way = { ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05,
          PageUp: 0.5, PageDown: -0.5 }[event.key];
        if (!way) return;
        event.preventDefault();
        bend(i, v[i] + way);
      });
      pad.append(knot);
      return knot;
    });
    const show = () => {
      line.setAttribute("d", `M${[[-5, v[0]], ...t.map((x, i) => [x, v[i]]), [5, v[COUNT - 1]]]
        .map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("L")}`);
      knots.forEach((knot, i) => {
        knot.setAttribute("cy", py(v[i]).toFixed(1));
        knot.setAttribute("aria-valuenow", String(v[i]));
      });
    };
    const bend = (i, y) => {
      v[i] = Math.round(20 * Math.max(-most, Math.min(most, y))) / 20;
      show();
      renew();
    };
    pad.addEventListener("pointerdown", (event) => {
      pad.setPointerCapture(event.pointerId);
      event.preventDefault();
      drag(event);
    });
    const drag = (event) => {
      const box = pad.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * wide;
      const y = ((event.clientY - box.top) / box.height) * high;
      const i = Math.max(0, Math.min(COUNT - 1, Math.round(((x - 15) / (wide - 30)) * (COUNT - 1))));
      knots[i].focus({ preventScroll: true });
      bend(i, ((high / 2 - y) / (high / 2 - 10)) * most);
    };
    pad.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });

    // ---- the device, as its text in Python ------------------------------------------------------
    let state = null; // what the figure shows: { text, about, weights }
    let asked = 0;
    let ended = null; // ends the worker

    function text() {
      if (unit.value === "none") return `Perceptron(${prior.value}())`;
      let inner = UNITS[unit.value][1];
      if (unit.value === "drawn") {
        inner = `Activation(lambda x: np.interp(x, [${t.join(", ")}], [${v.join(", ")}]))`;
      } else if (!inner) {
        inner = `Activation(lambda x: ${formula(typed.value, kernels).python})`;
      }
      return `TreeCommittee(inf, ${inner}, ${prior.value}())`;
    }

    // Long work: in a worker; where the browser starts none, here.
    function work(prepared, own) {
      if (prepared.t) {
        const run = tabled(own, prepared, sampling);
        for (;;) {
          const { done, value } = run.next();
          if (done) return Promise.resolve(value);
        }
      }
      return new Promise((resolve, reject) => {
        const source = `const caller = ${caller}; const tabled = ${tabled};
          onmessage = async ({ data: { bytes, kernels, prepared, sampling } }) => {
            prepared.values.shape = [prepared.edges.length - 1, 16];
            const { instance } = await WebAssembly.instantiate(bytes);
            const run = tabled(caller(instance.exports, kernels), prepared, sampling);
            for (;;) {
              const { done, value } = run.next();
              postMessage(done ? { done: value } : { share: value });
              if (done) return;
            }
          };`;
        const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        const worker = new Worker(address);
        const timer = setTimeout(() => { waiting.hidden = false; }, 150);
        const end = () => {
          clearTimeout(timer);
          waiting.hidden = true;
          worker.terminate();
          URL.revokeObjectURL(address);
          ended = null;
        };
        ended = (message) => { end(); reject(new Refused(message)); };
        worker.onmessage = ({ data: { share, done } }) => {
          if (share !== undefined) bar.value = share;
          if (done) {
            end();
            resolve(done);
          }
        };
        worker.onerror = () => { end(); reject(new Refused("the browser starts no worker here")); };
        bar.value = 0;
        worker.postMessage({ bytes: own.bytes, kernels: own.kernels, prepared, sampling });
      });
    }

    async function renew() {
      asked += 1;
      const mine = asked;
      const began = performance.now();
      ended?.("");
      const fits = UNITS[unit.value][2] !== undefined;
      labels.formula.hidden = !fits;
      pad.toggleAttribute("hidden", unit.value !== "drawn");
      typed.removeAttribute("aria-invalid");
      try {
        const own = text();
        const machine = await device(own, work);
        if (mine !== asked) return;
        state = { text: own, about: machine.about, weights: weights[machine.weights] };
        said.textContent = "";
        draw(began);
      } catch (error) {
        if (!(error instanceof Refused) || mine !== asked) {
          if (!(error instanceof Refused)) throw error;
          return;
        }
        if (fits) typed.setAttribute("aria-invalid", "true");
        said.textContent = error.message;
      }
    }

    // ---- what is drawn ----------------------------------------------------------------------------
    const LINES = [2, 1, 3]; // overlap, entropy, replicon: which number of `typical_curve`

    function points() {
      const [width, height] = [panel.right - panel.left, panel.bottom - panel.top];
      const at = (u) => {
        const numbers = kernels("typical_curve", u, kappa.value, state.weights, state.about);
        return { u, x: across(numbers[0]), y: LINES.map((which) => up(numbers[which])) };
      };
      const seen = ({ x, y }) => x <= panel.right && y.some((one) => one <= panel.bottom && one >= panel.top);
      const ordered = [];
      const between = (a, b, depth) => {
        const apart = Math.abs(b.x - a.x) > width / 60 ||
          a.y.some((one, i) => Math.abs(b.y[i] - one) > height / 30 &&
            Math.min(one, b.y[i]) < panel.bottom && Math.max(one, b.y[i]) > panel.top);
        if (depth && apart && (seen(a) || seen(b))) {
          const middle = at((a.u + b.u) / 2);
          between(a, middle, depth - 1);
          between(middle, b, depth - 1);
        } else if (Number.isFinite(b.x)) {
          ordered.push(b);
        }
      };
      const [low, most] = told.along;
      let before = at(low);
      ordered.push(before);
      for (let i = 1; i <= 25 && before.x <= panel.right; i += 1) {
        const next = at(low + (i / 25) * (most - low));
        between(before, next, 10);
        before = next;
      }
      return ordered;
    }

    function axes() {
      drawing.querySelectorAll("text").forEach((one) => one.remove());
      const ticks = ([low, top], count) => {
        const power = 10 ** Math.floor(Math.log10((top - low) / count));
        const step = [1, 2, 5, 10].map((one) => one * power).find((one) => (top - low) / one <= count);
        const found = [];
        for (let k = Math.ceil(low / step - 1e-9); k * step <= top * (1 + 1e-9); k += 1) {
          found.push(Number((k * step).toPrecision(6)));
        }
        return found;
      };
      let lines = "";
      const label = (x, y, kind, value) => {
        const made = drawn("text", { x, y, class: kind });
        made.textContent = typeset(String(value));
        inner.before(made);
      };
      for (const x of ticks(xlim, 7)) {
        lines += `M${across(x).toFixed(0)} ${panel.top}v${panel.bottom - panel.top}`;
        label(across(x).toFixed(0), panel.bottom + 85, "wfm-x", x);
      }
      for (const y of ticks(ylim, 6)) {
        lines += `M${panel.left} ${up(y).toFixed(0)}h${panel.right - panel.left}`;
        label(panel.left - 70, up(y).toFixed(0), "wfm-y", y);
      }
      grid.setAttribute("d", lines);
    }

    function draw(began = performance.now()) {
      const { about, weights: kind } = state;
      try {
        number(kappa.value / about[1], range);
      } catch (error) {
        said.textContent = error.message;
        return;
      }
      const given = [kappa.value, kind, about];
      const [capacity, unstable] = ["capacity", "instability"].map((one) => {
        const [done, , load] = kernels(`typical_${one}`, ...given);
        return done === 0 ? load : NaN;
      });
      const farthest = [capacity, 2 * unstable, 1].find(Number.isFinite);
      const power = 10 ** Math.floor(Math.log10(1.15 * farthest));
      const end = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((one) => one * power)
        .find((one) => one >= 1.1 * farthest);
      xlim = [0, end];
      ylim = kind === weights.Binary ? [-0.25, 1] : [-1, 1];
      alpha.bar.max = String(end);
      alpha.bar.step = String(end / 200);
      alpha.bar.value = String(alpha.value);
      axes();
      const ordered = points();
      LINES.forEach((_, i) => {
        paths[i].setAttribute("d",
          `M${ordered.map(({ x, y }) => `${x.toFixed(1)} ${y[i].toFixed(1)}`).join("L")}`);
      });
      [capacity, alpha.value].forEach((x, i) => {
        paths[LINES.length + i].setAttribute("d", Number.isFinite(x) && x <= end
          ? `M${across(x).toFixed(1)} ${panel.top}V${panel.bottom}` : "");
      });
      tell(capacity, unstable);
      figure.dataset.took = (performance.now() - began).toFixed(1);
    }

    async function tell(capacity, unstable) {
      const { text: own } = state;
      const constraint = `Margin(${repr(kappa.value)})`;
      const ask = async (name, given) => {
        try {
          return [await compute(name, { device: own, ...given }, work), ""];
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return [null, error.message];
        }
      };
      const mine = asked;
      const [point, failed] = await ask("typical.solve", { alpha: alpha.value, constraint });
      const [largest, none] = await ask("typical.max_margin", { alpha: alpha.value });
      if (mine !== asked) return;
      const rows = [
        ["capacity", general(capacity)],
        ["RS stable up to load", unstable === Infinity ? "q = 1" : general(unstable)],
        ["largest margin at this load", largest === null ? "none" : general(largest)],
      ];
      if (point) {
        rows.push(["entropy φ at this load", general(point.entropy)],
          ["overlap q", general(point.q)], ["replicon", general(point.replicon)]);
      }
      numbers.replaceChildren(...rows.map(([name, value]) => element("div", {},
        element("dt", { textContent: name }),
        element("dd", { textContent: typeset(value) }))));
      const sampledUnit = /Activation\(/.test(own) && !/interp/.test(own);
      const off = point ? Math.max(1e-12, 1e-16 / point.distance).toExponential(0) : "";
      found.textContent = typeset(failed || (sampledUnit
        ? "The activation is sampled to 1e-11: about ten digits are right."
        : `The equations are solved to 1e-12, the entropy to ${off}.`));
      if (none && none !== failed) found.textContent += ` ${none}.`;
      if (point && point.entropy < 0 && state.weights === weights.Binary) {
        found.textContent += " A negative entropy describes no solutions: this load is above capacity.";
      }
      if (point && point.replicon >= 1) {
        found.textContent += " The replicon is 1 or more: replica symmetry is broken here, and its " +
          "numbers are estimates.";
      }
      code.textContent = python(own, constraint);
      figure.wfmFound = { point, capacity, unstable, largest }; // for tests
      figure.dataset.told = String(mine);
    }

    function python(own, constraint) {
      const names = ["Activation", "Binary", "Perceptron", "ReLU", "Sign", "Spherical", "TreeCommittee"]
        .filter((one) => own.includes(`${one}(`));
      const lines = [];
      if (own.includes("inf,")) lines.push("from math import inf");
      if (own.includes("np.")) lines.push("import numpy as np");
      if (own.includes("scipy.")) lines.push("import scipy");
      return [...lines,
        `from wfmlib import ${[...names, "Margin"].sort().join(", ")}, theory`,
        `device = ${own}`,
        `point = theory.typical.solve(device, ${repr(alpha.value)}, ${constraint})`,
        `capacity = theory.typical.capacity(device, constraint=${constraint})`,
        `stable = theory.typical.instability(device, constraint=${constraint})`,
        `largest = theory.typical.max_margin(device, ${repr(alpha.value)})`].join("\n");
    }

    // ---- what moves it ----------------------------------------------------------------------------
    const labelled = (text, input, more) => element("label", more ?? {},
      element("span", { textContent: text }), input);
    const labels = { formula: labelled("g(x) =", typed) };

    for (const [one, kind] of [[kappa, margin], [alpha, told.load_range]]) {
      const moved = (value) => {
        one.value = value;
        one.text.value = typeset(String(value));
        one.text.removeAttribute("aria-invalid");
        said.textContent = "";
        if (state) draw();
      };
      one.bar.addEventListener("input", () => moved(round(Number(one.bar.value))));
      one.text.addEventListener("change", () => {
        try {
          const value = number(one.text.value.replace(",", "."), kind);
          if (one === kappa && state) number(value / state.about[1], range);
          moved(value);
          one.bar.value = String(value);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          one.text.setAttribute("aria-invalid", "true");
          said.textContent = error.message;
        }
      });
      one.text.addEventListener("keydown", (event) => { if (event.key === "Escape") moved(one.value); });
    }
    prior.addEventListener("change", renew);
    unit.addEventListener("change", () => {
      const given = UNITS[unit.value][2];
      if (given) typed.value = given;
      renew();
      if (given === "") typed.focus();
    });
    typed.addEventListener("change", () => {
      if (UNITS[unit.value][2] !== typed.value) unit.value = "own";
      renew();
    });
    stop.addEventListener("click", () => {
      ended?.("Stopped. The figure shows the activation before.");
    });
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

    xlabel.after(
      element("div", { className: "wfm-fields" },
        labelled("weights", prior), labelled("hidden units", unit), labels.formula),
      pad, waiting, kappa.row, alpha.row, said, numbers, found,
      element("div", { className: "wfm-python" }, code, copy));
    show();
    renew();
  }

  group("typical").then((kernels) => {
    for (const figure of figures) start(figure, kernels);
  }, () => {}); // a policy that forbids it, or a browser that lacks it: the figure stands
})();

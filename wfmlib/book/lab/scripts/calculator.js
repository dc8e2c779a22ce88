// The calculator: typical solutions of a device that the reader chooses, types or draws. Kernels of
// the package answer (compute.js).
(() => {
  "use strict";
  const lab = window.wfmLab ?? {};
  const figures = [...document.querySelectorAll("figure.wfm-calculator")];
  if (!figures.length || !lab.compute) return;
  const { choice, drawn, element, field, labelled, number, Refused, typeset } = lab;
  const { compute, device, formulaOf, general, margin, repr } = lab;
  const { weights, along } = lab.typical.constants;

  // The menu: what stands there, and the unit in Python or a formula that may be changed by hand.
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
  const LINES = [2, 1, 3]; // overlap, entropy, replicon: which number of `typical_curve`

  // A line that the reader draws: knots that are dragged, or moved with arrow keys.
  function pad(changed) {
    const COUNT = 17;
    const t = Array.from({ length: COUNT }, (_, i) => -4 + i / 2);
    const v = t.map((x) => Math.max(-1, Math.min(1, x)));
    const [wide, high, most] = [340, 150, 2];
    const box = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, class: "wfm-pad", role: "group",
      "aria-label": "the activation g(x), drawn: seventeen points from x = −4 to 4" });
    const px = (x) => 15 + ((x + 4) / 8) * (wide - 30);
    const py = (y) => high / 2 - (y / most) * (high / 2 - 10);
    const line = drawn("path", { class: "wfm-theory" });
    const cross = `M15 ${high / 2}H${wide - 15}M${wide / 2} 10V${high - 10}`;
    box.append(drawn("path", { class: "wfm-axes", d: cross }), line);
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
      box.append(knot);
      return knot;
    });
    const show = () => {
      const points = [[-5, v[0]], ...t.map((x, i) => [x, v[i]]), [5, v[COUNT - 1]]];
      line.setAttribute("d", `M${points
        .map(([x, y]) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("L")}`);
      knots.forEach((knot, i) => {
        knot.setAttribute("cy", py(v[i]).toFixed(1));
        knot.setAttribute("aria-valuenow", String(v[i]));
      });
    };
    const bend = (i, y) => {
      v[i] = Math.round(20 * Math.max(-most, Math.min(most, y))) / 20;
      show();
      changed();
    };
    const drag = (event) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      const x = ((event.clientX - left) / width) * wide;
      const y = ((event.clientY - top) / height) * high;
      const i = Math.round(((x - 15) / (wide - 30)) * (COUNT - 1));
      const near = Math.max(0, Math.min(COUNT - 1, i));
      knots[near].focus({ preventScroll: true });
      bend(near, ((high / 2 - y) / (high / 2 - 10)) * most);
    };
    box.addEventListener("pointerdown", (event) => {
      box.setPointerCapture(event.pointerId);
      event.preventDefault();
      drag(event);
    });
    box.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
    show();
    return { box, python: () => `np.interp(x, [${t.join(", ")}], [${v.join(", ")}])` };
  }

  function start(figure, kernels) {
    const find = (one) => figure.querySelector(one);
    const told = JSON.parse(find("script.wfm-calculator-data").textContent);
    const panel = lab.panel(figure, told.panel);

    // ---- the fields -----------------------------------------------------------------------------
    const slide = (label, low, high, value) => {
      const bar = element("input", { type: "range", min: low, max: high, step: 0.01, value });
      bar.dataset.lmSuppressShortcuts = "true";
      const shown = { inputMode: "decimal", value: typeset(String(value)) };
      const text = field(shown, `${label}, to type`);
      const row = element("div", { className: "wfm-control" }, labelled(label, bar), text);
      return { bar, text, row };
    };
    const prior = choice({ Binary: "binary", Spherical: "spherical" });
    const unit = choice(Object.fromEntries(Object.entries(UNITS).map(([key, [text]]) => [key, text])));
    const typed = field({ className: "wfm-formula", value: "tanh(x)", spellcheck: false });
    const formula = labelled("g(x) =", typed);
    const line = pad(() => renew());
    const kappa = slide("margin κ", -1, 2, told.margin);
    const alpha = slide("load α", 0, 2, told.load);
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", "how far the sampling of the activation is");
    const stop = element("button", { type: "button", textContent: "Stop" });
    const waiting = element("div", { className: "wfm-fields", hidden: true },
      element("span", { textContent: "Sampling the activation" }), bar, stop);
    const said = element("p", { className: "wfm-said" });
    const numbers = element("dl", { className: "wfm-numbers" });
    const found = element("p", { className: "wfm-found" });
    for (const one of [said, found]) one.setAttribute("role", "status");
    const python = lab.python();

    // ---- what is asked, and answered ------------------------------------------------------------
    function text() {
      if (unit.value === "none") return `Perceptron(${prior.value}())`;
      const g = () => (unit.value === "drawn" ? line.python()
        : formulaOf(typed.value, kernels).python);
      const inner = UNITS[unit.value][1] ?? `Activation(lambda x: ${g()})`;
      return `TreeCommittee(inf, ${inner}, ${prior.value}())`;
    }

    // Say what is wrong; nothing stays that would belong to what was asked before.
    function refuse(message, wrong) {
      wrong?.setAttribute("aria-invalid", "true");
      said.textContent = message;
      panel.clear();
      numbers.replaceChildren();
      found.textContent = "";
      python.show("");
      figure.wfmFound = null;
    }

    let asked = 0;
    async function renew() {
      asked += 1;
      const mine = asked;
      const began = performance.now();
      const own = UNITS[unit.value][2] !== undefined;
      formula.hidden = !own;
      line.box.toggleAttribute("hidden", unit.value !== "drawn");
      for (const one of [typed, kappa.text, alpha.text]) one.removeAttribute("aria-invalid");
      let at = own ? typed : null; // the field that is wrong, if one is
      // Between two steps of a long sampling: the reader may have asked for something else.
      const watch = (share) => {
        if (mine !== asked) throw new Refused("");
        waiting.hidden = performance.now() - began < 150;
        bar.value = share;
      };
      try {
        const asks = { device: text() };
        const { about, weights: kind } = await device(asks.device, watch);
        at = kappa.text;
        asks.kappa = margin(kappa.text.value, about[1]);
        at = alpha.text;
        asks.alpha = number(alpha.text.value, "load α", { low: 0 });
        at = null;
        if (mine !== asked) return;
        said.textContent = "";
        [kappa.bar.value, alpha.bar.value] = [asks.kappa, asks.alpha];
        await answer({ ...asks, about, kind: weights[kind] }, mine);
        figure.dataset.took = (performance.now() - began).toFixed(1);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (mine === asked) refuse(error.message, at);
      }
      if (mine === asked) {
        waiting.hidden = true;
        figure.dataset.told = String(mine);
      }
    }

    async function answer(asks, mine) {
      const { about, kind } = asks;
      const [capacity, unstable] = ["capacity", "instability"].map((one) => {
        const [done, , load] = kernels(`typical_${one}`, asks.kappa, kind, about);
        return done === 0 ? load : NaN;
      });
      draw(asks, capacity, unstable);
      const constraint = `Margin(${repr(asks.kappa)})`;
      const ask = (name, given) => compute(name, { device: asks.device, ...given })
        .then((value) => [value, ""], (error) => [null, error.message]);
      const [point, failed] = await ask("typical.solve", { alpha: asks.alpha, constraint });
      const [largest, none] = await ask("typical.max_margin", { alpha: asks.alpha });
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
      found.textContent = typeset(remarks({ ...asks, point, failed, none }).join(" "));
      python.show(lines(asks, constraint, point, largest));
      figure.wfmFound = { point, capacity, unstable, largest }; // for tests
    }

    function remarks({ device: own, kind, point, failed, none }) {
      if (!point) return [failed];
      const off = Math.max(1e-12, 1e-16 / point.distance).toExponential(0);
      const told = [/Activation\(/.test(own) && !/interp/.test(own)
        ? "The activation is sampled to 1e-11: about ten digits are right."
        : `The equations are solved to 1e-12, the entropy to ${off}.`];
      if (none) told.push(`Of the largest margin: ${none}`);
      if (point.entropy < 0 && kind === weights.Binary) {
        told.push("A negative entropy describes no solutions: this load is above capacity.");
      }
      if (point.replicon >= 1) {
        told.push("The replicon is 1 or more: replica symmetry is broken here, and its numbers " +
          "are estimates.");
      }
      return told;
    }

    function lines({ device: own, alpha: load }, constraint, point, largest) {
      const names = ["Activation", "Binary", "Perceptron", "ReLU", "Sign", "Spherical",
        "TreeCommittee"].filter((one) => own.includes(`${one}(`));
      return [
        own.includes("inf,") && "from math import inf",
        own.includes("np.") && "import numpy as np",
        own.includes("scipy.") && "import scipy",
        `from wfmlib import ${[...names, "Margin"].sort().join(", ")}, theory`,
        `device = ${own}`,
        point && `point = theory.typical.solve(device, ${repr(load)}, ${constraint})`,
        `capacity = theory.typical.capacity(device, constraint=${constraint})`,
        `stable = theory.typical.instability(device, constraint=${constraint})`,
        largest !== null && `largest = theory.typical.max_margin(device, ${repr(load)})`,
      ].filter(Boolean).join("\n");
    }

    // ---- what is drawn --------------------------------------------------------------------------
    function draw({ kappa: at, alpha: load, about, kind }, capacity, unstable) {
      const farthest = [capacity, 2 * unstable, 1].find(Number.isFinite);
      const power = 10 ** Math.floor(Math.log10(1.15 * farthest));
      const end = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((one) => one * power)
        .find((one) => one >= 1.1 * farthest);
      panel.limits([0, end], kind === weights.Binary ? [-0.25, 1] : [-1, 1]);
      alpha.bar.max = String(end);
      alpha.bar.step = String(end / 200);
      alpha.bar.value = String(load);
      const ordered = points((u) => kernels("typical_curve", u, at, kind, about));
      LINES.forEach((_, i) => {
        panel.paths[i].setAttribute("d",
          `M${ordered.map(({ x, y }) => `${x.toFixed(1)} ${y[i].toFixed(1)}`).join("L")}`);
      });
      const { top, bottom } = panel.frame;
      [capacity, load].forEach((x, i) => {
        panel.paths[LINES.length + i].setAttribute("d", Number.isFinite(x) && x <= end
          ? `M${panel.across(x).toFixed(1)} ${top}V${bottom}` : "");
      });
    }

    // Points of the curves, as many as smooth lines need: halved where two are far apart.
    function points(curve) {
      const { left, right, top, bottom } = panel.frame;
      const [width, height] = [right - left, bottom - top];
      const at = (u) => {
        const given = curve(u);
        return { u, x: panel.across(given[0]), y: LINES.map((which) => panel.up(given[which])) };
      };
      const seen = ({ x, y }) => x <= right && y.some((one) => one <= bottom && one >= top);
      const ordered = [];
      const between = (a, b, depth) => {
        const apart = Math.abs(b.x - a.x) > width / 60 ||
          a.y.some((one, i) => Math.abs(b.y[i] - one) > height / 30 &&
            Math.min(one, b.y[i]) < bottom && Math.max(one, b.y[i]) > top);
        if (depth && apart && (seen(a) || seen(b))) {
          const middle = at((a.u + b.u) / 2);
          between(a, middle, depth - 1);
          between(middle, b, depth - 1);
        } else if (Number.isFinite(b.x)) {
          ordered.push(b);
        }
      };
      const [low, most] = along;
      let before = at(low);
      ordered.push(before);
      for (let i = 1; i <= 25 && before.x <= right; i += 1) {
        const next = at(low + (i / 25) * (most - low));
        between(before, next, 10);
        before = next;
      }
      return ordered;
    }

    // ---- what moves it --------------------------------------------------------------------------
    for (const one of [kappa, alpha]) {
      one.bar.addEventListener("input", () => {
        one.text.value = typeset(String(Number(Number(one.bar.value).toPrecision(6))));
        renew();
      });
      one.text.addEventListener("change", renew);
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
      asked += 1; // nobody waits for the sampling any more
      waiting.hidden = true;
      refuse("Stopped. Type another formula, or choose a hidden unit.");
    });

    find(".wfm-off").remove();
    find(".wfm-xlabel").after(
      element("div", { className: "wfm-fields" },
        labelled("weights", prior), labelled("hidden units", unit), formula),
      line.box, waiting, kappa.row, alpha.row, said, numbers, found, python.row);
    renew();
  }

  lab.loaded.then((kernels) => {
    for (const figure of figures) start(figure, kernels);
  }, () => {}); // a browser that lacks WebAssembly, or forbids it: the figure stands
})();

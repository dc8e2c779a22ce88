// Figures in which the reader draws an instance and has algorithms run on it: kernels of the
// package in a worker that starts from this file's own text, since pages from files may start no
// other. What a run finds comes in rows; "Stop" ends the worker and all its memory.
(() => {
  "use strict";
  const lab = window.wfmLab ?? {};
  const figures = [...document.querySelectorAll("figure.wfm-instance")];
  const made = lab.instance;
  if (!figures.length || !made || !window.WebAssembly || !window.Worker) return;
  const { choice, element, field, labelled, number, Refused, typeset } = lab;
  const { constants } = made;

  // What a worker does: it is sent elsewhere as text and knows nothing of this page.
  function work(scope) {
    const EVERY = 30; // milliseconds between two messages
    const WIDE = { a: 8, A: 8, M: 8, b: 1, B: 1, w: 8 };
    const VIEWS = { a: Float64Array, A: Float64Array, M: Float64Array, b: Int8Array,
      B: Int8Array, w: BigUint64Array };

    scope.onmessage = async ({ data: { bytes, kernels, job } }) => {
      try {
        const { instance } = await WebAssembly.instantiate(bytes);
        scope.postMessage({ done: run(instance.exports, kernels, job) });
      } catch (error) {
        scope.postMessage({ failed: String(error) });
      }
    };

    function run(exports, kernels, job) {
      const { N, P, seed, method, coupling } = job;
      const results = exports.take(8 * 8);
      const failure = exports.take(8);
      const array = (kind, ...shape) => {
        const length = shape.reduce((all, one) => all * one, 1);
        const address = exports.take(length * WIDE[kind]);
        return { kind, shape, length, address };
      };
      const values = ({ kind, address, length }) =>
        new VIEWS[kind](exports.memory.buffer, address, length);
      const flat = (one) => {
        if (typeof one === "number") return [one];
        const { kind, shape, length, address } = one;
        const wide = WIDE[kind];
        const strides = shape.map((_, axis) =>
          shape.slice(axis + 1).reduce((all, size) => all * size, wide));
        return [0, 0, BigInt(length), BigInt(wide), address,
          ...[...shape, ...strides].map(BigInt)];
      };
      const call = (name, ...given) => {
        exports.reset();
        if (exports[name](results, failure, ...given.flatMap(flat)) !== 0) throw new Error(name);
        const { gives } = kernels[name];
        return [...new Float64Array(exports.memory.buffer, results, gives)];
      };
      const patterns = array("B", P, N);
      const labels = array("b", P);
      const state = () => ({ random: array("w", 6), t: array("M", P, 1, N),
        weights: array("A", 5, N), clock: array("a", 1) });
      const own = array("a", N);
      const [around, densest, solution] = [array("a", N + 1), array("a", N + 1), array("b", N)];
      const near = method === "count" ? null : state();
      const main = method === "count" ? null : state();
      exports.keep();
      call("drawn", seed, patterns, labels);

      let rows = [];
      let said = performance.now();
      const tell = (row, share, now = false) => {
        rows.push(row);
        if (now || performance.now() - said > EVERY) {
          scope.postMessage({ rows, share });
          rows = [];
          said = performance.now();
        }
      };
      const begin = (one) => call("started", seed, one.random, one.t, one.weights, one.clock);
      const sweep = (one, damping, star, pull, replicas) => call("swept", damping, star, pull,
        replicas, patterns, one.random, one.t, one.weights, one.clock)[0];
      const row = (one, index) => values(one.weights).subarray(index * N, (index + 1) * N);

      // The entropy of solutions around weights, and their distance; NaN where messages have not
      // settled. The messages go on from those around the weights before.
      let fresh = true;
      const local = (weights) => {
        if (fresh) begin(near);
        fresh = false;
        row(near, 4).set(weights.map((x) => (x < 0 ? -1 : 1)));
        const [entropy, distance] = call("surrounded", coupling, 1e-6, 100, patterns,
          near.random, near.t, near.weights, near.clock);
        fresh = Number.isNaN(entropy);
        return [entropy, distance];
      };

      if (method === "count") {
        const [count, centres] = call("counted", patterns, around, densest, solution);
        const per = (one) => [...values(one)].map((x) => (x > 0 ? Math.log(x) / N : NaN));
        const [mean, best] = [per(around), per(densest)];
        mean.forEach((y, d) => rows.push([d, y, best[d], NaN]));
        const close = [...values(densest)].slice(0, job.near + 1).reduce((a, b) => a + b, 0);
        const usual = [...values(around)].slice(0, job.near + 1).reduce((a, b) => a + b, 0);
        scope.postMessage({ rows, share: 1 });
        return { count, centres, close: close - 1, usual: usual - 1 };
      }

      if (method === "pass") {
        begin(main);
        let [i, residual, q, entropy, wrong] = [0, Infinity, 0, NaN, P];
        while (i < 1000 && !(residual <= 1e-6)) {
          i += 1;
          residual = sweep(main, 0, 0, 0, 1);
          if (!Number.isFinite(residual)) break;
          [q] = call("means", main.weights, own);
          [wrong] = call("errors", patterns, own);
          [entropy] = call("entropy", 0, patterns, main.t, main.weights);
          tell([i, wrong / P, q, entropy], i / 1000);
        }
        scope.postMessage({ rows, share: 1 });
        return { sweeps: i, residual, q, entropy, wrong };
      }

      if (method === "focus") {
        begin(main);
        let [wrong, q, entropy, distance, sweeps] = [P, 0, NaN, NaN, 0];
        for (let step = 0; step < job.protocol.length; step += 1) {
          const pull = job.protocol[step];
          call("focused", pull, 10, main.weights);
          for (let i = 0; i < 200; i += 1) {
            sweeps += 1;
            const residual = sweep(main, 0.5, 1, pull, 10);
            if (!Number.isFinite(residual)) throw new Error("a message was not a number");
            if (residual <= 1e-4) break;
          }
          q = call("means", main.weights, own)[1];
          if (pull > 0) values(own).set(row(main, 3));
          [wrong] = call("errors", patterns, own);
          [entropy, distance] = local([...values(own)]);
          tell([step + 1, wrong / P, q, entropy], (step + 1) / job.protocol.length, true);
        }
        return { sweeps, wrong, q, entropy, distance };
      }

      const hidden = array("a", N);
      exports.keep();
      call("begun", seed, main.random, hidden);
      const first = [...values(hidden)];
      let epoch = 0;
      let [wrong] = call("errors", patterns, hidden);
      let found = [NaN, NaN];
      const note = () => {
        const held = values(hidden);
        const q = first.reduce((all, x, i) => all + Math.sign(x) * Math.sign(held[i]), 0) / N;
        found = local([...held]);
        tell([epoch, wrong / P, q, found[0]], epoch / 1000);
      };
      note();
      while (wrong && epoch < 1000) {
        call("corrected", patterns, main.random, hidden);
        epoch += 1;
        [wrong] = call("errors", patterns, hidden);
        note();
      }
      scope.postMessage({ rows, share: 1 });
      return { epoch, wrong, entropy: found[0], distance: found[1] };
    }
  }

  const short = (x) => String(Number(x.toPrecision(6)));
  const nearby = (entropy, distance) => (Number.isFinite(entropy)
    ? `Local entropy ${short(entropy)} at distance ${short(distance)}.`
    : "Messages around it settle on no set of solutions.");

  // What each algorithm draws, and says in the end.
  const METHODS = {
    pass: {
      label: "belief propagation", x: "sweep", step: "sweeps",
      lines: ["errors of the rounded means (share of patterns)", "overlap q of two solutions",
        "entropy (nats per weight)"],
      say: ({ sweeps, residual, q, entropy, wrong }, { P }) => {
        const ended = residual <= 1e-6 ? `The messages settled after ${sweeps} sweeps`
          : `The messages have not settled after ${sweeps} sweeps ` +
            `(the last change was ${residual.toExponential(0)})`;
        const none = entropy < 0 ? " No set of solutions has a negative entropy." : "";
        return `${ended}: entropy ${short(entropy)}, overlap ${short(q)}. The rounded means err ` +
          `on ${wrong} of ${P} patterns.${none}`;
      },
      python: "learning.belief_propagation(Perceptron(), xi, sigma, rng={seed})",
    },
    focus: {
      label: "focusing", x: "step of the protocol", step: "steps",
      lines: ["errors of the centre (share of patterns)", "overlap of the centre with itself",
        "local entropy around it (nats per weight)"],
      say: ({ sweeps, wrong, entropy, distance }, { P }) =>
        `${wrong ? `No solution: the centre errs on ${wrong} of ${P} patterns`
          : `A solution: the centre answers all ${P} patterns`} after ${sweeps} sweeps. ` +
        nearby(entropy, distance),
      python: "learning.focusing_bp(Perceptron(), xi, sigma, rng={seed})",
    },
    clip: {
      label: "the clipped rule", x: "epoch", step: "epochs",
      lines: ["errors (share of patterns)", "overlap with the start",
        "local entropy around the weights (nats per weight)"],
      say: ({ epoch, wrong, entropy, distance }, { P }) =>
        `${wrong ? `No solution after ${epoch} epochs: ${wrong} of ${P} patterns are wrong`
          : `A solution after ${epoch} epochs`}. ` +
        nearby(entropy, distance),
      before: "from wfmlib.learning.descent.clipped_rule import clipped_rule\n",
      python: "clipped_rule(xi, sigma, seed={seed})",
    },
    count: {
      label: "count all solutions", x: "distance in flips", points: true,
      lines: ["ln of the mean number of solutions around a solution, per weight",
        "the same around the densest one", ""],
      say: ({ count, centres, close, usual }, { near, P, N }) => {
        if (!count) return `No weight vector of 2^${N} answers all ${P} patterns.`;
        const of = centres < count ? ` (of ${centres} solutions looked at)` : "";
        return `${count} solutions. Within ${near} flips of one there are ${short(usual)} others ` +
          `on average, and ${close} around the densest${of}.`;
      },
      python: "learning.enumerate_solutions(Perceptron(), xi, sigma)",
    },
  };

  function start(figure) {
    const find = (one) => figure.querySelector(one);
    const told = JSON.parse(find("script.wfm-instance-data").textContent);
    const panel = lab.panel(figure, told.panel);
    const { drawing, paths, across, up } = panel;
    const names = [...figure.querySelectorAll(".wfm-key li")];
    const xlabel = find(".wfm-xlabel");
    const FIELDS = {
      N: ["weights N", { low: 1, high: 201, whole: true }],
      load: ["load α", { low: 0, high: 3 }],
      seed: ["seed", { low: 0, high: constants.seeds, whole: true }],
    };

    let [worker, rows, most, points] = [null, [], 1, false];

    function axis(to) {
      most = to;
      panel.limits([0, most], told.panel.ylim, true);
    }

    function draw() {
      const last = rows.length ? rows[rows.length - 1][0] : 1;
      if (last > most) axis(Math.max(last, 2 * most));
      paths.forEach((path, i) => {
        let [d, pen] = ["", "M"];
        for (const row of rows) {
          if (Number.isFinite(row[i + 1])) {
            d += `${pen}${across(row[0]).toFixed(0)} ${up(row[i + 1]).toFixed(0)}`;
            if (points) d += "h0";
            else pen = "L";
          } else pen = "M";
        }
        path.setAttribute("d", d);
      });
    }

    const inputs = Object.fromEntries(Object.keys(FIELDS).map((name) =>
      [name, field({ inputMode: "decimal", value: String(told[name]) })]));
    const method = choice(Object.fromEntries(
      Object.entries(METHODS).map(([key, { label }]) => [key, label])));
    method.value = "focus";
    const go = element("button", { type: "button", textContent: "Run" });
    const stop = element("button", { type: "button", textContent: "Stop", disabled: true });
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", "how far the run is");
    const said = element("p", { className: "wfm-said" });
    said.setAttribute("role", "status");
    const python = lab.python();

    // What the fields ask for, and its lines of Python; null where one of them is wrong. Then
    // nothing stays of the run before.
    function asked() {
      const found = {};
      try {
        for (const [name, [label, range]] of Object.entries(FIELDS)) {
          inputs[name].setAttribute("aria-invalid", "true");
          found[name] = number(inputs[name].value, label, range);
          if (name === "N" && method.value === "count") {
            number(found.N, "weights N, to count all solutions", { ...range, high: constants.counted });
          }
          inputs[name].removeAttribute("aria-invalid");
        }
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        halt();
        panel.clear();
        python.show("");
        said.textContent = error.message;
        return null;
      }
      const { N, load, seed } = found;
      const P = Math.max(1, Math.round(load * N));
      const { before = "", python: call } = METHODS[method.value];
      python.show(`from wfmlib import Perceptron, learning, patterns\n${before}` +
        `xi, sigma = patterns.random(P=${P}, N=${N}, rng=${seed})\n` +
        call.replace("{seed}", String(seed)));
      const { protocol, coupling, near } = constants;
      return { N, P, seed, method: method.value, protocol, coupling, near };
    }

    // Another instance or algorithm is asked for: what stands there is of the one before.
    function changed() {
      for (const one of Object.values(inputs)) one.removeAttribute("aria-invalid");
      if (!asked()) return;
      halt();
      figure.classList.add("wfm-stale");
      said.textContent = "";
    }

    function halt() {
      worker?.terminate();
      worker = null;
      [go.disabled, stop.disabled] = [false, true];
    }

    function end(text) {
      halt();
      said.textContent = typeset(text);
      drawing.setAttribute("aria-label", `Lines of the last run. ${text}`);
    }

    function run() {
      const job = asked();
      if (!job) return;
      halt();
      figure.classList.remove("wfm-stale");
      const kind = METHODS[job.method];
      const began = performance.now();
      rows = [];
      points = Boolean(kind.points);
      const look = points ? "wfm-archive" : "wfm-theory";
      names.forEach((one, i) => {
        one.lastChild.textContent = kind.lines[i];
        one.hidden = !kind.lines[i];
        one.querySelector("path").setAttribute("d", points ? "M16 7h0" : "M1 7h30");
        for (const path of [one.querySelector("path"), paths[i]]) path.setAttribute("class", look);
      });
      xlabel.textContent = kind.x;
      axis({ count: job.N, focus: job.protocol.length }[job.method] ?? 16);
      draw();
      [go.disabled, stop.disabled, bar.value] = [true, false, 0];
      said.textContent = "";
      const address = URL.createObjectURL(
        new Blob([`(${work})(self)`], { type: "text/javascript" }));
      const mine = new Worker(address);
      worker = mine;
      mine.onmessage = ({ data }) => {
        URL.revokeObjectURL(address); // it has started
        if (worker !== mine) return;
        if (data.rows) {
          rows.push(...data.rows);
          bar.value = data.share;
          draw();
        }
        if (data.done) {
          figure.dataset.took = (performance.now() - began).toFixed(0);
          figure.wfmFound = data.done; // for tests
          bar.value = 1;
          end(kind.say(data.done, job));
        }
        if (data.failed) end(`The run failed: ${data.failed}.`);
      };
      mine.onerror = () => end("The browser starts no worker here.");
      const bytes = Uint8Array.from(atob(made.module), (one) => one.charCodeAt(0));
      mine.postMessage({ bytes, kernels: made.kernels, job });
    }

    go.addEventListener("click", run);
    stop.addEventListener("click", () => {
      const kind = METHODS[method.value];
      const last = rows.length ? rows[rows.length - 1][0] : 0;
      end(`Stopped after ${last} ${kind.step ?? "distances"}.`);
    });
    for (const one of [...Object.values(inputs), method]) one.addEventListener("change", changed);

    find(".wfm-off").remove();
    xlabel.after(
      element("div", { className: "wfm-fields" },
        ...Object.entries(FIELDS).map(([name, [label]]) => labelled(label, inputs[name]))),
      element("div", { className: "wfm-fields" }, labelled("algorithm", method), go, stop, bar),
      said, python.row);
    asked();
  }

  for (const figure of figures) start(figure);
})();

// window.wfm.compute(name, arguments): what the Python call of that name gives, from kernels that
// repeat the package's theory. There is no formula of the theory here.
(() => {
  "use strict";
  const { typical: made, number, Refused } = window.wfmLab ?? {};
  if (!made || !window.WebAssembly) return;
  const { weights, activations, margins, belowRange, sampling } = made.constants;

  // What may be asked, and the arguments besides the device.
  const QUESTIONS = {
    "typical.solve": ["alpha", "constraint"],
    "typical.capacity": ["constraint"],
    "typical.instability": ["constraint"],
    "typical.max_margin": ["alpha"],
    "typical.last_margin": ["alpha"],
  };
  const POINT = ["q", "q_hat", "distance", "entropy", "replicon", "margin_density"];
  const refuse = (message) => { throw new Refused(message); };

  // A number as Python prints it: repr, and "%.10g".
  const padded = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");
  const repr = (x) => {
    if (x === Infinity || x === -Infinity) return x > 0 ? "inf" : "-inf";
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e16)) return padded(x.toExponential());
    return Number.isInteger(x) ? x.toFixed(1) : String(x);
  };
  const general = (x, digits = 10) => {
    if (!Number.isFinite(x)) return repr(x);
    const [lead, power] = x.toExponential(digits - 1).split("e").map(Number);
    if (x === 0 || (power >= -4 && power < digits)) return String(Number(x.toPrecision(digits)));
    return padded(`${lead}e${power < 0 ? "-" : "+"}${Math.abs(power)}`);
  };

  // ---- kernels: numbers and arrays of numbers in, numbers out ---------------------------------

  function caller(exports) {
    return (name, ...given) => {
      const { takes, gives } = made.kernels[name];
      try {
        exports.reset();
        const results = exports.take(8 * gives);
        const failure = exports.take(8);
        const arrays = [];
        const flat = given.flatMap((one, i) => {
          if (takes[i] === "n") return [one];
          const shape = one.shape ?? [one.length];
          const address = exports.take(8 * one.length);
          arrays.push([one, address]);
          const strides = shape.map((_, axis) =>
            shape.slice(axis + 1).reduce((all, size) => all * size, 8));
          return [0, 0, BigInt(one.length), 8n, address, ...[...shape, ...strides].map(BigInt)];
        });
        for (const [one, address] of arrays) {
          new Float64Array(exports.memory.buffer, address, one.length).set(one);
        }
        if (exports[name](results, failure, ...flat) === 0) {
          for (const [one, address] of arrays) {
            one.set(new Float64Array(exports.memory.buffer, address, one.length));
          }
          return [...new Float64Array(exports.memory.buffer, results, gives)];
        }
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      }
      return Array(gives).fill(NaN);
    };
  }

  const bytes = Uint8Array.from(atob(made.module), (one) => one.charCodeAt(0));
  const loaded = WebAssembly.instantiate(bytes).then(({ instance }) => caller(instance.exports));

  // ---- an activation: its samples, and the array that kernels take of it ----------------------

  const matrix = (rows, columns) =>
    Object.assign(new Float64Array(rows * columns), { shape: [rows, columns] });

  // What a formula needs of the package: the error function.
  const formula = (text, call) => window.wfmLab.formula(text, {
    erf: (x) => (x < 0 ? 2 * call("H", -x * Math.SQRT2)[0] - 1
      : 1 - 2 * call("H", x * Math.SQRT2)[0]),
    ndtr: (x) => call("H", -x)[0],
  });

  const RULES = {
    grows: "it grows too fast: E g² must be finite for a normal x",
    constant: "it is constant: the output must depend on x",
    even: "it has no linear part: E g(x) x must not vanish",
    oscillates: "it oscillates too fast, or has too many corners and jumps",
  };
  const no = (what) => refuse(`g(x): ${RULES[what] ?? what}. Type another formula.`);

  // Samples of a formula, where the kernels ask for them: polynomials of degree 15 on intervals
  // that are halved until they fit, between corners and jumps, as `models.correlation` does.
  function samples(g, call) {
    const at = (points, out = points) => {
      for (let i = 0; i < points.length; i += 1) {
        out[i] = g(points[i]);
        if (!Number.isFinite(out[i])) no("it must be finite for x from -12 to 12");
      }
      return out;
    };
    const first = new Float64Array(call("look", new Float64Array(0))[0]);
    call("look", first);
    const [norm, far] = call("looked", at(first));
    if (!(far <= 1e-12 * norm ** 2)) no("grows");

    function halved(ends, narrowest) {
      let todo = ends.slice(1).map((high, i) => [ends[i], high]);
      const [smooth, rough] = [[], []];
      while (todo.length) {
        const places = matrix(todo.length, sampling.points);
        const intervals = Object.assign(new Float64Array(todo.flat()), { shape: [todo.length, 2] });
        call("places", intervals, places);
        const verdict = new Float64Array(todo.length);
        call("judged", norm, intervals, at(places), verdict);
        const left = [];
        todo.forEach(([low, high], i) => {
          if (verdict[i] > 0) smooth.push([low, high]);
          else if (high - low < narrowest) rough.push([low, high]);
          else left.push([low, 0.5 * (low + high)], [0.5 * (low + high), high]);
        });
        if (left.length > 2000) no("oscillates");
        todo = left;
      }
      return [smooth, rough];
    }

    const { limit, narrow } = sampling;
    const from = -limit - 1 / 7;
    const step = (limit - 1 / 11 - from) / 1536;
    const [smooth, rough] = halved(Array.from({ length: 1537 }, (_, i) => from + i * step), 1e-14);
    const unknown = new Set(rough.map(String));
    const small = [...smooth, ...rough].filter(([low, high]) => high - low < narrow)
      .sort((a, b) => a[0] - b[0]);
    const groups = [];
    small.forEach((one, i) => {
      if (i === 0 || one[0] - small[i - 1][1] > narrow) groups.push([]);
      groups[groups.length - 1].push(one);
    });
    const [kinks, cuts] = [[], []];
    for (const one of groups) {
      const tightest = one.reduce((a, b) => (b[1] - b[0] < a[1] - a[0] ? b : a));
      kinks.push(0.5 * (tightest[0] + tightest[1]));
      const seen = at(new Float64Array(one.flat()));
      const strong = one.some((part) => unknown.has(String(part))) ||
        Math.max(...seen) - Math.min(...seen) > 1e-3 * norm;
      cuts.push(...(strong ? kinks.slice(-1) : one.flat()));
    }
    const ends = cuts.filter((x) => Math.abs(x) < limit);
    for (let i = 0; 1.37 - limit + 2 * i < limit; i += 1) ends.push(1.37 - limit + 2 * i);
    const sorted = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
    const [pieces, bad] = halved(sorted([...ends, -limit, limit]), narrow);
    if (bad.length) {
      no("it must be smooth, on scales above 1e-05, but for corners and jumps; it is not near " +
        `x = ${general(0.5 * (bad[0][0] + bad[0][1]), 6)}`);
    }
    const edges = new Float64Array(sorted(pieces.flat()));
    const n = edges.length - 1;
    const intervals = Object.assign(
      new Float64Array([...edges.slice(1)].flatMap((high, i) => [edges[i], high])),
      { shape: [n, 2] });
    const places = matrix(n, sampling.points);
    call("places", intervals, places);
    at(places);
    const values = matrix(n, 16);
    for (let i = 0; i < n; i += 1) {
      values.set(places.subarray(i * sampling.points, i * sampling.points + 16), 16 * i);
    }
    if (kinks.length && call("straight", norm, edges, values)[0] === 1) {
      const t = new Float64Array([-limit, ...kinks, limit]);
      return { t, v: at(t, new Float64Array(t.length)) };
    }
    return { norm, edges, values, kinks: new Float64Array(kinks) };
  }

  // The array of an activation from its samples: its head, and one piece of the table after the
  // other, each as long as it may be. In between the page goes on; `watch` is told how far it is,
  // and may throw.
  async function tabled(call, { t, v, norm, edges, values, kinks }, watch) {
    const { head, room, longest, end, piece, nodes } = sampling;
    const about = new Float64Array(room);
    const [variance, linear, start] =
      t ? call("knotted", t, v, about) : call("sampled", norm, edges, values, about);
    if (!(variance > 1e-20 * (norm ?? 1) ** 2)) no("constant");
    if (!(linear >= 1e-10)) no("even");
    let paused = performance.now();
    const pause = async (share) => {
      watch?.(share);
      await new Promise((after) => { setTimeout(after, 0); });
      paused = performance.now();
    };
    const ends = [start, start - longest, start - 2 * longest, end];
    const todo = start === 0 ? [] : [2, 1, 0].map((i) => [ends[i], ends[i + 1]]);
    while (todo.length) {
      const [high, low] = todo.pop();
      const there = matrix(3, nodes);
      for (let j = 0; !t && j < nodes; j += 1) {
        [there[j], there[nodes + j], there[2 * nodes + j]] =
          call("sampled_node", high, low, j, edges, values, kinks, about);
        if (performance.now() - paused > 20) await pause((start - high) / (start - end));
      }
      const [done] = t ? call("knotted_piece", high, low, t, v, about)
        : call("kept", high, low, there, about);
      const middle = 0.5 * (high + low);
      if (done === 0) todo.push([middle, low], [high, middle]);
      else if (done !== 1) no("oscillates");
      if (performance.now() - paused > 20) await pause((start - low) / (start - end));
    }
    return about.slice(0, head + about[3] + piece * about[7]); // terms, and pieces
  }

  // ---- devices and constraints, as their text in Python --------------------------------------

  // The fields of each, in their order, and what stands there if nothing is given.
  const WORDS = {
    Perceptron: { weights: "Binary()" },
    TreeCommittee: { units: null, activation: "Sign()", weights: "Spherical()" },
    Activation: { g: null },
    Margin: { kappa: null },
    ...Object.fromEntries([...Object.keys(weights), ...Object.keys(activations)]
      .map((name) => [name, {}])),
  };

  // "Name(a, key=b)": the name, and texts by field.
  function parsed(text, allowed) {
    const found = /^\s*(?:[a-z_]+\.)*([A-Za-z_]\w*)\s*\(([\s\S]*)\)\s*$/.exec(String(text));
    const name = found?.[1];
    if (!allowed.includes(name)) {
      refuse(`a page takes ${allowed.map((one) => `${one}(...)`).join(" or ")} here, not ${text}`);
    }
    const inner = found[2];
    const parts = [];
    let [depth, begin] = [0, 0];
    for (let i = 0; i <= inner.length; i += 1) {
      if ("([".includes(inner[i] ?? " ")) depth += 1;
      if (")]".includes(inner[i] ?? " ")) depth -= 1;
      if (i === inner.length || (inner[i] === "," && depth === 0)) {
        parts.push(inner.slice(begin, i).trim());
        begin = i + 1;
      }
    }
    const fields = { ...WORDS[name] };
    const names = Object.keys(fields);
    parts.filter((part) => part).forEach((part, i) => {
      const [, key, value] = /^([A-Za-z_]\w*)\s*=(?!=)([\s\S]*)$/.exec(part) ?? [null, names[i], part];
      if (!names.includes(key)) refuse(`${name} takes ${names.join(", ") || "nothing"}; got ${part}`);
      fields[key] = value.trim();
    });
    for (const key of names) if (fields[key] === null) refuse(`${name}(...) needs ${key}`);
    return { name, fields };
  }

  const kept = new Map(); // arrays of activations that were sampled, by their text

  async function activation(text, watch) {
    const { name, fields } = parsed(text, [...Object.keys(activations), "Activation"]);
    if (name !== "Activation") {
      const [kind, scale, slope] = activations[name];
      const about = new Float64Array(sampling.head);
      about.set([kind, scale, slope ?? Infinity]);
      return about;
    }
    if (!kept.has(text)) {
      const call = await loaded;
      const about = await tabled(call, prepared(fields.g, call), watch);
      if (kept.size > 20) kept.delete(kept.keys().next().value);
      kept.set(text, about);
    }
    return kept.get(text);
  }

  // Samples of what stands in Activation(...): np.tanh, or lambda x: a formula, or np.interp of x.
  function prepared(text, call) {
    const line = /^\s*lambda\s+x\s*:([\s\S]*)$/.exec(text);
    const drawn = line &&
      /^\s*np\.interp\(\s*x\s*,\s*\[([^\]]*)\]\s*,\s*\[([^\]]*)\]\s*\)\s*$/.exec(line[1]);
    if (drawn) {
      const [t, v] = drawn.slice(1).map((one) => new Float64Array(one.split(",").map(Number)));
      const rising = t.every((one, i) => i === 0 || one > t[i - 1]);
      if (t.length < 2 || t.length !== v.length || !rising || ![...t, ...v].every(Number.isFinite)) {
        no("its knots must be two numbers or more that rise, with as many values");
      }
      return { t, v };
    }
    const { g, flat } = formula(line ? line[1] : `${text}(x)`, call);
    if (flat) no("constant");
    return samples(g, call);
  }

  async function device(text, watch) {
    const { name, fields } = parsed(text, ["Perceptron", "TreeCommittee"]);
    const prior = parsed(fields.weights, Object.keys(weights)).name;
    if (name === "TreeCommittee" && !/^((np|numpy|math)\.)?inf$/.test(fields.units)) {
      refuse(`units must be inf in a page, not ${fields.units}`);
    }
    const unit = name === "Perceptron" ? "Linear()" : fields.activation;
    return { about: await activation(unit, watch), weights: prior };
  }

  // A margin, in units of the activation's scale within the range of the kernels.
  function margin(given, scale) {
    const ends = margins.map((end) => end * scale);
    return number(given, "margin κ", { low: ends[0], high: ends[1] });
  }

  async function compute(name, given = {}, watch = undefined) {
    const takes = QUESTIONS[name] ??
      refuse(`a page computes ${Object.keys(QUESTIONS).join(", ")}, not ${name}`);
    const unknown = Object.keys(given).find((key) => key !== "device" && !takes.includes(key));
    if (unknown) refuse(`${name} takes device, ${takes.join(", ")} in a page, not ${unknown}`);
    const call = await loaded;
    const { about, weights: prior } = await device(given.device, watch);
    const numbers = takes.map((key) => (key === "alpha"
      ? number(given.alpha, "load α", { low: 0 })
      : margin(parsed(given.constraint ?? "Margin(0.0)", ["Margin"]).fields.kappa, about[1])));
    const rest = [weights[prior], about];
    const found = call(name.replace(".", "_"), ...numbers, ...rest);
    if (found[0] === 0) {
      return name === "typical.solve"
        ? Object.fromEntries(POINT.map((key, i) => [key, found[2 + i]])) : found[2];
    }
    if (name === "typical.solve") {
      const [last] = call("typical_last_load", numbers[1], ...rest);
      return refuse(numbers[0] >= last
        ? `load α: the overlap q reaches 1 at ${general(last)}. Type a smaller load.`
        : "load α: the equations have no solution here. Type a smaller load.");
    }
    if (!name.endsWith("margin")) return refuse(`${name} finds no load`);
    return refuse(found[0] === belowRange
      ? `load α: even the margin ${margins[0]}, in units of s, is too large. Type a smaller load.`
      : `load α: the margin ${margins[1]}, in units of s, is too small. Type a larger load.`);
  }

  window.wfm = { compute: (name, given) => compute(name, given) };
  Object.assign(window.wfmLab, { compute, device, formulaOf: formula, general, loaded, margin, repr });
})();

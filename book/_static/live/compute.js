// window.wfm.compute(name, arguments): what the Python call of that name gives, from kernels of the
// package. Which names there are, what kernels take and what is said of an argument comes from
// Python (doors.js, of wfmlib/book/display/doors.py); there is no formula of the theory here.
(() => {
  "use strict";
  const { doors, words, weights, activations, margin, range, device: none, g: refused, sampling } =
    window.wfmDoors ?? {};
  if (!doors || !window.wfmKernels || !window.WebAssembly) return;

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
  const filled = (text, values) =>
    text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  class Refused extends Error {}
  const refuse = (message) => { throw new Refused(message); };

  // ---- kernels: numbers and arrays of numbers in, numbers out ---------------------------------
  // `caller` and `tabled` are also sent to a worker, as text: they know nothing of this page.

  function caller(exports, kernels) {
    const memory = () => exports.memory.buffer.byteLength;
    return Object.assign((name, ...given) => {
      const { takes, gives } = kernels[name];
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
    }, { memory });
  }

  // The array of an activation from its samples: its head, and one piece of the table after the
  // other, each as long as it may be. Yields how far it is.
  function* tabled(call, { t, v, norm, edges, values, kinks }, { head, room, longest, end, piece }) {
    const about = new Float64Array(room);
    const [variance, linear, start] =
      t ? call("knotted", t, v, about) : call("sampled", norm, edges, values, about);
    if (!(variance > 1e-20 * (norm ?? 1) ** 2)) return { failed: "constant" };
    if (!(linear >= 1e-10)) return { failed: "even" };
    const ends = [start, start - longest, start - 2 * longest, end];
    const todo = start === 0 ? [] : [2, 1, 0].map((i) => [ends[i], ends[i + 1]]);
    while (todo.length) {
      const [high, low] = todo.pop();
      yield (start - high) / (start - end);
      const [done] = t ? call("knotted_piece", high, low, t, v, about)
        : call("sampled_piece", high, low, edges, values, kinks, about);
      const middle = 0.5 * (high + low);
      if (done === 0) todo.push([middle, low], [high, middle]);
      else if (done !== 1) return { failed: "oscillates" };
    }
    return { about: about.slice(0, head + about[3] + piece * about[7]) }; // terms, and pieces
  }

  const modules = new Map();
  function group(name) {
    if (!window.wfmKernels[name]) refuse(`this page has no kernels of the group '${name}'`);
    if (!modules.has(name)) {
      const { module, kernels } = window.wfmKernels[name];
      const bytes = Uint8Array.from(atob(module), (one) => one.charCodeAt(0));
      modules.set(name, WebAssembly.instantiate(bytes).then(({ instance }) =>
        Object.assign(caller(instance.exports, kernels), { bytes, kernels })));
    }
    return modules.get(name);
  }

  // ---- an activation: where it is sampled, as `models.sampled.described` does ------------------

  const matrix = (rows, columns) =>
    Object.assign(new Float64Array(rows * columns), { shape: [rows, columns] });

  // What a formula needs of the package: the error function.
  const formula = (text, call) => {
    try {
      return window.wfm.formula(text, {
        erf: (x) => (x < 0 ? 2 * call("H", -x * Math.SQRT2)[0] - 1 : 1 - 2 * call("H", x * Math.SQRT2)[0]),
        ndtr: (x) => call("H", -x)[0],
      });
    } catch (error) {
      return refuse(error.message);
    }
  };

  function samples(g, call) {
    const at = (points, out = points) => {
      for (let i = 0; i < points.length; i += 1) {
        out[i] = g(points[i]);
        if (!Number.isFinite(out[i])) {
          refuse(`g must be finite, got ${repr(out[i]).replace("NaN", "nan")} between -12 and 12`);
        }
      }
      return out;
    };
    const first = new Float64Array(call("look", new Float64Array(0))[0]);
    call("look", first);
    const [norm, far] = call("looked", at(first));
    if (!(far <= 1e-12 * norm ** 2)) refuse(refused.grows);

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
        if (left.length > 2000) refuse(refused.oscillates);
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
      refuse("g must be smooth, on scales above 1e-05, but for corners and jumps; it is not near " +
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

  // ---- devices and constraints, as their text in Python --------------------------------------

  // "Name(a, key=b)": the name, and texts by field; what has no brackets is returned as it is.
  function call(text) {
    const found = /^\s*(?:[a-z_]+\.)*([A-Za-z_]\w*)\s*\(([\s\S]*)\)\s*$/.exec(text);
    if (!found) return refuse(`invalid syntax: ${text}`);
    const [, name, inner] = found;
    if (!Object.hasOwn(words, name)) return refuse(`name '${name}' is not defined`);
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
    const fields = Object.fromEntries(words[name]);
    const names = Object.keys(fields);
    parts.filter((part) => part).forEach((part, i) => {
      const [, key, value] = /^([A-Za-z_]\w*)\s*=(?!=)([\s\S]*)$/.exec(part) ?? [null, names[i], part];
      if (key === undefined) {
        refuse(`${name}.__init__() takes ${names.length + 1} positional arguments but ` +
          `${parts.length + 1} were given`);
      }
      if (!names.includes(key)) {
        refuse(`${name}.__init__() got an unexpected keyword argument '${key}'`);
      }
      fields[key] = value.trim();
    });
    for (const key of names) {
      if (fields[key] === null) {
        refuse(`${name}.__init__() missing 1 required positional argument: '${key}'`);
      }
    }
    return { name, fields };
  }

  const kept = new Map(); // activations that were sampled, by their text

  // The array of an activation, and its repr. `work` runs what takes long; by default here.
  async function activation(text, work = steps) {
    const { name, fields } = call(text);
    if (Object.hasOwn(activations, name)) {
      const [kind, scale, slope] = activations[name];
      const about = new Float64Array(sampling.head);
      about.set([kind, scale, slope ?? Infinity]);
      return { about, repr: `${name}()` };
    }
    if (name !== "Activation") refuse(`name '${name}' is not an activation`);
    if (!kept.has(text)) {
      const kernels = await group("typical");
      const [prepared, own] = sampled(fields.g, kernels);
      const { about, failed } = await work(prepared, kernels);
      if (failed) refuse(refused[failed]);
      if (kept.size > 20) kept.delete(kept.keys().next().value);
      kept.set(text, { about, repr: `Activation(${own})` });
    }
    return kept.get(text);
  }

  // Samples of what stands in Activation(...): np.tanh, or lambda x: a formula, or np.interp of x.
  function sampled(text, kernels) {
    const line = /^\s*lambda\s+x\s*:([\s\S]*)$/.exec(text);
    const drawn = line &&
      /^\s*np\.interp\(\s*x\s*,\s*\[([^\]]*)\]\s*,\s*\[([^\]]*)\]\s*\)\s*$/.exec(line[1]);
    if (drawn) {
      const [t, v] = drawn.slice(1).map((one) => new Float64Array(one.split(",").map(Number)));
      const rising = t.every((one, i) => i === 0 || one > t[i - 1]);
      if (t.length < 2 || t.length !== v.length || !rising || ![...t, ...v].every(Number.isFinite)) {
        refuse("knots must be at least two numbers that rise, with as many values");
      }
      return [{ t, v }, "<lambda>"];
    }
    const { g, flat } = formula(line ? line[1] : `${text}(x)`, kernels);
    if (flat) refuse(refused.constant);
    return [samples(g, kernels), line ? "<lambda>" : text.replace(/^.*\./, "")];
  }

  // What takes long, in steps between which the page goes on.
  async function steps(prepared, kernels) {
    const run = tabled(kernels, prepared, sampling);
    for (;;) {
      const { done, value } = run.next();
      if (done) return value;
      await new Promise((after) => { setTimeout(after, 0); });
    }
  }

  async function device(text, work) {
    if (typeof text !== "string") refuse(filled(none, { got: String(text) }));
    const { name, fields } = call(text);
    if (name !== "Perceptron" && name !== "TreeCommittee") {
      refuse(filled(none, { got: text.trim() }));
    }
    const prior = call(fields.weights);
    if (!Object.hasOwn(weights, prior.name)) {
      refuse(`weights must be Binary() or Spherical() in a page, got ${fields.weights}`);
    }
    const own = `${prior.name}()`;
    if (name === "Perceptron") {
      const { about } = await activation("Linear()", work);
      return { about, weights: prior.name, repr: `Perceptron(weights=${own})` };
    }
    if (!/^((np|numpy|math)\.)?inf$/.test(fields.units)) {
      refuse(`units must be inf in a page, got TreeCommittee(${fields.units})`);
    }
    const unit = await activation(fields.activation, work);
    return { about: unit.about, weights: prior.name,
      repr: `TreeCommittee(units=inf, activation=${unit.repr}, weights=${own})` };
  }
  words.Linear = [];

  // A number as text or number: itself, or the package's message.
  function number(given, { low, high, no_number: word, outside }, zero = false) {
    const plain = String(given).trim().replace("\u2212", "-");
    const value = plain === "" ? NaN : Number(plain);
    if (typeof given === "number" && Number.isNaN(given)) refuse(filled(outside || word, { got: "nan" }));
    if (Number.isNaN(value)) refuse(filled(word, { got: `'${given}'` }));
    const beyond = !Number.isFinite(value) || (low !== null && value < low) ||
      (high !== null && value > high);
    if (beyond && !(zero && value === 0)) {
      refuse(filled(outside || word, { got: repr(value) }));
    }
    return value;
  }

  function constraint(text, scale) {
    const { name, fields } = call(typeof text === "string" ? text : `${text}`);
    if (name !== "Margin") refuse(`constraint must be Margin(...) in a page, got ${text}`);
    const kappa = number(fields.kappa.replace(/^'(.*)'$/, "$1"), margin);
    number(kappa / scale, range);
    return kappa;
  }

  async function compute(name, given = {}, work = undefined) {
    if (!Object.hasOwn(doors, name)) {
      refuse(`name '${name}' is not defined: a page computes ${Object.keys(doors).join(", ")}`);
    }
    const door = doors[name];
    const short = name.replace(/^.*\./, "");
    const values = { ...door.defaults, ...given };
    const known = ["device", ...door.takes.filter((one) => !["weights", "activation"].includes(one))];
    for (const key of Object.keys(given)) {
      if (!known.includes(key)) refuse(`${short}() got an unexpected keyword argument '${key}'`);
    }
    for (const key of known) {
      if (values[key] === undefined) {
        refuse(`${short}() missing 1 required positional argument: '${key}'`);
      }
    }
    const kernels = await group(door.group);
    const machine = await device(values.device, work);
    const scale = machine.about[1];
    const taken = { weights: weights[machine.weights], activation: machine.about };
    for (const key of known.slice(1)) {
      taken[key] = key === "constraint" ? constraint(values[key], scale)
        : number(values[key], door.numbers[key], name.endsWith("margin"));
    }
    const found = kernels(door.kernel, ...door.takes.map((key) => taken[key]));
    if (found[0] !== 0) {
      const last = door.last ? kernels(door.last,
        ...door.takes.filter((key) => !(key in door.numbers)).map((key) => taken[key]))[0] : NaN;
      const { alpha } = taken;
      const why = door.last ? (alpha >= last ? machine.weights : "else") : String(found[0]);
      const said = door.failures[why] ?? door.failures.else ??
        `${short} found no solution with ${machine.repr}`;
      refuse(filled(said, { last: general(last), alpha: general(alpha ?? NaN),
        alpha6: general(alpha ?? NaN, 6), device: machine.repr,
        constraint: `Margin(kappa=${repr(taken.constraint ?? 0)})` }));
    }
    if (typeof door.gives === "number") return found[door.gives];
    return Object.fromEntries(Object.entries(door.gives).map(([key, at]) => [key, found[at]]));
  }

  window.wfm = Object.assign(window.wfm ?? {}, {
    compute: (name, given) => compute(name, given),
    // for the calculator
    parts: { compute, device, group, formula, caller, tabled, sampling, weights, general, repr,
      number, margin, range, filled, Refused },
  });
})();

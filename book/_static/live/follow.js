// Figures whose curves are followed: each point of a curve is a saddle point, and starts where the
// last ones lead. Kernels of the package (the group that a figure names) solve in two workers that
// start from this file's own text, since pages from files may start no other: one draws, coarsely
// at once and then with all digits, the other looks for what the note below the figure says.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll("figure.wfm-slider:has(script.wfm-followed)")];
  const parts = window.wfmParts;
  if (!figures.length || !parts || !window.WebAssembly || !window.Worker) return;
  const { repr, typeset, read, element } = parts;

  // What a worker does: it is sent elsewhere as text and knows nothing of this page.
  function work(scope) {
    let [exports, kernels, results, failure, latest] = [null, null, 0, 0, 0];
    const states = new Map();

    // A kernel: numbers, and an array that it remembers by, to numbers. Memory of the last call is
    // taken back first. A trap is memory that the browser does not give.
    function call(name, ...given) {
      const { gives } = kernels[name];
      try {
        exports.reset();
        const flat = given.flatMap((one) => (typeof one === "number" ? [one]
          : [0, 0, BigInt(one.length), 8n, one.address, BigInt(one.length), 8n]));
        if (exports[name](results, failure, ...flat) === 0) {
          return [...new Float64Array(exports.memory.buffer, results, gives)];
        }
      } catch (error) {
        if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      }
      return Array(gives).fill(NaN);
    }

    async function begin({ bytes, names, most, length }) {
      const { instance } = await WebAssembly.instantiate(bytes);
      [exports, kernels] = [instance.exports, names];
      [results, failure] = [exports.take(8 * 64), exports.take(8)];
      for (let i = 0; i < most; i += 1) states.set(i, { length, address: exports.take(8 * length) });
      exports.keep();
      scope.postMessage({ ready: true });
    }

    // Another message may have come: what was asked before is then dropped.
    const channel = new MessageChannel();
    const turn = () => new Promise((go) => {
      channel.port1.onmessage = go;
      channel.port2.postMessage(null);
    });

    // The places of a curve, from the far end to the near one.
    const spaced = (ends, counts) => ends.slice(1).flatMap((end, i) =>
      Array.from({ length: counts[i] }, (_, k) =>
        ends[i] * (end / ends[i]) ** ((k + 1) / counts[i]))).concat(ends[0]).sort((a, b) => b - a);

    async function curves({ id, lines, coarse, fine }) {
      const began = lines.map((line) => call(line.begun, ...line.given, states.get(0)));
      for (const pass of [{ counts: coarse, coarse: 1 }, { counts: fine, coarse: 0 }]) {
        const all = lines.map(() => null);
        for (const [i, line] of lines.entries()) {
          all[i] = [];
          if (began[i][0] === 0) {
            call(line.begun, ...line.given, states.get(0));
            const ends = line.ends.map((end) => (end === null ? began[i][2] : end));
            if (line.complement) ends[0] = 0.995 * (1 - ends[0]);
            const places = spaced(ends, pass.counts);
            for (const [k, at] of places.entries()) {
              const place = line.complement ? 1 - at : at;
              const found = call(line.around, ...line.given, place, pass.coarse, states.get(0));
              const values = [place, ...found];
              if (found[0] === 0) all[i].push([line.x, line.y, line.slope].map((w) => values[w]));
              else if (all[i].length) all[i].push(null); // a gap
              if (!pass.coarse) {
                scope.postMessage({ id, share: (i + (k + 1) / places.length) / lines.length });
              }
              await turn();
              if (latest !== id) return;
            }
          }
          if (pass.coarse) scope.postMessage({ id, began, rows: all, coarse: 1 });
        }
        if (!pass.coarse) scope.postMessage({ id, began, rows: all });
      }
      scope.postMessage({ id, drawn: true, memory: exports.memory.buffer.byteLength });
    }

    // What surrounds a reference: the kernels of the margins at which it changes, and where the
    // curve vanishes or turns.
    const NOTES = {
      surroundings({ alpha, kt, kappa }, curve) {
        const [a, b] = ["binary_no_gap", "binary_monotonic"].map((one) => call(one, alpha, kappa));
        const points = curve.filter(Boolean);
        const turns = [];
        call("binary_begun", alpha, kt, kappa, states.get(0));
        for (let i = 1; i < points.length; i += 1) {
          const [far, near] = [points[i - 1], points[i]];
          for (const [which, index] of [[0, 1], [1, 2]]) {
            if (far[index] > 0 !== near[index] > 0) {
              const [ended, , distance, height] = call("binary_turn", which, alpha, kt, kappa,
                near[0], far[0], states.get(0));
              if (ended === 0) turns.push({ which, distance, height, rises: near[index] < 0 });
            }
          }
        }
        return { gapless: a[0] === 0 ? a[2] : NaN, monotonic: b[0] === 0 ? b[2] : NaN, turns };
      },
    };

    let ready = null;
    scope.onmessage = async ({ data }) => {
      if (data.bytes) ready = begin(data);
      await ready;
      if (data.lines) {
        latest = data.id;
        await curves(data);
      } else if (data.point) {
        const { id, point: { kernel, given }, begun, extra } = data;
        const point = call(kernel, ...given);
        const failed = point[0] !== 0; // then the message needs more
        scope.postMessage({ id, point,
          began: failed ? call(begun, ...given.slice(0, -1), states.get(1)) : [],
          more: failed ? extra.map((one) => call(one.kernel, ...one.given)) : [] });
      } else if (data.note) {
        const { id, note, given, curve } = data;
        scope.postMessage({ id, noted: NOTES[note](given, curve) });
      }
    };
  }

  // A number with so many digits, as Python's "g" prints it.
  const digits = (x, places) => {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : "\u221e";
    const power = x === 0 ? 0 : Number(x.toExponential(places - 1).split("e")[1]);
    if (power >= -4 && power < places) return String(Number(x.toPrecision(places)));
    const [number, exponent] = x.toExponential(places - 1).split("e").map(Number);
    return `${number}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  };
  const python = (x) => (x === Infinity ? "np.inf" : repr(x));
  // {name} as Python's repr, {name:6} with six digits.
  const stated = (text, numbers) => text.replace(/\{(\w+)(?::(\d+))?\}/g, (all, name, places) => {
    if (!(name in numbers)) return all;
    return places ? digits(numbers[name], Number(places)) : repr(numbers[name]);
  });

  // What the notes say, in the order of a reader's questions.
  const SAID = {
    surroundings({ alpha, kt, kappa }, { gapless, monotonic, turns }) {
      const short = (x) => digits(x, 4);
      const level = turns.filter(({ which }) => which === 1);
      const tops = level.filter(({ rises }) => !rises);
      const top = tops.reduce((a, b) => (b.height > a.height ? b : a), { height: -Infinity });
      const within = ({ distance }) => distance < (top.distance ?? Infinity);
      const dip = level.find((one) => one.rises && within(one));
      const [outer, inner] = turns.filter((one) => one.which === 0 && within(one))
        .map(({ distance }) => distance);
      let text = "No edge: it grows up to its maximum.";
      if (top.height < 0) text = "No solutions at any distance.";
      else if (kt <= kappa && outer !== undefined) {
        text = `Isolated: no solutions up to ${short(outer)}.`;
      } else if (inner !== undefined) {
        text = `A ball and an empty shell: no solutions from ${short(inner)} to ${short(outer)}.`;
      } else if (outer !== undefined) text = `An empty shell that ends at ${short(outer)}.`;
      else if (dip) text = `A ball and a dip, ${short(dip.height)} at ${short(dip.distance)}.`;
      if (top.distance) text += ` Maximum ${short(top.height)} at ${short(top.distance)}.`;
      const [closes, ends] = [gapless, monotonic].map((x) =>
        (Number.isFinite(x) ? short(x) : "no margin that has solutions"));
      const all = `At load ${digits(alpha, 6)} the shell closes at ${closes}, the dip ends at ${ends}.`;
      return `${text} ${all}`;
    },
  };

  // A figure stands as the page was made until a worker has its kernels.
  function open(figure) {
    const live = JSON.parse(figure.querySelector("script.wfm-followed").textContent);
    const { module, kernels } = window.wfmKernels[live.group];
    const bytes = Uint8Array.from(atob(module), (one) => one.charCodeAt(0));
    const address = URL.createObjectURL(
      new Blob([`(${work})(self)`], { type: "text/javascript" }));
    const made = (hear) => {
      const one = new Worker(address);
      one.onmessage = ({ data }) => hear(data);
      one.postMessage({ bytes, names: kernels, most: 2, length: live.state });
      return one;
    };
    try {
      const first = made(() => start(figure, live, made, first));
      first.onerror = () => {};
    } catch { // a policy that forbids it
    }
  }

  function start(figure, live, made, given) {
    const find = (one) => figure.querySelector(one);
    const { panel, settings } = live;
    const [said, output, note] = [find(".wfm-said"), find("output"), find(".wfm-note")];
    const drawing = find("svg[role=img] > svg");
    const paths = [...figure.querySelectorAll(".wfm-moves")];
    const across = (x) => panel.left + Math.max(-50, Math.min(50,
      (x - panel.xlim[0]) / (panel.xlim[1] - panel.xlim[0]))) * (panel.right - panel.left);
    const up = (y) => panel.bottom - Math.max(-50, Math.min(50,
      (y - panel.ylim[0]) / (panel.ylim[1] - panel.ylim[0]))) * (panel.bottom - panel.top);

    const own = settings.find(({ name }) => name === live.own);
    const moved = [own, ...settings.filter((one) => one !== own)];
    moved.forEach((one) => { one.value = one.start === null ? Infinity : one.start; });
    let place = live.place.start;
    let id = 0;
    const values = (changed = {}) => ({ ...Object.fromEntries(
      moved.map(({ name, value }) => [name, value])), place, ...changed });
    const ordered = (changed) => settings.map(({ name }) => values(changed)[name]);
    const fixed = (given) => Object.fromEntries(Object.entries(given)
      .map(([name, x]) => [name, x === null ? Infinity : x]));

    // A curve that the page as it was made does not have: with the reader's own values.
    const lines = [...live.lines];
    let key = null;
    if (live.added) {
      const path = paths[live.added.like].cloneNode();
      path.setAttribute("d", "");
      path.setAttribute("class", "wfm-theory wfm-moves");
      path.removeAttribute("style");
      drawing.append(path);
      paths.push(path);
      lines.push(live.added);
      const names = find(".wfm-key");
      key = names.firstElementChild.cloneNode(true);
      key.querySelector("path").setAttribute("class", "wfm-theory");
      key.querySelector("path").removeAttribute("style");
      names.append(key);
    }
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "path");
    dot.setAttribute("class", "wfm-archive");
    drawing.append(dot);

    // A smooth line through points whose slopes are known; null where there is none.
    function smooth(points) {
      const at = (x, y) => `${across(x).toFixed(1)} ${up(y).toFixed(1)}`;
      let [d, last] = ["", null];
      for (const point of points) {
        if (point && last && point.every(Number.isFinite) && last.every(Number.isFinite)) {
          const third = (point[0] - last[0]) / 3;
          d += `C${at(last[0] + third, last[1] + third * last[2])} ` +
            `${at(point[0] - third, point[1] - third * point[2])} ${at(point[0], point[1])}`;
        } else if (point && Number.isFinite(point[0] + point[1])) {
          d += last && Number.isFinite(last[1]) ? `L${at(...point)}` : `M${at(...point)}`;
        }
        last = point;
      }
      return d;
    }

    const field = element("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
    field.value = typeset(digits(place, 10));
    field.setAttribute("aria-label", `${live.place.number.label}, to type`);
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
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", "how far the curve is");
    const stop = element("button", { type: "button", textContent: "Stop" });
    const waits = element("div", { className: "wfm-waits" }, bar, stop);
    waits.style.visibility = "hidden";

    // The two workers, and what they tell.
    const workers = { curves: given };
    given.onmessage = ({ data }) => { if (workers.curves === given) hear(data); };
    const worker = (name) => {
      if (!workers[name]) {
        const mine = made((data) => { if (workers[name] === mine) hear(data); });
        workers[name] = mine;
      }
      return workers[name];
    };
    const dismiss = (name) => {
      workers[name]?.terminate();
      delete workers[name];
    };

    let began = 0;
    let asked = [];
    let [typical, rows, first] = [NaN, [], null];
    function hear(data) {
      if (data.id !== id && !data.point) return;
      if (data.share) bar.value = data.share;
      if (data.rows) {
        [first] = data.began;
        typical = first[2];
        rows = data.rows;
        paths.forEach((path, i) => {
          const line = lines[i];
          if (line.rule !== null) {
            const x = first[0] === 0 ? first[line.rule] : NaN;
            path.setAttribute("d", Number.isFinite(x)
              ? `M${across(x).toFixed(1)} ${panel.top}V${panel.bottom}` : "");
          } else {
            const points = rows[asked.findIndex(({ of }) => of.includes(i))];
            if (points) path.setAttribute("d", smooth(points));
          }
        });
        figure.dataset.took ||= (performance.now() - began).toFixed(1);
      }
      if (data.drawn) {
        waits.style.visibility = "hidden";
        figure.dataset.drawn = String(id);
        figure.wfmMemory = data.memory; // for tests
        figure.dataset.whole = (performance.now() - began).toFixed(1);
        look();
      }
      if (data.point && data.id === pointed) tell(data);
      if (data.noted) {
        say(SAID[live.note](values(), data.noted));
        figure.wfmNoted = data.noted; // for tests
        figure.dataset.noted = String(id);
      }
    }

    function say(text) {
      if (note) note.textContent = typeset(text);
      own.range.setAttribute("aria-valuetext", `${own.typed.value}; ${text}`);
    }

    // What the note says takes longer than a curve: it is asked for once the reader rests.
    let resting = 0;
    function look() {
      clearTimeout(resting);
      if (!live.note) {
        say(stated(live.brief, { ...values(), typical }));
        return;
      }
      if (first[0] !== 0) {
        say("");
        return;
      }
      const mine = id;
      resting = setTimeout(() => {
        if (mine !== id) return;
        dismiss("notes");
        worker("notes").postMessage({ id, note: live.note, given: values(), curve: rows[0] });
      }, 150);
    }

    let pointed = 0;
    function point() {
      pointed += 1;
      figure.dataset.pointed = String(pointed);
      code.textContent = live.python.replace(/\{(\w+)\}/g, (all, name) =>
        (name in values() ? python(values()[name]) : all));
      worker("curves").postMessage({ id: pointed,
        point: { kernel: live.at, given: [...ordered(), place] }, begun: live.begun,
        extra: live.extra.map(({ kernel, takes }) =>
          ({ kernel, given: takes.map((one) => values()[one]) })) });
    }

    function tell({ point: numbers, began: start, more }) {
      const [ended, residual] = numbers;
      const known = { ...values(), residual };
      live.found.forEach(([name, which]) => { known[name] = numbers[which]; });
      if (ended === 0) found.textContent = typeset(stated(live.shown, known));
      else {
        let text = live.failures[ended] ?? "The browser has too little memory for it.";
        text = text.replace("{why}", live.why[place < 0.5 * start[2] ? 0 : 1]);
        live.extra.forEach(({ name, which, lost }, i) => {
          known[name] = more[i][which];
          if (more[i][0] !== 0 && text.includes(`{${name}`)) text = lost;
        });
        found.textContent = stated(text, known);
      }
      const [x, y] = [known.x ?? place, known.y];
      dot.setAttribute("d", ended === 0 && Number.isFinite(x + y) && x <= panel.xlim[1]
        && x >= panel.xlim[0] && y >= panel.ylim[0] && y <= panel.ylim[1]
        ? `M${across(x).toFixed(0)} ${up(y).toFixed(0)}h0` : "");
      figure.wfmFound = numbers; // for tests
      figure.dataset.found = String(pointed);
    }

    // Lines that ask for the same are computed once; what the reader looks at comes first.
    function draw() {
      id += 1;
      figure.dataset.asked = String(id);
      delete figure.dataset.took; // until the first curve is there
      began = performance.now();
      asked = [];
      const order = lines.map((_, i) => i);
      if (live.added) order.unshift(order.pop());
      for (const i of order) {
        const line = lines[i];
        if (line.rule !== null) continue;
        const given = ordered(fixed(line.given));
        const words = [...given, line.y].join();
        const same = asked.find((one) => one.words === words);
        if (same) same.of.push(i);
        else {
          asked.push({ words, of: [i], given, begun: live.begun, around: live.around,
            ends: live.ends, complement: live.complement, x: line.x, y: line.y,
            slope: line.slope });
        }
      }
      worker("curves").postMessage({ id, lines: asked, coarse: live.coarse, fine: live.fine });
      if (workers.notes) dismiss("notes");
      if (key) key.lastChild.textContent = stated(live.added.label, values());
      const mine = id;
      bar.value = 0;
      setTimeout(() => { // a bar for a moment would only flicker
        if (mine === id && figure.dataset.drawn !== String(id)) waits.style.visibility = "";
      }, 300);
      point();
    }

    const shown = (x) => (x === Infinity ? "\u221e" : typeset(digits(x, 10)));
    function move(one, to, keep = false) {
      one.value = to;
      const at = one.power ? Math.log10(to) : to;
      if (!keep) one.range.value = String(Math.min(at, one.slider[1]));
      one.typed.value = shown(to);
      if (one === own) output.textContent = shown(to);
      one.range.setAttribute("aria-valuetext", shown(to));
      one.typed.removeAttribute("aria-invalid");
      said.textContent = "";
      draw();
    }

    // What was typed: a number of the package or its message.
    function enter(input, { number, infinite, also }, take) {
      const plain = input.value.trim();
      let answer = read(input.value, number);
      if (infinite && ["\u221e", "inf"].includes(plain)) answer = { value: Infinity };
      else if (also.includes(Number(plain)) && plain !== "") answer = { value: Number(plain) };
      if (answer.message) {
        input.setAttribute("aria-invalid", "true");
        said.textContent = answer.message;
      } else {
        input.removeAttribute("aria-invalid");
        said.textContent = "";
        take(answer.value);
      }
    }

    stop.addEventListener("click", () => {
      dismiss("curves");
      dismiss("notes");
      id += 1;
      waits.style.visibility = "hidden";
      said.textContent = "Stopped.";
    });
    figure.wfmLive = true; // slider.js leaves it alone
    find(".wfm-made")?.remove();
    let last = find(".wfm-control");
    for (const one of moved) {
      if (one === own) {
        [one.range, one.typed] = [find("input[type=range]"), find("input[type=text]")];
      } else {
        one.range = element("input", { type: "range" });
        one.typed = element("input", { type: "text", inputMode: "decimal" });
        one.typed.setAttribute("aria-label", `${one.number.label}, to type`);
        for (const input of [one.range, one.typed]) {
          input.autocomplete = "off";
          input.dataset.lmSuppressShortcuts = "true";
        }
        const label = element("label", {},
          element("span", { textContent: one.number.label }), one.range);
        const control = element("div", { className: "wfm-control" }, label, one.typed);
        last.after(control);
        last = control;
      }
      [one.range.min, one.range.max, one.range.step] = one.slider.map(String);
      const start = one.power ? Math.log10(one.value) : one.value;
      one.range.value = String(Math.min(start, one.slider[1]));
      one.typed.value = shown(one.value);
      one.range.setAttribute("aria-valuetext", shown(one.value));
      one.range.addEventListener("input", () => {
        const at = Number(one.range.value);
        const end = one.infinite && at >= one.slider[1];
        const to = end ? Infinity : one.power ? Number((10 ** at).toPrecision(3)) : at;
        move(one, to, true);
      });
      one.typed.addEventListener("change", () => enter(one.typed, one, (x) => move(one, x)));
      one.typed.addEventListener("keydown", (event) => {
        if (event.key === "Escape") move(one, one.value);
      });
    }
    last.after(waits,
      element("div", { className: "wfm-control wfm-place" },
        element("label", {}, element("span", { textContent: `At ${live.place.number.label}` }),
          field), found),
      element("p", { className: "wfm-python" }, code, " ", copy));
    field.addEventListener("change", () => enter(field, live.place, (x) => {
      place = x;
      point();
    }));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      field.value = typeset(digits(place, 10));
      field.removeAttribute("aria-invalid");
      said.textContent = "";
    });
    output.textContent = own.typed.value;
    draw();
  }

  for (const figure of figures) open(figure);
})();

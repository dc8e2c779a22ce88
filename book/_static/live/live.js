// Figures that compute: kernels of the package, as WebAssembly, draw at any value.
// The slider of such a figure stands as the page was made until the kernels are there.
(() => {
  "use strict";
  const figures = [...document.querySelectorAll("figure.wfm-slider:has(script.wfm-live)")];
  const parts = window.wfm?.parts; // of compute.js
  if (!parts) return;
  const { general, repr, filled, caller, group: kernelsOf } = parts;
  const MINUS = "\u2212";

  const typeset = (text) => text.replace(/-(?=[\d.])/g, MINUS);
  // What was set and found, as text: numbers that the reader set as Python writes them, those of a
  // kernel with ten digits, and either with as many digits as stand behind a colon.
  const stated = (text, set, numbers) =>
    text.replace(/\{(\w+)(?::(\d+))?\}/g, (all, name, places) => {
      const x = set[name] ?? numbers[name];
      if (places || !(name in set)) return general(x, places ? Number(places) : 10);
      return repr(x);
    });

  // What a kernel gives that fills an array of two axes, its last argument: its numbers, and the rows.
  function filledTable(call, { kernel, rows, points }, numbers) {
    const array = Object.assign(new Float64Array(rows * points).fill(NaN), { shape: [rows, points] });
    const found = call(kernel, ...numbers, array);
    return { numbers: found, rows: Array.from({ length: rows }, (_, row) =>
      [...array.subarray(points * row, points * (row + 1))]) };
  }

  // What a worker does: it is sent elsewhere as text and knows nothing of this page.
  function work(scope, made) {
    let call = null;
    scope.onmessage = async ({ data: { bytes, kernels, name, numbers } }) => {
      if (bytes) {
        const { instance } = await WebAssembly.instantiate(bytes);
        call = made(instance.exports, kernels);
      }
      scope.postMessage(call(name, ...numbers));
    };
  }

  // Calls that a worker makes, one after the other. Who asks anew drops what waits; `stop` ends the
  // worker and all its memory.
  function elsewhere({ bytes, kernels }, told, failed) {
    let [worker, now, waiting, count] = [null, null, [], 0];
    const stop = () => {
      worker?.terminate();
      [worker, now, waiting] = [null, null, []];
    };
    const next = () => {
      if (now || !waiting.length) return;
      now = waiting.shift();
      const { name, numbers } = now;
      if (worker) {
        worker.postMessage({ name, numbers });
        return;
      }
      const text = `(${work})(self, ${caller})`;
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      try {
        worker = new Worker(address);
      } catch {
        stop();
        failed();
        return;
      }
      worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(address); // it has started
        const done = now;
        now = null;
        told(done, data, 1 - waiting.length / count);
        next();
      };
      worker.onerror = () => {
        stop();
        failed();
      };
      worker.postMessage({ bytes, kernels, name, numbers });
    };
    const ask = (calls) => {
      waiting = calls.filter((one) => one.key !== now?.key);
      count = calls.length;
      next();
    };
    return { ask, stop, idle: () => !now && !waiting.length };
  }

  // What was typed as a number of the package: the number, or its message.
  const read = (text, { low, high, no_number, outside, infinite, above, unit }) => {
    const plain = text.trim().replace(MINUS, "-").replace(",", ".");
    const value = plain === "" ? NaN : Number(plain);
    if (infinite && ["\u221e", "inf"].includes(plain)) return { value: Infinity };
    if (!Number.isFinite(value)) return { message: no_number.replace("{got}", `'${text}'`) };
    if ((low !== null && (above ? value <= low : value < low)) || (high !== null && value > high)) {
      return { message: outside.replace("{got}", repr(value / unit)) };
    }
    return { value };
  };

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const copying = (code) => {
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
    return copy;
  };

  function start(figure, call) {
    const find = (one) => figure.querySelector(one);
    const live = JSON.parse(find("script.wfm-live").textContent);
    const { panel, lines } = live;
    // What a kernel takes besides numbers that move: the weights, and the activation's array.
    const devices = live.devices.map(([prior, unit]) =>
      [prior, new Float64Array(unit.map((one) => one ?? Infinity))]);
    const of = (index) => (index === null ? [] : devices[index]);
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
    function points(kernel, which, index) {
      const [width, height] = [panel.right - panel.left, panel.bottom - panel.top];
      const at = (t) => {
        const numbers = call(kernel, t, value, ...of(index));
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
      const [kernel, which, index] = lines[i];
      if (live.rules[i]) { // upright
        const x = call(kernel, value, ...of(index))[which];
        return Number.isFinite(x) ? `M${across(x).toFixed(1)} ${panel.top}V${panel.bottom}` : "";
      }
      const key = `${kernel} ${which} ${index}`;
      if (!done.has(key)) {
        const steps = points(kernel, which, index).map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
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
    const copy = copying(code);
    find(".wfm-control").after(
      element("div", { className: "wfm-control wfm-place" },
        element("label", {}, element("span", { textContent: `At ${live.place.label}` }), field),
        found),
      element("p", { className: "wfm-python" }, code, " ", copy));

    function tell() {
      const [ended, residual, ...rest] = call(live.at, place, value, ...of(live.told));
      const numbers = [ended, residual, ...rest];
      const given = { alpha: repr(place), value: repr(value) };
      code.textContent = filled(live.python, given);
      if (ended === 0) {
        const parts = live.shown.map(([name, which]) => `${name} = ${general(numbers[which])}`);
        const exact = `the load is met to ${residual.toExponential(0)}`;
        found.textContent = typeset(`${parts.join(", ")} (${exact})`);
      } else {
        const last = general(call(live.last, value, ...of(live.told))[0]);
        found.textContent =
          filled(live.failed, { ...given, alpha: general(place), last });
      }
    }

    function draw() {
      const began = performance.now();
      const done = new Map();
      paths.forEach((one, i) => one.setAttribute("d", path(i, done)));
      const [name, kernel, which] = live.note;
      const text = `${name} ${general(call(kernel, value, ...of(live.told))[which])}.`;
      if (note) note.textContent = typeset(text);
      range.setAttribute("aria-valuetext", `${typed.value}; ${text}`);
      tell();
      figure.dataset.took = (performance.now() - began).toFixed(1);
      figure.dataset.since ??= performance.now().toFixed(0); // milliseconds, for tests
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

  // A figure with several sliders, whose curves one kernel fills: at once, and what takes longer in
  // a worker.
  function startSeveral(figure, call, made) {
    const find = (one) => figure.querySelector(one);
    const live = JSON.parse(find("script.wfm-live").textContent);
    const { panel, lines, table, later } = live;
    const drawing = find("svg[role=img] > svg");
    const paths = [...figure.querySelectorAll(".wfm-moves")];
    const [said, output] = [find(".wfm-said"), find("output")];
    const note = find(".wfm-note") ?? element("p", { className: "wfm-note" });
    const across = (x) => panel.left +
      ((x - panel.xlim[0]) / (panel.xlim[1] - panel.xlim[0])) * (panel.right - panel.left);
    const up = (y) => panel.bottom -
      Math.max(-50, Math.min(50, (y - panel.ylim[0]) / (panel.ylim[1] - panel.ylim[0]))) *
      (panel.bottom - panel.top);
    const shown = (x) => (x === Infinity ? "\u221e" : typeset(general(x)));

    const first = { name: "value", number: live.value, start: live.start, power: false };
    const moved = [first, ...live.more].map((one) => ({ ...one, value: one.start }));
    const set = () => Object.fromEntries(moved.map((one) => [one.name, one.value]));
    const taken = (names) => {
      const numbers = set();
      return names.map((name) => numbers[name]);
    };

    const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
    mark.setAttribute("class", "wfm-archive");
    drawing.append(mark);
    const found = element("p", { className: "wfm-found" });
    found.setAttribute("role", "status");
    const code = element("code", {});
    const bar = element("progress", { max: 1, value: 0 });
    bar.setAttribute("aria-label", "how far the computation is");
    const stop = element("button", { type: "button", textContent: "Stop" });
    const waits = element("div", { className: "wfm-waits" }, bar, stop);
    waits.style.visibility = "hidden";

    // The place that the reader set, on the curve.
    function point(rows) {
      const { value, power } = moved.find(({ name }) => name === "place");
      const x = power ? Math.log10(value) : value;
      const after = rows[0].findIndex((one) => one >= x);
      let d = "";
      if (after > 0) {
        const [a, b] = [rows[0][after - 1], rows[0][after]];
        const share = (x - a) / (b - a);
        const y = (1 - share) * rows[table.mark][after - 1] + share * rows[table.mark][after];
        if (Number.isFinite(y)) d = `M${across(x).toFixed(0)} ${up(y).toFixed(0)}h0`;
      }
      mark.setAttribute("d", d);
    }

    const joined = (xs, ys) => {
      const kept = xs.map((x, i) => [across(x), up(ys[i])]).filter(([, y]) => !Number.isNaN(y));
      const steps = kept.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
      return steps.length ? `M${steps.join("L")}` : "";
    };

    let rows = [];
    function draw() {
      const began = performance.now();
      const drawn = filledTable(call, table, taken(table.takes));
      rows = drawn.rows;
      paths.forEach((one, i) => {
        const [kind, which] = lines[i];
        if (kind === "row") {
          one.setAttribute("d", joined(rows[0], rows[which]));
        } else { // upright
          const x = drawn.numbers[which];
          const d = Number.isFinite(x)
            ? `M${across(x).toFixed(1)} ${panel.top}V${panel.bottom}` : "";
          one.setAttribute("d", d);
        }
      });
      point(rows);
      figure.dataset.took = (performance.now() - began).toFixed(1);
      figure.dataset.since ??= performance.now().toFixed(0); // milliseconds, for tests
    }

    // What the worker has told, by call; its text stands until the next is there.
    const answers = later.map(() => ({ key: "", text: "" }));
    const say = ({ shown: text, failures }, numbers) => {
      const [ended, ...rest] = numbers;
      const endless = ended === 0 && rest.includes(Infinity);
      const which = endless ? failures.inf : failures[String(ended)];
      return ended === 0 && !endless ? typeset(stated(text, set(), numbers))
        : stated(which ?? "The browser has too little memory for it.", set(), numbers);
    };
    const told = ({ key, index }, numbers, share) => {
      answers[index] = { key, text: say(later[index], numbers), numbers };
      found.textContent = answers[0].text;
      const text = answers.slice(1).map((one) => one.text).join(" ");
      note.textContent = text;
      moved[0].range.setAttribute("aria-valuetext", `${moved[0].typed.value}; ${text}`);
      bar.value = share;
      if (share === 1) {
        waits.style.visibility = "hidden";
        figure.wfmTold = answers.map((one) => one.numbers); // for tests
        figure.dataset.told = answers.map((one) => one.key).join(" ");
      }
    };
    const failed = () => {
      waits.style.visibility = "hidden";
      found.textContent = "The browser starts no worker here.";
    };
    const worker = elsewhere(made, told, failed);
    stop.addEventListener("click", () => {
      worker.stop();
      waits.style.visibility = "hidden";
      found.textContent = "Stopped.";
    });

    function ask() {
      const calls = later.map(({ kernel, takes }, index) => {
        const numbers = taken(takes);
        return { index, name: kernel, numbers, key: [kernel, ...numbers].join() };
      });
      code.textContent = live.python.replace(/\{(\w+)\}/g, (all, name) =>
        repr(set()[name]).replace("inf", "math.inf"));
      const wanted = calls.filter(({ key, index }) => key !== answers[index].key);
      if (!wanted.length) return;
      delete figure.dataset.told;
      worker.ask(wanted);
      setTimeout(() => { // a bar for a moment would only flicker
        if (!worker.idle()) waits.style.visibility = "";
      }, 300);
    }

    function move(one, to, keep = false) {
      one.value = to;
      const at = one.power ? Math.log10(to) : to;
      if (!keep) one.range.value = String(Math.min(at, Number(one.range.max)));
      one.typed.value = shown(to);
      if (one === moved[0]) output.textContent = shown(to);
      one.typed.removeAttribute("aria-invalid");
      said.textContent = "";
      if (one.name === "place") point(rows);
      else draw();
      ask();
    }

    figure.wfmMemory = call.memory; // for tests
    figure.wfmLive = true; // slider.js leaves it alone
    find(".wfm-made")?.remove();
    let last = find(".wfm-control");
    last.classList.add("wfm-several");
    moved.forEach((one, i) => {
      if (i === 0) {
        [one.range, one.typed] = [find("input[type=range]"), find("input[type=text]")];
        one.slider = [live.low, live.high, live.step];
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
        const control = element("div", { className: "wfm-control wfm-several" }, label, one.typed);
        last.after(control);
        last = control;
      }
      [one.range.min, one.range.max, one.range.step] = one.slider.map(String);
      one.range.addEventListener("input", () => {
        const at = Number(one.range.value);
        move(one, one.power ? Number((10 ** at).toPrecision(3)) : at, true);
        one.range.setAttribute("aria-valuetext", one.typed.value);
      });
      one.typed.addEventListener("change", () => {
        const { value: given, message } = read(one.typed.value, one.number);
        if (message) {
          one.typed.setAttribute("aria-invalid", "true");
          said.textContent = message;
        } else {
          move(one, given);
        }
      });
      one.typed.addEventListener("keydown", (event) => {
        if (event.key === "Escape") move(one, one.value);
      });
      one.range.value = String(one.power ? Math.log10(one.value) : one.value);
      one.typed.value = shown(one.value);
    });
    last.after(element("div", { className: "wfm-control wfm-place" }, found),
      element("p", { className: "wfm-python" }, code, " ", copying(code)));
    if (!note.parentElement) said.after(note);
    note.after(waits);
    move(moved[0], moved[0].value);
  }

  // Each group of kernels is compiled once.
  const groups = new Map();
  for (const figure of figures) {
    const { group } = JSON.parse(figure.querySelector("script.wfm-live").textContent);
    groups.set(group, [...(groups.get(group) ?? []), figure]);
  }
  for (const [group, those] of groups) {
    kernelsOf(group).then((call) => {
      for (const figure of those) {
        const several = JSON.parse(figure.querySelector("script.wfm-live").textContent).table;
        if (several) startSeveral(figure, call, call);
        else start(figure, call);
      }
    }, () => {}); // a policy that forbids it, or a browser that lacks it: the figure stands
  }

  window.wfmParts = { repr, typeset, read, element }; // for follow.js
})();

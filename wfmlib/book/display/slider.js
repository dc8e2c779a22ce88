// One pair of listeners for every slider of the page, whenever it comes: nothing to find at start.
(() => {
  if (window.wfmSlider) return;
  window.wfmSlider = true;
  const number = (text) => {
    const plain = text.trim().replace("\u2212", "-").replace(",", ".");
    return plain === "" ? NaN : Number(plain);
  };
  const parts = (event) => {
    const input = event.composedPath()[0];
    const figure = input.closest?.(".wfm-slider");
    if (!figure) return {};
    figure.wfmData ??= JSON.parse(figure.querySelector("script").textContent);
    const find = (one) => figure.querySelector(one);
    return { input, figure, data: figure.wfmData, find, range: find("input[type=range]"),
      typed: find("input[type=text]"), said: find(".wfm-said") };
  };
  const show = ({ figure, data, find, range, typed, said }, message = "") => {
    const { paths, values, notes } = data;
    const frame = Number(range.value);
    figure.querySelectorAll(".wfm-moves").forEach((path, i) => {
      const frames = typeof paths[i] === "number" ? paths[paths[i]] : paths[i];
      path.setAttribute("d", frames[frame]);
    });
    find("output").textContent = typed.value = values[frame];
    range.setAttribute("aria-valuetext", [values[frame], notes[frame]].filter(Boolean).join("; "));
    if (find(".wfm-note")) find(".wfm-note").textContent = notes[frame];
    typed.removeAttribute("aria-invalid");
    said.textContent = message;
  };
  const go = (all) => {
    const { data, range, typed, said } = all;
    const value = number(typed.value);
    const stops = data.values.map(number);
    const ends = `${data.values[0]} to ${data.values.at(-1)}`;
    let wrong = "";
    if (!Number.isFinite(value)) {
      wrong = `“${typed.value}” is not a number: type one from ${ends}.`;
    } else if (value < Math.min(...stops) || value > Math.max(...stops)) {
      wrong = `${typed.value} is out of range: type a number from ${ends}.`;
    }
    if (wrong) {
      typed.setAttribute("aria-invalid", "true");
      said.textContent = wrong;
      return;
    }
    const away = stops.map((stop) => Math.abs(stop - value));
    const frame = away.indexOf(Math.min(...away));
    range.value = frame;
    const near = `${data.values[frame]} is the stop nearest to ${typed.value}.`;
    show(all, stops[frame] === value ? "" : near);
  };
  document.addEventListener("input", (event) => {
    const all = parts(event);
    if (all.input && all.input === all.range) show(all);
  }, true);
  document.addEventListener("change", (event) => {
    const all = parts(event);
    if (all.input && all.input === all.typed) go(all);
  }, true);
  document.addEventListener("keydown", (event) => {
    const all = parts(event);
    if (all.input && all.input === all.typed && event.key === "Escape") show(all);
  }, true);
})();

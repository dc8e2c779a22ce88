// One listener for every slider of the page, whenever it comes: nothing to start, nothing to find.
(() => {
  if (window.wfmSlider) return;
  window.wfmSlider = true;
  document.addEventListener("input", (event) => {
    const input = event.composedPath()[0];
    const figure = input.closest?.(".wfm-slider");
    if (!figure) return;
    figure.wfmData ??= JSON.parse(figure.querySelector("script").textContent);
    const { paths, values, notes } = figure.wfmData;
    const frame = Number(input.value);
    figure.querySelectorAll(".wfm-moves").forEach((path, i) => {
      path.setAttribute("d", paths[i][frame]);
    });
    figure.querySelector("output").textContent = values[frame];
    input.setAttribute("aria-valuetext", [values[frame], notes[frame]].filter(Boolean).join("; "));
    const note = figure.querySelector(".wfm-note");
    if (note) note.textContent = notes[frame];
  }, true);
})();

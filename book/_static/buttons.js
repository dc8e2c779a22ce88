/* The buttons of the theme: `tools/policy.py` writes what they do as a word. */
(() => {
  const does = {fullscreen: () => window.toggleFullScreen(), print: () => window.print()};
  document.addEventListener("click", event => {
    const button = event.target.closest("[data-click]");
    if (button) does[button.dataset.click]();
  });
})();

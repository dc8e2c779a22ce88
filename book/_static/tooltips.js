// A link to a term, a numbered formula or a reference shows what it leads to: on hover and on
// keyboard focus. The tip stays while the pointer is on it, and Escape takes it away (WCAG 1.4.13).
// A tap shows it, too, and stays on the page; a second tap on the link follows it.
(() => {
  const root = new URL(document.documentElement.dataset.content_root, location.href).href;
  const tip = document.createElement("div");
  tip.id = "wfm-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let shown = null, title = null, timer = 0, touched = false, before = null;

  function content(link) {
    if (!link?.closest("article") || link.matches(".headerlink")) return null;
    if (link.title && link.pathname.endsWith("/bibliography.html")) return { text: link.title };
    const address = new URL(link.href);
    address.search = "";
    const html = window.wfmTips[address.href.replace(root, "")];
    return html ? { html } : null;
  }

  async function show(link) {
    hide();
    const what = content(link);
    if (!what) return;
    [shown, title] = [link, link.getAttribute("title")];
    link.removeAttribute("title"); // or the browser shows it, too
    link.setAttribute("aria-describedby", tip.id);
    if (what.text) tip.textContent = what.text; else tip.innerHTML = what.html;
    // A formula cannot be read out as a description; its number can.
    if (what.html?.startsWith("<div")) tip.ariaLabel = `Formula ${link.textContent}`;
    else tip.removeAttribute("aria-label");
    Object.assign(tip.style, { left: "0", top: "0", fontSize: "", visibility: "hidden" });
    tip.hidden = false;
    if (what.html && window.MathJax) {
      await MathJax.startup.promise;
      await MathJax.typesetPromise([tip]);
      tip.querySelectorAll("[tabindex]").forEach(one => one.removeAttribute("tabindex"));
    }
    if (shown === link) place(link.getBoundingClientRect());
  }

  function place({ left, top, bottom }) {
    const wide = tip.scrollWidth / tip.clientWidth; // a formula on a phone
    if (wide > 1) tip.style.fontSize = `${0.85 / wide}rem`;
    const below = bottom + tip.offsetHeight + 8 < innerHeight || top < tip.offsetHeight + 8;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const origin = tip.offsetParent.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(left, room)) - origin.left}px`;
    tip.style.top = `${(below ? bottom + 4 : top - tip.offsetHeight - 4) - origin.top}px`;
    tip.style.visibility = "visible";
  }

  function hide() {
    clearTimeout(timer);
    if (shown) {
      shown.removeAttribute("aria-describedby");
      if (title) shown.title = title;
    }
    shown = null;
    tip.hidden = true;
  }

  function later(what) {
    clearTimeout(timer);
    timer = setTimeout(what, 200);
  }

  document.addEventListener("pointerover", event => {
    if (event.pointerType === "touch") return; // see the click below
    const link = event.target.closest("a[href]");
    if (tip.contains(event.target) || (link && link === shown)) clearTimeout(timer);
    else if (content(link)) later(() => show(link));
    else later(() => shown?.matches(":focus-visible") || hide());
  });
  document.addEventListener("pointerdown", event => {
    touched = event.pointerType === "touch";
    before = shown; // a tap on a link focuses it, which hides the tip, before it is a click
  }, true);
  document.addEventListener("click", event => {
    if (!touched || tip.contains(event.target)) return;
    const link = event.target.closest("a[href]");
    if (content(link) && link !== before) {
      event.preventDefault();
      show(link);
    } else hide();
  });
  document.addEventListener("focusin", event => {
    if (touched) return;
    if (event.target.matches("a[href]:focus-visible")) show(event.target);
    else hide();
  });
  document.addEventListener("focusout", () => touched || hide());
  document.addEventListener("keydown", event => {
    touched = false;
    if (event.key === "Escape") hide();
  });
  document.querySelector("main").append(tip);
})();

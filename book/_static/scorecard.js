// The scorecard by chapter, paper and verdict. What is chosen stands in the address after `#`, so
// that it can be sent and the browser's "back" undoes it. The address of a claim shows that claim.
(() => {
  const rows = [...document.querySelectorAll(".wfm-scorecard tr[data-verdict]")];
  const tables = [...document.querySelectorAll(".wfm-scorecard")];
  if (!rows.length || tables.length < 2) return; // a chapter has one table
  const fields = { chapter: "Chapter", paper: "Paper", verdict: "Verdict" };

  const form = document.createElement("form");
  form.id = "wfm-filter";
  form.setAttribute("aria-label", "Filter the claims");
  const choices = {};
  for (const [name, label] of Object.entries(fields)) {
    const count = new Map();
    for (const { dataset } of rows) count.set(dataset[name], (count.get(dataset[name]) ?? 0) + 1);
    const select = document.createElement("select");
    select.name = name;
    select.append(new Option("all", ""));
    const ordered = [...count].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    for (const [value, number] of name === "verdict" ? count : ordered) select.append(new Option(`${value} (${number})`, value));
    select.id = `wfm-filter-${name}`;
    const around = document.createElement("div");
    const said = document.createElement("label");
    said.htmlFor = select.id;
    said.textContent = label;
    around.append(said, select);
    form.append(around);
    choices[name] = select;
  }
  const all = document.createElement("button");
  all.type = "reset";
  all.textContent = "Show all";
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  form.append(all, said);
  tables[0].before(form);

  function apply() {
    const chosen = Object.entries(choices).filter(([, select]) => select.value);
    for (const row of rows) {
      row.hidden = chosen.some(([name, select]) => row.dataset[name] !== select.value);
    }
    for (const table of tables) table.hidden = !table.querySelector("tbody tr:not([hidden])");
    const shown = rows.filter(row => !row.hidden).length;
    said.textContent = chosen.length
      ? `${shown} of ${rows.length} claims` : `all ${rows.length} claims`;
    all.disabled = !chosen.length;
  }

  function choose(wanted) {
    for (const [name, select] of Object.entries(choices)) {
      select.value = wanted.get(name) ?? "";
      if (select.selectedIndex < 0) select.value = "";
    }
    apply();
  }

  // From the address: choices, or the name of a claim, which may be one that is hidden.
  function read() {
    const hash = decodeURIComponent(location.hash.slice(1));
    const claim = hash && document.getElementById(hash);
    if (!hash || hash.includes("=")) choose(new URLSearchParams(hash));
    else if (claim?.closest("tr[hidden]")) {
      choose(new URLSearchParams());
      claim.scrollIntoView();
    }
  }

  function write() {
    const wanted = new URLSearchParams(Object.entries(choices)
      .filter(([, select]) => select.value).map(([name, select]) => [name, select.value]));
    const hash = `#${wanted}`;
    if (hash !== (location.hash || "#")) location.hash = hash;
    apply();
  }

  form.addEventListener("change", write);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(write)); // once the choices are gone
  addEventListener("hashchange", read);
  apply();
  read();
})();

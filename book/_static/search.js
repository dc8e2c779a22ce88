// Looks for words in the places of the book (`places.js`): sections, terms, the API, claims.
(() => {
  // How much a place of a kind counts: what explains comes before what lists.
  const WEIGHT = { section: 1, term: 1.2, exercise: 0.6, number: 0.5, paper: 0.4, api: 0.15,
    claim: 0.1 };
  const LISTS = /book\/(api|downloads|gallery|lecturers|oral|others|speed|ways|\d+_\d_exercises)|#notes/;
  const SHOWN = 30, WIDTH = 220;
  const LETTERS = { α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", ζ: "zeta",
    η: "eta", θ: "theta", κ: "kappa", λ: "lambda", μ: "mu", ν: "nu", ξ: "xi", π: "pi", ρ: "rho",
    σ: "sigma", τ: "tau", φ: "phi", χ: "chi", ψ: "psi", ω: "omega" };
  const SMALL = new Set(("a an and are as at be by do does for from has how if in is it its not of"
    + " on or s that the this to was what when where which why with").split(" "));
  // What one types, and what the book calls it.
  const ALSO = { "1rsb": "one step breaking", authors: "citing", barycenter: "barycentre",
    esgd: "entropy sgd", github: "sources", gpu: "cores", ogp: "overlap gap", prerequisites: "need",
    pytorch: "torch", rem: "random energy model", tap: "approximate message passing",
    overfitting: "memorisation", requirements: "need", rsb: "breaking", wrote: "citing",
    sgd: "gradient descent" };
  for (const [kind, , title] of wfmPlaces)  // belief propagation (BP)
    for (const [, long, short] of kind === "term" ? title.matchAll(/([^,(]+) \((\w+)\)/g) : [])
      ALSO[short.toLowerCase()] ??= long;
  const WORDS = /[\p{L}\p{N}]+(?:\.\p{N}+)+|[\p{L}\p{N}\p{M}]+/gu;  // 1.11 and F.2 are words
  const stemmer = new Stemmer();

  // What is compared of a word: its stem, spelled in one way; Greek letters by their names.
  const stems = new Map();
  function stem(word) {
    if (!stems.has(word)) stems.set(word, stemmed(word));
    return stems.get(word);
  }

  function stemmed(word) {
    let one = word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    one = [...one].map(letter => LETTERS[letter] ?? letter).join("");
    one = one.replace(/is(e|ed|es|er|ers|ing|ation|ations)$/, "iz$1")
      .replace(/(.{3})our(s|al|ed|ing)?$/, "$1or$2").replace(/^overparameter/, "overparametr");
    return SMALL.has(one) ? null : stemmer.stemWord(one);
  }

  // Of a word with a hyphen its parts are looked for, and both in one; "1 RSB" is "1RSB", and a
  // letter with a subscript is one word.
  const JOINED = /(?<=\d)[- ](?=RSB)|(?<=(?<![\p{L}\p{N}])(?:\p{L}|alpha|kappa))_(?=[\p{L}\p{N}]+)/giu;
  const tokens = text => [
    ...(text.replace(JOINED, "").match(WORDS) ?? []),
    ...(text.match(/\p{L}+-\p{L}+/gu) ?? []).map(word => word.replace("-", "")),
  ];

  const weight = id => WEIGHT[wfmPlaces[id][0]] * (LISTS.test(wfmPlaces[id][1]) ? 0.6 : 1);
  const index = new MiniSearch({
    fields: ["title", "text"],
    tokenize: tokens,
    processTerm: stem,
    searchOptions: { boost: { title: 4 }, boostDocument: weight },
  });
  index.addAll(wfmPlaces.map(([kind, , title, text], id) => (
    { id, title, text: kind === "term" ? `${text} definition meaning` : text })));

  const known = new Set(wfmPlaces.flatMap(([, , title, text]) => tokens(`${title} ${text}`)).map(stem));

  // Exact, unfinished and misspelt words together: a place counts by how many words it answers,
  // and by how much of its name is asked for.
  function find(query) {
    const words = [...new Set(tokens(query))].filter(stem);
    const forms = words.map(word => [word, ...tokens(ALSO[word.toLowerCase()] ?? "")]);
    const found = index.search({ combineWith: "OR", queries: forms.flat() }, {
      prefix: term => term.length > 2,
      fuzzy: term => (known.has(term) || term.length < 5 ? false : 0.25),
      weights: { prefix: 0.2, fuzzy: 1 },
    });
    const answers = ({ queryTerms }) =>
      forms.filter(same => same.some(word => queryTerms.includes(stem(word)))).length / words.length;
    const named = ({ id, terms }) => {
      const title = tokens(wfmPlaces[id][2].replace(/\(.*/, "")).map(stem).filter(Boolean);
      return title.filter(word => terms.includes(word)).length / title.length || 0;
    };
    const code = /[a-z]{2}[._][a-z]{2}/i.test(query);  // typed as in code
    const asked = one => (code && wfmPlaces[one.id][0] === "api" ? 1 / WEIGHT.api : 1) + named(one);
    return found.map(one => ({ ...one, score: one.score * answers(one) ** 2 * asked(one) }))
      .filter(one => answers(one) >= 0.5)
      .sort((a, b) => b.score - a.score);
  }

  // The part of a text that holds most of the words looked for, and where they are in it.
  function excerpt(text, terms) {
    const hits = [...text.matchAll(WORDS)]
      .filter(([word]) => terms.has(stem(word)))
      .map(found => [found.index, found.index + found[0].length]);
    let best = 0, most = 0;
    for (const [start] of hits) {
      const count = hits.filter(([at]) => at >= start && at < start + WIDTH * 0.7).length;
      if (count > most) [best, most] = [start, count];
    }
    let from = best < WIDTH / 3 ? 0 : text.lastIndexOf(" ", best - WIDTH / 5) + 1;
    const sentence = text.lastIndexOf(". ", best) + 2;
    if (sentence > 1 && best - sentence < WIDTH / 2) from = sentence;
    let to = text.length <= from + WIDTH ? text.length : text.lastIndexOf(" ", from + WIDTH);
    if (to <= best) to = from + WIDTH;
    return marked(text.slice(from, to), hits.map(([a, b]) => [a - from, b - from]),
      from > 0 && from !== sentence ? "… " : "", to < text.length ? " …" : "");
  }

  function marked(text, hits, before = "", after = "") {
    const parts = [before];
    let at = 0;
    for (const [from, to] of hits) {
      if (from < at || to > text.length) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      parts.push(text.slice(at, from), mark);
      at = to;
    }
    return [...parts, text.slice(at), after];
  }

  function entry({ id, terms }) {
    const [kind, address, title, text, page] = wfmPlaces[id];
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = document.documentElement.dataset.content_root + address;
    const words = new Set(terms);
    const inTitle = [...title.matchAll(WORDS)].filter(([word]) => words.has(stem(word)))
      .map(found => [found.index, found.index + found[0].length]);
    link.append(...marked(title, inTitle));
    const where = document.createElement("small");
    where.textContent = title === page ? "" : page;
    const some = document.createElement("p");
    some.append(...excerpt(text, words));
    item.className = `wfm-${kind}`;
    item.append(link, where, some);
    return item;
  }

  function show(query) {
    const found = find(query);
    document.querySelector("#wfm-found").textContent = !found.length
      ? `Nothing in the book answers “${query}”.`
      : `${found.length} ${found.length === 1 ? "place" : "places"} for “${query}”`
        + (found.length > SHOWN ? `; the first ${SHOWN}:` : "");
    document.querySelector("#wfm-places").replaceChildren(...found.slice(0, SHOWN).map(entry));
  }

  window.wfmFind = query => find(query).map(({ id }) => wfmPlaces[id].slice(0, 3));
  const field = document.querySelector(".bd-search-container input[type=search]");
  const query = new URLSearchParams(location.search).get("q")?.trim();
  if (query) {
    field.value = query;
    show(query);
  } else field.focus();
})();

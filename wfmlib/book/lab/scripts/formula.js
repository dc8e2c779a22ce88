// A formula that a reader types, as a function of x and as text for Python. Nothing is run as code:
// the text is read into functions of this file, and a word that is not among them is refused.
(() => {
  "use strict";
  // Words: how many arguments, the function, and its name in Python. `erf` and `ndtr` are kernels
  // of the package; their place is taken when the formula is read.
  const WORDS = {
    exp: [1, Math.exp, "np.exp"],
    expm1: [1, Math.expm1, "np.expm1"],
    log: [1, Math.log, "np.log"],
    log1p: [1, Math.log1p, "np.log1p"],
    sqrt: [1, Math.sqrt, "np.sqrt"],
    abs: [1, Math.abs, "np.abs"],
    sign: [1, Math.sign, "np.sign"],
    tanh: [1, Math.tanh, "np.tanh"],
    sinh: [1, Math.sinh, "np.sinh"],
    cosh: [1, Math.cosh, "np.cosh"],
    sin: [1, Math.sin, "np.sin"],
    cos: [1, Math.cos, "np.cos"],
    arctan: [1, Math.atan, "np.arctan"],
    erf: [1, null, "scipy.special.erf"],
    ndtr: [1, null, "scipy.special.ndtr"],
    maximum: [2, Math.max, "np.maximum"],
    minimum: [2, Math.min, "np.minimum"],
    clip: [3, (x, low, high) => Math.min(Math.max(x, low), high), "np.clip"],
    where: [3, (is, yes, no) => (is ? yes : no), "np.where"],
  };
  const ALSO = { max: "maximum", min: "minimum", absolute: "abs", atan: "arctan", Phi: "ndtr" };
  const NUMBERS = { pi: [Math.PI, "np.pi"], e: [Math.E, "np.e"] };
  const SIGNS = {
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
    "**": (a, b) => a ** b, "<": (a, b) => Number(a < b), ">": (a, b) => Number(a > b),
    "<=": (a, b) => Number(a <= b), ">=": (a, b) => Number(a >= b),
  };
  const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|((?:np\.|numpy\.|scipy\.special\.|math\.)?[A-Za-z_]\w*)|(\*\*|<=|>=|[-+*/^()<>,]))/y;

  // Return { g, python, flat }: the function, its text, and whether it leaves x out.
  function read(text, kernels = {}) {
    const refuse = (what) => { throw new window.wfmLab.Refused(`g(x): ${what}.`); };
    const source = text.replaceAll("\u2212", "-").replaceAll("\u00b7", "*");
    if (source.length > 500) refuse("the formula must not be longer than 500 characters");
    const tokens = [];
    TOKEN.lastIndex = 0;
    while (source.slice(TOKEN.lastIndex).trim()) {
      const from = TOKEN.lastIndex;
      const found = TOKEN.exec(source);
      if (!found) refuse(`the formula has a sign that is not known: “${source.slice(from).trim()[0]}”`);
      const [, number, word, sign] = found;
      tokens.push(number ? { number } : word ? { word } : { sign: sign === "^" ? "**" : sign });
    }
    let [at, depth, flat] = [0, 0, true];
    const next = (sign) => tokens[at]?.sign === sign && (at += 1, true);
    const need = (sign) => next(sign) || refuse(`the formula needs a “${sign}” ${tokens[at]
      ? `before “${tokens[at].word ?? tokens[at].number ?? tokens[at].sign}”` : "at its end"}`);

    // Each part: the function of x, its text, and how strongly it binds.
    const two = (sign, a, b, binds) => {
      const [f, left, right] = [SIGNS[sign], a.g, b.g];
      const wrapped = (one, least) => (one.binds < least ? `(${one.python})` : one.python);
      const tight = sign === "**";
      const text = [wrapped(a, tight ? binds + 1 : binds), wrapped(b, tight ? binds - 1 : binds + 1)];
      return { g: (x) => f(left(x), right(x)), python: text.join(tight ? sign : ` ${sign} `), binds };
    };
    const rest = (signs, inner, binds) => () => {
      let one = inner();
      for (let sign = tokens[at]?.sign; signs.includes(sign); sign = tokens[at]?.sign) {
        at += 1;
        one = two(sign, one, inner(), binds);
      }
      return one;
    };
    const unary = () => {
      if (next("+")) return unary();
      if (!next("-")) return power();
      const { g, python, binds } = unary();
      return { g: (x) => -g(x), python: `-${binds < 3 ? `(${python})` : python}`, binds: 3 };
    };
    const power = () => {
      const base = atom();
      return next("**") ? two("**", base, unary(), 4) : base;
    };
    const product = rest(["*", "/"], unary, 2);
    const sum = rest(["+", "-"], product, 1);
    const whole = () => {
      depth += 1;
      if (depth > 60) refuse("the formula must not be nested so deeply");
      const left = sum();
      const sign = tokens[at]?.sign;
      const compared = ["<", ">", "<=", ">="].includes(sign);
      if (compared) at += 1;
      depth -= 1;
      return compared ? two(sign, left, sum(), 0) : left;
    };
    const atom = () => {
      const { number, word, sign } = tokens[at] ?? refuse("the formula ends too early");
      at += 1;
      if (number) {
        const value = Number(number);
        return { g: () => value, python: number, binds: 9 };
      }
      if (sign === "(") {
        const inner = whole();
        need(")");
        return inner;
      }
      if (sign) refuse(`the formula has a “${sign}” where a number, x or a function belongs`);
      const plain = word.replace(/^(np|numpy|scipy\.special|math)\./, "");
      if (plain === "x") {
        flat = false;
        return { g: (x) => x, python: "x", binds: 9 };
      }
      if (Object.hasOwn(NUMBERS, plain)) {
        const [value, python] = NUMBERS[plain];
        return { g: () => value, python, binds: 9 };
      }
      const name = Object.hasOwn(ALSO, plain) ? ALSO[plain] : plain;
      if (!Object.hasOwn(WORDS, name)) {
        refuse(`name '${word}' is not defined: a formula may hold x, numbers, + - * / **, pi, e ` +
          `and ${Object.keys(WORDS).join(", ")}`);
      }
      const [count, own, python] = WORDS[name];
      const f = own ?? kernels[name] ?? refuse(`${name} is not there yet`);
      need("(");
      const given = [];
      do given.push(whole()); while (next(","));
      need(")");
      if (given.length !== count) {
        refuse(`${name} takes ${count} argument${count > 1 ? "s" : ""}, got ${given.length}`);
      }
      const parts = given.map((one) => one.g);
      return {
        g: count === 1 ? (x) => f(parts[0](x)) : (x) => f(...parts.map((part) => part(x))),
        python: `${python}(${given.map((one) => one.python).join(", ")})`,
        binds: 9,
      };
    };
    if (!tokens.length) refuse("the formula is empty");
    const { g, python } = whole();
    if (at < tokens.length) {
      refuse(`the formula goes on with “${tokens[at].word ?? tokens[at].number ?? tokens[at].sign}”`);
    }
    return { g, python, flat };
  }

  (window.wfmLab ??= {}).formula = read;
})();

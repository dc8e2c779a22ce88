r"""Formulas as a line of text: `\frac{\alpha_c}{2}` as `α_c/2`.

For where nothing sets a formula: what the search shows of a section, and what it looks in. The
signs come from docutils' tables of TeX.
"""

from __future__ import annotations

import re
from functools import cache

from docutils.utils.math import tex2unichar

TOKEN = re.compile(r"\\[A-Za-z]+\*?\s*|\\.|\\\n|\s+|.", re.DOTALL)
RAISED = dict(zip("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", strict=True))
LOWERED = dict(zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", strict=True))
ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303"}
ACCENTS |= {"bar": "\u0304", "overline": "\u0304", "dot": "\u0307", "ddot": "\u0308"}
FONTS = {"mathbf", "mathcal", "mathrm", "mathbb", "mathsf", "mathit", "boldsymbol", "bm"}
FONTS |= {"text", "textrm", "textbf", "operatorname", "mbox", "boxed", "substack"}
SIZES = re.compile(r"(left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|rm|bf|(no)?limits)$")
DROPPED = {"label", "tag", "phantom", "hphantom", "vphantom", "notag", "nonumber"}
SPACES = {",": "", "!": "", ";": " ", ":": " ", " ": " ", "quad": " ", "qquad": "  ", "\\": " "}
SPACES |= {"\n": " ", ">": " "}
NAMED = {"dots": "…", "cdots": "…", "ldots": "…", "ge": "≥", "le": "≤", "to": "→", "ne": "≠"}
NAMED |= {"star": "⋆", "prime": "′", "mid": "|", "colon": ":", "lvert": "|", "rvert": "|"}
NAMED |= {"vert": "|", "lVert": "‖", "rVert": "‖", "epsilon": "ε", "varepsilon": "ε", "-": ""}
NAMED |= {"phi": "φ", "xrightarrow": "→", "longrightarrow": "→", "ell": "ℓ"}
WORDS = {"ln", "log", "exp", "max", "min", "lim", "sup", "inf", "det", "Pr", "arg", "erf", "erfc"}
WORDS |= {f"{arc}{name}" for arc in ("", "arc") for name in ("sin", "cos", "tan")}
WORDS |= {"sinh", "cosh", "tanh", "coth"}


@cache
def symbols() -> dict[str, str]:
    """Return the sign of every command that stands for one."""
    found = {}
    for kind in ("op", "ord", "rel", "bin", "punct", "open", "close", "fence", "alpha"):
        found |= getattr(tex2unichar, f"math{kind}")
    return found | NAMED


def plain(tex: str) -> str:
    """Return a formula as a line of text."""
    text = re.sub(r"\s+", " ", Reader(tex).until(None))
    text = re.sub(r" ?([=<>≤≥≃≈→]) ?", r"\1", text)
    return re.sub(r" (?=[²³ⁿ⁰¹⁴-⁹⁻⁺^_])|(?<=[(\[{∫=+-]) ", "", text).strip()


def grouped(text: str) -> str:
    """Return a part of a formula in brackets, if it is more than one number or name."""
    text = text.strip()
    return text if re.fullmatch(r"[\w.′\u0300-\u036f]*|\(.*\)", text) else f"({text})"


def under(text: str) -> str:
    """Return what stands below a root, in brackets if it is more than a number or a letter."""
    return text if re.fullmatch(r"[\d.]+|\w[\u0300-\u036f]?", text) else f"({text})"


class Reader:
    """A formula, read from left to right."""

    def __init__(self, tex: str):
        self.tokens = TOKEN.findall(tex)
        self.at = 0

    def until(self, end: str | None) -> str:
        """Return what stands before a closing sign, or all the rest."""
        parts = []
        while self.at < len(self.tokens):
            token = self.next()
            if token == end:
                break
            parts.append(self.shown(token))
        return "".join(parts)

    def next(self) -> str:
        """Return the next token, and go on."""
        self.at += 1
        return self.tokens[self.at - 1]

    def argument(self) -> str:
        """Return what the next token, or group, shows."""
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.shown(self.next()) if self.at < len(self.tokens) else ""

    def option(self) -> str:
        """Return an argument in square brackets, if there is one."""
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            self.next()
            return self.until("]")
        return ""

    def shown(self, token: str) -> str:
        """Return what a token shows, with the arguments that it takes."""
        if token.startswith("\\") and len(token) > 1:
            return self.command(token[1:] if token[1:].isspace() else token[1:].rstrip("* \n"))
        if token == "{":
            return self.until("}")
        if token in "^_":
            return moved(self.argument().strip(), token)
        return {"&": " ", "~": " ", "'": "′", "}": ""}.get(token, token)

    def command(self, name: str) -> str:
        """Return what a command shows."""
        if name in SPACES:
            return SPACES[name]
        if SIZES.match(name):
            return ""
        if name in ("begin", "end"):
            if self.argument() == "array":
                self.argument()
            return " "
        if name in DROPPED:
            self.argument()
            return ""
        if name in FONTS:
            return self.argument()
        if name in ACCENTS:
            inner = self.argument()
            return inner + ACCENTS[name] if len(inner) == 1 else inner
        if name in ("frac", "tfrac", "dfrac"):
            return f"{grouped(self.argument())}/{grouped(self.argument())}"
        if name == "binom":
            return f"({self.argument()} over {self.argument()})"
        if name == "sqrt":
            degree = self.option()
            return "".join(RAISED.get(one, one) for one in degree) + "√" + under(self.argument())
        if name == "xrightarrow":
            self.argument()
        return f" {name} " if name in WORDS else symbols().get(name, name)


def moved(inner: str, how: str) -> str:
    """Return a part of a formula as a superscript or a subscript."""
    table = RAISED if how == "^" else LOWERED
    if inner and set(inner) <= set(table):
        return "".join(table[one] for one in inner)
    if inner in ("′", "⋆", "*"):
        return inner
    return f"{how}{inner}" if len(inner) == 1 else f"{how}({inner})"

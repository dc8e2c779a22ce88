"""A Sphinx extension: what the API reference adds to autodoc and numpydoc.

- A docstring that cites an equation, ``[eq-replicon]``, links to it, by the number on its page.
- An argument's line shows the range that its signature declares.
- A name in single backticks, or in the type of an argument, links to its entry if it is public.
- Each module opens with a table of its public names; the classes that its functions return have
  entries of their own. Each entry ends with the chapters whose code uses it, as
  sphinx-codeautolink found them when it linked that code to the entries.
- Functions that numba compiled look like functions; constants may be defined elsewhere.
- ``{command-help} wfm`` is the help of the command.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import math
import os
import re
import sys
from functools import cache
from types import ModuleType
from unittest import mock

from docutils import nodes
from numba.core.dispatcher import Dispatcher
from sphinx import addnodes
from sphinx.ext.autodoc import DataDocumenter, FunctionDocumenter, ModuleDocumenter
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from wfmlib.numerics import arguments

logger = logging.getLogger(__name__)

PAGES = "book/api/"
EQUATION = re.compile(r"\[(eq-[a-z0-9-]+)\]")
NAME = re.compile(r"(?<![`:\w])`([A-Za-z_][\w.]*)`(?![`_\w])")
PARTS = (
    "bench",
    "book.claims",
    "book.cli",
    "book.display",
    "book.experiments",
    "datasets",
    "landscape",
    "learning",
    "models",
    "networks",
    "numerics.comparisons",
    "numerics.gaussian",
    "numerics.solvers",
    "patterns",
    "probe",
    "sklearn",
    "theory",
)
SHORT = 60  # characters of a value that is worth showing


# ------------------------------------------------------------------------------------------------
# What is public
# ------------------------------------------------------------------------------------------------


@cache
def modules() -> tuple[str, ...]:
    """Return the public modules: the parts of the package, and those that a part makes public."""
    public = []
    for part in PARTS:
        module = importlib.import_module(f"wfmlib.{part}")
        members = [getattr(module, name) for name in module.__all__]
        public += [module, *(member for member in members if isinstance(member, ModuleType))]
    return tuple(module.__name__ for module in public)


@cache
def results() -> dict[str, type]:
    """Return what public functions return, by full name: classes that nobody else makes."""
    public, returned = set(), set()
    for name in modules():
        module = sys.modules[name]
        for member in (getattr(module, public_name) for public_name in module.__all__):
            if inspect.isclass(member):
                public.add(member)
            elif callable(member):
                function = inspect.unwrap(member)
                words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
                scope = getattr(function, "__globals__", {})
                returned |= {scope[word] for word in words if inspect.isclass(scope.get(word))}
    own = {kind for kind in returned - public if kind.__module__.startswith("wfmlib")}
    return {f"{kind.__module__}.{kind.__qualname__}": kind for kind in own}


@cache
def entries() -> dict[tuple[str, int], str]:
    """Return the full name of everything with an entry, by its own name and its identity."""
    names = {(kind.__name__, id(kind)): name for name, kind in results().items()}
    for name in modules():
        module = sys.modules[name]
        names[name.rpartition(".")[2], id(module)] = name
        for public in module.__all__:
            value = getattr(module, public)
            if not isinstance(value, ModuleType):
                names[public, id(value)] = f"{name}.{public}"
    return names


def entry(name: str, obj) -> str | None:
    """Return the full name of what `name` means in the docstring of `obj`, if it is public.

    It means what it would mean in the code there; a module of the package needs no import.
    """
    import wfmlib

    first, *rest = name.split(".")
    scopes = [obj, sys.modules.get(getattr(obj, "__module__", None)), wfmlib, wfmlib.theory]
    for scope in filter(None, scopes):
        value = getattr(scope, first, None)
        for attribute in rest:
            value = getattr(value, attribute, None)
        full_name = entries().get((name.rpartition(".")[2], id(value)))
        if full_name:
            return full_name
    return None


# ------------------------------------------------------------------------------------------------
# Docstrings
# ------------------------------------------------------------------------------------------------


def prepare(app, kind, name, obj, options, lines):
    """Turn the markers of a docstring into roles, before numpydoc sees it."""
    arguments = set() if kind == "module" else _arguments(obj)
    allowed = {} if kind == "module" else _ranges(obj)
    section, literal, previous = "", None, ""
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            if literal is not None and indent <= literal:
                literal = None
            if literal is None and not line.lstrip().startswith((">>>", "...")):
                if re.fullmatch("-{3,}", line):
                    section = previous
                    if section in ("Parameters", "Attributes", "Returns", "Raises"):
                        previous = line
                        continue
                if indent == 0 and section in ("Parameters", "Attributes", "Returns", "Raises"):
                    if section in ("Parameters", "Attributes"):
                        line = _with_range(line, allowed)
                    line = _linked_types(line, section, obj)
                line = EQUATION.sub(r":equation:`\1`", line)
                line = NAME.sub(lambda match: _linked(match[1], obj, arguments), line)
                lines[number] = line
                if line.endswith("::"):
                    literal = indent
            previous = line
    if kind == "module" and hasattr(obj, "__all__"):
        lines += ["", ".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   {public}" for public in obj.__all__]


def _arguments(obj) -> set[str]:
    """Return the names of a function's arguments, or of a class's fields: these are no links."""
    try:
        return set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return set()


def _ranges(obj) -> dict[str, str]:
    """Return the range of each argument that declares one, in symbols."""
    try:
        ranges = arguments.declared(obj)
    except (TypeError, NameError):  # no signature; or types that only a type checker imports
        return {}
    return {name: interval(allowed) for name, (allowed, _) in ranges.items()}


def interval(allowed) -> str:
    """Return a range in symbols, "(0, 1/2]"."""
    left = "(" if allowed.low_open or math.isinf(allowed.low) else "["
    right = ")" if allowed.high_open or math.isinf(allowed.high) else "]"
    symbols = {math.inf: "∞", -math.inf: "-∞"}
    low, high = (symbols.get(end, number(end)) for end in (allowed.low, allowed.high))
    symbol = f"{left}{low}, {high}{right}"
    if allowed.whole:
        symbol = f"{{{low}, ..., {high}}}"
        if high == "∞":
            symbol = f"{{{low}, {int(allowed.low) + 1}, ...}}"
    for also in allowed.also:
        symbol = (
            f"{{0}} ∪ {symbol}" if also == 0.0 else f"{symbol} ∪ {{{symbols.get(also, 'NaN')}}}"
        )
    return symbol


def number(value: float) -> str:
    """Return a number as docstrings write it: "1/2", "1e-6", "1 - 1e-4"."""
    if math.isinf(value):
        return "math.inf"
    if math.isnan(value):
        return "NaN"
    if value == 0.5:
        return "1/2"
    gap = 1.0 - value
    if 0.0 < gap < 1e-4:
        return f"1 - {number(gap)}"
    if 0.0 < value < 1e-6 and math.frexp(value)[0] == 0.5:
        return f"2^{math.frexp(value)[1] - 1}"
    size = f"{value:.10g}" if 1e-2 <= abs(value) < 1e4 or value == 0.0 else f"{value:.10e}"
    mantissa, _, power = size.partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(power)}" if power else mantissa


def _with_range(line, allowed):
    """Add its range to the line that begins an argument, or several of them."""
    names, colon, types = line.partition(" : ")
    names = names.split(", ")
    own = {name: allowed[name] for name in names if name in allowed}
    if not own:
        return line
    alike = len(own) == len(names) and len(set(own.values())) == 1
    ranges = [allowed[names[0]]] if alike else [f"{name} in {own[name]}" for name in own]
    return f"{', '.join(names)} : {', '.join([types] * bool(colon) + ranges)}"


def _linked(name, obj, arguments):
    full_name = None if name in arguments else entry(name, obj)
    return f":py:obj:`{name} <{full_name}>`" if full_name else f"``{name}``"


def _linked_types(line, section, obj):
    """Link the classes in the line that begins an argument, a result or an exception."""
    begin, colon, types = line.partition(" : ")
    if not colon:
        if section not in ("Returns", "Raises"):
            return line
        begin, types = "", line

    def linked(match):
        full_name = entry(match[0], obj)
        return f":py:obj:`{match[0]} <{full_name}>`" if full_name else match[0]

    return begin + colon + re.sub(r"(?<![\"'`.\w])[A-Z]\w+(?![\"'`.\w])", linked, types)


class Equation(SphinxRole):
    """``:equation:`eq-label```: the place of an equation, filled in when all pages are read."""

    def run(self):
        """Return the place."""
        return [citation(self.rawtext, label=self.text)], []


class citation(nodes.General, nodes.Element):
    """An equation of the book, cited in a docstring."""


def cite(app, doctree, docname):
    """Write each citation as a link, "[eq. (1.9)]"."""
    equations = app.env.domains["math"].equations
    for place in list(doctree.findall(citation)):
        if place["label"] not in equations:
            logger.warning("no equation %r", place["label"], location=(docname, None))
            place.replace_self(nodes.Text(f"[{place['label']}]"))
            continue
        page, _ = equations[place["label"]]
        target = nodes.make_id(f"equation-{place['label']}")
        counts = app.env.toc_fignumbers[page]["displaymath"][target]
        number = ".".join(map(str, counts))
        node = nodes.inline(classes=["wfm-equation"])
        text = nodes.Text(f"eq. ({number})")
        node += nodes.Text("[")
        node += make_refnode(app.builder, docname, page, target, text)
        node += nodes.Text("]")
        place.replace_self(node)


def page_name(env, page):
    """Return how a page is called in a sentence: "chapter 7", "lecture 7.2", or by its title."""
    own = env.toc_secnumbers.get(page, {}).get("")
    if not own:
        return f"“{env.titles[page].astext()}”"
    return f"{'lecture' if own[1:] else 'chapter'} {'.'.join(map(str, own))}"


# ------------------------------------------------------------------------------------------------
# Which chapters use a name
# ------------------------------------------------------------------------------------------------


def find_uses(app, env):
    """Gather, for each entry, the pages whose code links to it, and where they first do.

    A variable that holds a `Margin` is no `Margin`: links from other names than the entry's go.
    """
    env.wfm_uses = {}
    objects = env.domains["py"].objects
    for page, blocks in sorted(getattr(env, "sphinx_codeautolink_transforms", {}).items()):
        for block in blocks:
            block.names = [
                name
                for name in block.names
                if _last(name.code_str) == _last(name.resolved_location)
            ]
            for name in () if page.startswith(PAGES) else block.names:
                target = objects[name.resolved_location].node_id
                env.wfm_uses.setdefault(target, {}).setdefault(page, block.example.ref_id)


def _last(name):
    return name.rpartition(".")[2]


def tell_uses(app, doctree, docname):
    """End each entry with links to the chapters that use it."""
    for entry_node in list(doctree.findall(addnodes.desc)) if docname.startswith(PAGES) else ():
        ids = entry_node[0].get("ids", [])
        pages = app.env.wfm_uses.get(ids[0], {}) if ids else {}
        if pages:
            line = nodes.paragraph("", "Used in ", classes=["wfm-used"])
            for position, (page, section) in enumerate(pages.items()):
                line += nodes.Text(", " if position else "")
                text = nodes.Text(page_name(app.env, page))
                title = app.env.titles[page].astext()
                line += make_refnode(app.builder, docname, page, section, text, title)
            line += nodes.Text(".")
            content = entry_node[-1]
            inner = content.first_child_matching_class(addnodes.desc)
            content.insert(len(content) if inner is None else inner, line)


# ------------------------------------------------------------------------------------------------
# Documenters and the help of the command
# ------------------------------------------------------------------------------------------------


class CompiledDocumenter(FunctionDocumenter):
    """A function that numba compiled is a function."""

    objtype = "compiled"
    directivetype = "function"
    priority = DataDocumenter.priority + 1

    @classmethod
    def can_document_member(cls, member, membername, isattr, parent):
        """Tell whether numba compiled it."""
        from wfmlib.numerics._universal import Universal

        return isinstance(member, (Dispatcher, Universal))


class ConstantDocumenter(DataDocumenter):
    """A constant: described by the ``#:`` comment where it is defined, shown if short."""

    objtype = "constant"
    directivetype = "data"
    priority = DataDocumenter.priority + 1

    @classmethod
    def can_document_member(cls, member, membername, isattr, parent):
        """Tell whether it is a value and no function, class or module."""
        inside = isinstance(parent, ModuleDocumenter)
        return inside and not (callable(member) or isinstance(member, ModuleType))

    def get_module_comment(self, attrname):
        """Return the comment from the module in which it stands."""
        for name, module in list(sys.modules.items()):
            if name.startswith("wfmlib") and getattr(module, attrname, None) is self.object:
                comment = ModuleAnalyzer.for_module(name).find_attr_docs().get(("", attrname))
                if comment:
                    return comment
        return None

    def should_suppress_value_header(self):
        """Tell whether the value is too long to be read."""
        return len(repr(self.object)) > SHORT


def shorten(app, kind, name, obj, options, signature, returns):
    """Leave out defaults that are made anew for each object."""
    return signature and signature.replace("<factory>", "..."), returns


def keep_public(app, kind, name, obj, skip, options):
    """Document constants that the module does not define but makes public."""
    full_name = f"{app.env.temp_data.get('autodoc:module')}.{name}"
    return False if kind == "module" and entries().get((name, id(obj))) == full_name else None


class CommandHelp(SphinxDirective):
    """The help of `wfm` and of each of its commands."""

    def run(self):
        """Return a section for each command."""
        from wfmlib.book import cli

        with mock.patch.dict(os.environ, COLUMNS="84"):
            parser = cli._parser()
            kinds = [
                action
                for action in parser._actions
                if isinstance(action, argparse._SubParsersAction)
            ]
            parsers = {"wfm": parser}
            parsers |= {f"wfm {name}": command for name, command in kinds[0].choices.items()}
            return [self.section(name, command.format_help()) for name, command in parsers.items()]

    def section(self, name, text):
        """Return the help of one command under its name."""
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title("", "", nodes.literal(text=name))
        section += nodes.literal_block(text, text, language="text")
        self.state.document.note_explicit_target(section)
        return section


# ------------------------------------------------------------------------------------------------
# Code that links to the entries
# ------------------------------------------------------------------------------------------------


def relocate(app, config):
    """Tell sphinx-codeautolink the entry: `theory.clusters` has its folder one floor below."""
    config.codeautolink_inventory_map |= relocated()


def relocated() -> dict[str, str]:
    """Return the full name in the reference of what code reaches by a shorter way."""
    full_names = {}
    for part in PARTS:
        for name in importlib.import_module(f"wfmlib.{part}").__all__:
            module = getattr(sys.modules[f"wfmlib.{part}"], name)
            short = f"wfmlib.{part}.{name}"
            if isinstance(module, ModuleType) and module.__name__ != short:
                full_names[short] = module.__name__
                for public in module.__all__:
                    value, full = getattr(module, public), f"{module.__name__}.{public}"
                    full_names[f"{short}.{public}"] = full
                    if inspect.isroutine(value) or inspect.isclass(value):
                        full_names[f"{value.__module__}.{value.__qualname__}"] = full
    return full_names


def flatten(app, doctree):
    """Take sections without a title out of exercises: sphinx-codeautolink expects a title."""
    for section in list(doctree.findall(nodes.section)):
        if not isinstance(section[0], nodes.title):
            section.replace_self(section.children)


def setup(app):
    """Register; docstrings are prepared before numpydoc reads them (at the default priority)."""
    app.add_autodocumenter(CompiledDocumenter)
    app.add_autodocumenter(ConstantDocumenter)
    app.add_directive("command-help", CommandHelp)
    app.add_role("equation", Equation())
    app.connect("config-inited", relocate)
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-skip-member", keep_public)
    app.connect("env-updated", find_uses, priority=600)  # after sphinx-codeautolink
    app.connect("doctree-read", flatten, priority=400)  # before sphinx-codeautolink
    app.connect("doctree-resolved", cite)
    app.connect("doctree-resolved", tell_uses)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

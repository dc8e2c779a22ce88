"""The digest of the code that makes a sample: what its function can reach in the sources.

From the function of an experiment names are followed, through imports, to the functions, classes
and constants of the package that they stand for, and so on until nothing new comes. What counts
of a definition is its syntax, without docstrings, comments, annotations and the wording of
errors; where it stands does not count. So the digest changes with a kernel, a schedule, a default
argument, a constant or a decorator that a sample depends on, and does not with claims, figures,
texts, or kernels of others. It is the same on every version of Python.

More is followed than need be: a class counts as a whole, and a module that is used otherwise than
by its attributes counts with all its definitions. Not followed are other packages, whose versions
an archive's provenance names, and the modules of `NOT_FOLLOWED`. A definition that is looked up by
a name put together at run time would be missed; the sources have none on the way of a sample.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from functools import cache
from pathlib import Path

#: Modules whose definitions are not followed. The first declares what an experiment is, of which
#: `Experiment.definition` holds what matters; the second says in words how an algorithm ended; the
#: others find, fetch and check files of data, whose contents are fixed by their SHA-256.
NOT_FOLLOWED = (
    "wfmlib.runs.experiment",
    "wfmlib.learning.solution",
    "wfmlib.datasets.sources",
    "wfmlib.datasets.store",
)
#: What every sample goes through besides: how it is seeded, and what its function is handed.
FRAME = (
    ("wfmlib.runs.experiment", "Experiment.seed_sequence"),
    ("wfmlib.runs.experiment", "Task.compute"),
)
DIGITS = 16

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
IMPORTS = ast.Import | ast.ImportFrom
COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SKIPPED = ("annotation", "returns", "ctx", "kind", "type_comment")


def of(experiment, scale):
    """Return the digest of the code that makes a sample: 16 hexadecimal digits.

    It covers the sources that the experiment's function reaches, and its recipe: the
    `Experiment.definition` of the scale.

    Parameters
    ----------
    experiment : Experiment
        Whose samples.
    scale : str
        ``"quick"`` or ``"paper"``.

    Returns
    -------
    str or None
        None where the sources cannot be read: a function that was typed in, say.
    """
    reach = _reach(experiment.sample.__module__, experiment.sample.__qualname__)
    if reach is None:
        return None
    text = f"{experiment.definition(scale)} {reach}"
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@cache  # a process computes with the sources that it has imported
def _reach(module, name):
    """Return the digest of what a function reaches, None where its sources cannot be read."""
    try:
        return _sources(module.partition(".")[0]).digest((module, name), *FRAME)
    except (OSError, SyntaxError, KeyError):
        return None


@cache
def _sources(top):
    """Return the sources of the package and, where it is another, of that of an experiment."""
    folders = {one: _folder(one) for one in {top, "wfmlib"}}
    return Sources({one: folder for one, folder in folders.items() if folder is not None})


def _folder(package):
    """Return the folder of an imported package, None where it has none."""
    paths = getattr(sys.modules.get(package), "__path__", None)
    return Path(next(iter(paths))) if paths else None


class Sources:
    """Packages as text: their modules, and what the names in them stand for.

    Parameters
    ----------
    roots : dict of str to path
        The folder of each package whose definitions are followed, by its name.
    """

    def __init__(self, roots):
        self.roots = {name: Path(folder) for name, folder in roots.items()}
        self._modules, self._definitions = {}, {}

    def digest(self, *starts):
        """Return the digest of what some definitions reach.

        Parameters
        ----------
        *starts : tuple of (str, str)
            Module and name of each; a dot leads to a method.

        Raises
        ------
        KeyError
            If there is no such definition.
        OSError, SyntaxError
            If a source cannot be read.
        """
        found = self.reached(*starts)
        lines = sorted(
            f"{own} " + " ".join(f"{name}={_short(found, target)}" for name, target in names)
            for own, names in found.values()
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:DIGITS]

    def reached(self, *starts):
        """Return what definitions reach, by (module, name): its own digest, and its names.

        The names are pairs: as written, and the (module, name) that it stands for, or the dotted
        name of something in another package.
        """
        found, todo = {}, list(starts)
        while todo:
            place = todo.pop()
            if place not in found:
                found[place] = self._definition(*place)
                todo += [target for _, target in found[place][1] if isinstance(target, tuple)]
        return found

    def _definition(self, origin, name):
        """Return the digest of one definition alone, and its names."""
        if (origin, name) not in self._definitions:
            module = self.module(origin)
            is_declaration, nodes = self._is_declaration(module), module.nodes(name)
            text = "\n".join(_text(node, is_declaration) for node in nodes)
            names = {pair for node in nodes for pair in self._names(module, node)}
            own = hashlib.sha256(text.encode()).hexdigest()
            self._definitions[origin, name] = own, sorted(names, key=str)
        return self._definitions[origin, name]

    def module(self, name):
        """Return a module of the packages, parsed."""
        if name not in self._modules:
            path = self._path(name)
            if path is None:
                raise FileNotFoundError(f"no source of {name}")
            self._modules[name] = _Module(name, path.name == "__init__.py", self._tree(path))
        return self._modules[name]

    def _tree(self, path):
        return ast.parse(path.read_bytes())

    def _path(self, name):
        """Return the file of a module, None where no followed package has it."""
        top, *parts = name.split(".")
        if top not in self.roots:
            return None
        base = self.roots[top].joinpath(*parts)
        for path in (base / "__init__.py", base.with_name(base.name + ".py")):
            if path.is_file():
                return path
        return None

    def _names(self, module, node):
        """Yield what a definition names from outside itself, with what it stands for."""
        reader = _Reader(self._is_declaration(module))
        reader.visit(node)
        for dotted, imported in reader.found:
            head, *rest = dotted.split(".")
            source = imported or module.imports.get(head)
            if head in module.statements and not imported:
                yield dotted, (module.name, head)
            elif source is not None:
                for target in self._imported(*source, rest):
                    yield dotted, target

    def _imported(self, origin, name, rest):
        """Yield what an imported name, and attributes behind it, stand for."""
        if name is not None and self._path(f"{origin}.{name}"):
            origin, name = f"{origin}.{name}", None
        if self._path(origin) is None:
            yield ".".join(filter(None, (origin, name, *rest)))
        elif origin in NOT_FOLLOWED:
            yield f"{name} of what is not followed"
        elif name is None and rest:
            yield from self._imported(origin, rest[0], rest[1:])
        elif name is None:
            yield from ((origin, one) for one in self.module(origin).statements)
        else:
            module = self.module(origin)
            if name in module.statements:
                yield origin, name
            elif name in module.imports:
                yield from self._imported(*module.imports[name], rest)

    def _is_declaration(self, module):
        """Return a test of whether a call declares something, such as a `Variable`."""

        def test(call):
            source = module.imports.get(getattr(call.func, "id", None))
            return source is not None and source[0] == NOT_FOLLOWED[0]

        return test


class _Module:
    """The top of a module: which statements bind a name, and what is imported as what."""

    def __init__(self, name, is_package, tree):
        self.name = name
        self.package = name if is_package else name.rpartition(".")[0]
        self.imports, self.statements, others = {}, {}, []
        for node in tree.body:
            if isinstance(node, IMPORTS):
                self.imports |= dict(imported(node, self.package))
                continue
            bound = _bound(node)
            for one in bound:
                self.statements.setdefault(one, []).append(node)
            if not bound or isinstance(node, DEFINITIONS):
                others.append(node)
        for node in others:  # a call that changes a constant, a decorator that registers
            parts = node.decorator_list if isinstance(node, DEFINITIONS) else [node]
            for one in {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}:
                if one in self.statements and node not in self.statements[one]:
                    self.statements[one].append(node)

    def nodes(self, name):
        """Return the statements that make a name, or one method of a class.

        Raises
        ------
        KeyError
            If there are none.
        """
        head, _, method = name.partition(".")
        if not method:
            return self.statements[head]
        inside = [one for node in self.statements[head] for one in getattr(node, "body", ())]
        found = [one for one in inside if getattr(one, "name", None) == method]
        if not found:
            raise KeyError(name)
        return found


def imported(node, package=""):
    """Yield each name that an import binds, with the (module, name) that it comes from."""
    if isinstance(node, ast.Import):
        for one in node.names:
            yield (one.asname, (one.name, None)) if one.asname else _top(one.name)
        return
    origin = node.module or ""
    if node.level:
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - node.level + 1])
        origin = f"{base}.{origin}" if origin else base
    for one in node.names:
        yield one.asname or one.name, (origin, one.name)


def _top(dotted):
    top = dotted.partition(".")[0]
    return top, (top, None)


def _bound(node):
    """Return the names that a statement binds, in order and each once."""
    if isinstance(node, DEFINITIONS):
        return [node.name]
    stored = (
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )
    inner = (one.name for one in ast.walk(node) if isinstance(one, DEFINITIONS))
    return list(dict.fromkeys([*stored, *inner]))


def _short(found, target):
    return found[target][0][:DIGITS] if isinstance(target, tuple) else target


# ------------------------------------------------------------------------------------------------
# One definition
# ------------------------------------------------------------------------------------------------


class _Reader(ast.NodeVisitor):
    """Collects the names of a definition that it does not bind itself, with their attributes.

    `found` holds pairs: the dotted name, and what an import inside the definition binds it to.
    """

    def __init__(self, is_declaration):
        self.found, self.scopes, self.is_declaration = set(), [], is_declaration

    def visit_Name(self, node):
        self._note(node.id, node.id)

    def visit_Attribute(self, node):
        parts, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._note(inner.id, ".".join([inner.id, *reversed(parts)]))
        else:
            self.visit(inner)

    def _note(self, head, dotted):
        for scope in reversed(self.scopes):
            if head in scope:
                if scope[head] is not None:
                    self.found.add((dotted, scope[head]))
                return
        self.found.add((dotted, None))

    def visit_Call(self, node):
        if self.is_declaration(node):
            self.visit(node.func)
        else:
            self.generic_visit(node)

    def visit_Raise(self, node):
        self.generic_visit(_wordless(node))

    def visit_FunctionDef(self, node):
        for one in (*node.decorator_list, *_defaults(node)):
            self.visit(one)
        self._inside(_locals(node), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for one in _defaults(node):
            self.visit(one)
        self._inside(_locals(node), [node.body])

    def visit_AnnAssign(self, node):
        for one in (node.target, node.value):
            if one is not None:
                self.visit(one)

    def _comprehension(self, node):
        bound = {name: None for one in node.generators for name in _bound(one.target)}
        self._inside(bound, ast.iter_child_nodes(node))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _inside(self, scope, nodes):
        self.scopes.append(scope)
        for one in nodes:
            self.visit(one)
        self.scopes.pop()


def _defaults(function):
    """Return the default values of a function's arguments."""
    return [*function.args.defaults, *filter(None, function.args.kw_defaults)]


def _locals(function):
    """Return the names that a function binds: None each, or what an import binds it to."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += filter(None, (arguments.vararg, arguments.kwarg))
    bound = {one.arg: None for one in every}
    body = function.body if isinstance(function.body, list) else [function.body]
    todo, outer = list(body), set()
    while todo:
        node = todo.pop()
        if isinstance(node, DEFINITIONS):
            bound[node.name] = None
            continue
        if isinstance(node, ast.Lambda | COMPREHENSIONS):
            continue
        if isinstance(node, IMPORTS):
            bound |= dict(imported(node))
        elif isinstance(node, ast.Global):
            outer |= set(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound[node.name] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = None
        todo += ast.iter_child_nodes(node)
    return {name: source for name, source in bound.items() if name not in outer}


def _wordless(node):
    """Return a `raise` without the words of the error."""
    if not isinstance(node.exc, ast.Call):
        return node
    kept = [one for one in node.exc.args if not _is_text(one)]
    return ast.Raise(ast.Call(node.exc.func, kept, node.exc.keywords), node.cause)


def _is_text(node):
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _text(node, is_declaration):
    """Return the syntax of a definition as text, without what does not count."""
    if isinstance(node, list):
        return "[" + " ".join(_text(one, is_declaration) for one in node) + "]"
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__} {node.value!r}"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Call) and is_declaration(node):
        return f"({node.func.id})"
    if isinstance(node, ast.Raise):
        node = _wordless(node)
    parts = [type(node).__name__]
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, DEFINITIONS):
            value = _undocumented(value)
        if name not in SKIPPED and value not in (None, []):
            parts.append(f"{name}={_text(value, is_declaration)}")
    return "(" + " ".join(parts) + ")"


def _undocumented(body):
    """Return the statements of a definition without its docstring."""
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text and isinstance(first.value.value, str) else body

"""Writing the hook's bundle: the modules' code without what no hook needs.

Annotations of functions (a tuple for each), what only a type checker sees, docstrings and line numbers make up a third
of the code. The import of `__future__` alone takes 0.3 ms: nothing else is searched for in the library's folder. And
where all modules are loaded in their order, `from engine.memory import Memory` need not be an import, which looks for a
`__path__` first and takes ten times as long: it becomes `Memory = loaded["engine.memory"].Memory`.
"""

from __future__ import annotations

import ast
import os
import sys
from marshal import dumps
from types import CodeType

from engine import bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from engine.bundle import Entry


NOT_OF_THE_HOOK = (__name__, bundle.__name__, "engine.console", "engine.launch")
"""Modules of the package that a start needs before it has the bundle, or without it."""


def start(file: str) -> None:
    """Answer the prompt on stdin, once its modules are in a bundle for the next one."""
    from engine import hook

    write(file)
    hook.main()


def write(file: str) -> None:
    """Write every module of this package that is loaded now. OSError is swallowed: modules load without it, too."""
    temporary = f"{file}.{os.getpid()}"
    try:
        with open(temporary, "wb") as stream:
            stream.write(dumps(_content()))
        os.replace(temporary, file)
    except OSError:
        pass


def compiled(source: bytes, file: str) -> CodeType:
    """The code of a module without docstrings, annotations, lines and imports for the type checker.

    The fields of a class keep their names in its annotations: `Record` reads them, which from Python 3.14 on are there
    only where a module imports `annotations` from `__future__`, or is compiled as if it did.
    """
    module = _Bare().visit(ast.parse(source))
    module.body = [linked for statement in module.body for linked in _linked(statement)]
    flags = annotations.compiler_flag
    return _without_lines(compile(module, file, "exec", flags, dont_inherit=True, optimize=2))


def _linked(statement: ast.stmt) -> list[ast.stmt]:
    """*statement* of a module; an import from this package becomes assignments from the modules that are loaded."""
    if not (isinstance(statement, ast.ImportFrom) and f"{statement.module}.".startswith(f"{__package__}.")):
        return [statement]
    lines = [f"{one.asname or one.name} = {bundle.LOADED}[{statement.module!r}].{one.name}" for one in statement.names]
    return ast.parse("\n".join(lines)).body


class _Bare(ast.NodeTransformer):
    """Takes out of a module what only a type checker or a reader needs."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "__future__" else node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        is_typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node.orelse if is_typing else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.copy_location(ast.Constant(""), node.annotation)
        return node


def _without_lines(code: CodeType) -> CodeType:
    inner = (_without_lines(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_qualname=code.co_name, co_linetable=b"", co_consts=tuple(inner))


def _content() -> tuple[CodeType, list[Entry]]:
    """The code that a start runs, and the entries of the modules that it loads with it."""
    # A module moves to the end of `sys.modules` when it is complete, so each comes after those that it imports.
    loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] == "engine"]
    entries = [_entry(module) for module in loaded if module.__name__ not in NOT_OF_THE_HOOK]
    source = str(bundle.__file__)
    with open(source, "rb") as stream:
        return compiled(stream.read() + b"start(__file__[:-len('launch.py')], entries)\n", source), entries


def _entry(module: ModuleType) -> Entry:
    source = str(module.__file__)
    changed, size = bundle.stamp(source)
    with open(source, "rb") as stream:
        code = compiled(stream.read(), source)
    return (module.__name__, os.path.relpath(source, os.path.dirname(__file__)), changed, size, code)

"""The code a parity job's number comes from, as a digest that is noted in its file.

It covers the modules of the job's backbone, head, detector and protocol, training, metrics and seeds, and what these
import from one another. Comments, docstrings and lists of registered names do not count, so only a change of what is
computed makes a stored job void.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from lgl_bench.runs.parity_jobs import HEADS, OWN_CODE, Job

_PACKAGES = tuple(f"lgl_bench.{name}" for name in ("backbones", "heads", "training", "protocols", "detectors"))
_ALWAYS = ("core.seeds", "metrics.classification", "metrics.ranking", "training.model", "training.trainer")
_BINARY_FEATURES = ("cora", "citeseer")


def code_digest(job: Job) -> str:
    """Digest of the code that makes the number of a job."""
    digest = hashlib.sha256()
    for name in sorted(_reached(_roots(job))):
        digest.update(name.encode() + b"\0" + normalised(_source(name)).encode())
    return digest.hexdigest()[:16]


def unchanged_since_noting(job: Job) -> bool:
    """Whether a job stored before digests were noted gives the same number today.

    Two changes since then reach stored jobs. ODIN's step is in units of the features' scale, which is 1 for binary
    features alone. Graph-MLP's batches hold all training vertices where these are at most half of a batch: so in the
    transductive check and the Planetoid split, not in the 60-20-20 split, where they are three quarters of the
    training graph.
    """
    if job.switch or job.transductive:
        return False
    if job.backbone == "graph-mlp" and job.split != "60-20-20":
        return False
    return job.head != "softmax" or job.stream in _BINARY_FEATURES


def normalised(source: str) -> str:
    """Source without comments, docstrings, layout and registries.

    >>> normalised('x = 1  # one') == normalised('x=1; "The number."')
    True
    >>> normalised('x = 1') == normalised('x = 2')
    False
    """
    return ast.unparse(_Bare().visit(ast.parse(source)))


class _Bare(ast.NodeTransformer):
    """Drops strings that stand alone, `pass`, and `name: ... = Registry(...)`."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:  # noqa: N802  the name ast asks for
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else node

    def visit_Pass(self, node: ast.Pass) -> None:  # noqa: N802
        return None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:  # noqa: N802
        call = node.value.func if isinstance(node.value, ast.Call) else None
        return None if isinstance(call, ast.Name) and call.id == "Registry" else node


def _roots(job: Job) -> list[str]:
    from lgl_bench.backbones import backbones
    from lgl_bench.detectors import detectors
    from lgl_bench.heads import heads

    protocol = "transductive" if job.transductive else "temporal" if job.split == "temporal" else "leave_class_out"
    plugins = [backbones.get(job.backbone), heads.get(job.head)]
    names = () if job.transductive else (HEADS[job.head], "good")
    # The published ODIN is no change of ours: its code is in `parity_published`.
    plugins += [detectors.get(name) for name in names if (name, job.switch) != ("odin", "odin-step")]
    roots = [f"lgl_bench.{name}" for name in (*_ALWAYS, f"protocols.{protocol}")]
    roots += [plugin.__module__ for plugin in plugins]
    return [*roots, "lgl_bench.runs.parity_published"] if job.switch in OWN_CODE else roots


def _reached(roots: list[str]) -> set[str]:
    """The modules and what they import from the packages that matter, and so on."""
    found, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [other for other in _imports(name) if other.startswith(_PACKAGES)]
    return found


@cache
def _imports(name: str) -> tuple[str, ...]:
    tree = ast.parse(_source(name))
    return tuple(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)


@cache
def _source(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:  # a plugin run from a file is found in no path
        return ""
    return Path(spec.origin).read_text(encoding="utf-8")

"""What is printed runs: docstrings, the page of the package, the book's chapter; types and stubs hold."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

import carom
from carom import _carom

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(carom.__file__).resolve().parent
MODULES = [name for _, name, _ in pkgutil.iter_modules([str(PACKAGE)]) if name != "_carom"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a user is who has the package and not the repository."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"carom.{name}" if name else "carom")
    failed, attempted = doctest.testmod(module)
    assert failed == 0
    private = name.startswith("_") and name != ""
    assert attempted > 0 or private or name in ("answers", "documents", "errors", "mujoco_models", "plots")


CHAPTERS = sorted(page for page in (ROOT / "book/src").rglob("*.md") if "```python\n" in page.read_text())
PAGES = ["crates/carom-py/README.md", *(str(page.relative_to(ROOT)) for page in CHAPTERS)]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run in their order, in one session; with prompts, what they print is compared."""
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    names: dict[str, Any] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    count = 0
    for found in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        line = text[: found.start(1)].count("\n")
        block = found.group(1)
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, page, page, line)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile("\n" * line + block, page, "exec"), names)
        count += 1
    assert runner.summarize(verbose=False).failed == 0
    assert count >= 1 and "book/src/python.md" in PAGES


@pytest.mark.parametrize("name", [name for name in carom.__all__ if inspect.isclass(getattr(carom, name))])
def test_every_class_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(carom, name).__doc__ or "")


def test_everything_public_has_a_docstring() -> None:
    for name in carom.__all__:
        found = getattr(carom, name)
        if inspect.isclass(found) or callable(found):
            assert (found.__doc__ or "").strip(), name
            if inspect.isclass(found):
                for member, function in vars(found).items():
                    if not member.startswith("_") and inspect.isfunction(function):
                        assert (function.__doc__ or "").strip(), f"{name}.{member}"
    assert len(carom.__all__) == len(set(carom.__all__))


def test_types() -> None:
    """The package is strictly typed, and so is what a user's checker sees."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(ROOT / "pyproject.toml"),
            "--cache-dir",
            os.devnull,
            "--no-error-summary",
            "-p",
            "carom",
        ],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent if "site-packages" not in str(PACKAGE) else ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_by_pyright(tmp_path: Path) -> None:
    """The same by another checker, and that answers have types to the last field."""
    (tmp_path / "carom").symlink_to(PACKAGE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
    user = """
from typing import Optional

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import carom

found = carom.run("scene.toml")
assert_type(found.audit.energy_error_max, float)
assert_type(found.stopped == "until", bool)
assert_type(found.final.ball.velocity, NDArray[np.float64])
if found.observables.g_r is not None:
    assert_type(found.observables.g_r.contact, Optional[float])
solution = carom.solve("scene.toml")
assert_type(solution.contacts[0].impulse, float)
assert_type(solution.joints["pin"].linear, NDArray[np.float64])
assert_type([contact.name for contact in solution.contacts], list[str])
"""
    (tmp_path / "user.py").write_text(user)
    (tmp_path / "wrong.py").write_text("import carom\n\nprint(carom.run('scene.toml').audit.energy_eror_max)\n")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"include": ["carom", "user.py", "wrong.py"], **settings}))
    ask = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    faults = json.loads(done.stdout)["generalDiagnostics"]
    own = [fault for fault in faults if fault["severity"] == "error" and not fault["file"].endswith("wrong.py")]
    assert not own, own[:5]
    assert any("energy_eror_max" in fault["message"] for fault in faults)


def test_answers_are_typed_as_their_schemas_say() -> None:
    """The classes of documents are made from the text that the schemas are made from."""
    script = ROOT / "crates/carom-py/documents.py"
    made: dict[str, Any] = runpy.run_path(str(script))
    assert (PACKAGE / "documents.py").read_text() == made["main"](), f"python {script.relative_to(ROOT)}"


def test_the_stub_names_what_the_module_has() -> None:
    stub = (PACKAGE / "_carom.pyi").read_text()
    functions = re.findall(r"^def (\w+)", stub, re.MULTILINE)
    classes = re.findall(r"^class (\w+)", stub, re.MULTILINE)
    constants = re.findall(r"^(\w+): (?!.*=)", stub, re.MULTILINE)
    theirs = {name for name in dir(_carom) if not name.startswith("__")} | {"__version__"}
    assert set(functions) | set(classes) | set(constants) == theirs
    for name in functions:
        ours = re.search(rf"^def {name}\((.*?)\) ->", stub, re.MULTILINE | re.DOTALL)
        assert ours is not None
        stubbed = re.findall(
            r"(\w+):", re.sub(r"\[[^\[\]]*(\[[^\[\]]*(\[[^\[\]]*\][^\[\]]*)*\][^\[\]]*)*\]", "", ours.group(1))
        )
        assert stubbed == list(inspect.signature(getattr(_carom, name)).parameters), name


def test_names_that_checkers_know() -> None:
    """A checker refuses a law that there is not."""
    from carom import questions, runs

    assert list(get_args(questions.Law)) == _carom.LAWS
    path = "cases/papers/sp_corner.toml"
    ask: list[tuple[Any, Any, str]] = [
        (questions.Termination, lambda name: carom.solve(path, termination=name), "termination"),
        (runs.OnParadox, lambda name: carom.run(path, on_paradox=name), "on_paradox"),
        (runs.Loop, lambda name: carom.run(path, loop=name), "loop"),
        (questions.Kind, lambda name: carom.paradox(carom.Sphere(1), carom.Sphere(1), type=name), "type"),
    ]
    for names, question, option in ask:
        with pytest.raises(carom.OptionError, match=option) as caught:
            question("nothing")
        assert str(caught.value.expected).split(", ") == list(get_args(names))


def test_no_warnings_on_import() -> None:
    code = "import warnings; warnings.simplefilter('error'); import carom"
    subprocess.run([sys.executable, "-c", code], check=True)
    # The heavy libraries wait until they are asked for.
    code = "import carom, sys; assert not {'pandas', 'pyarrow', 'polars', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

"""What the tests share: the repository's cases, and the program to compare with."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths such as `cases/papers` are the repository's."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def binary() -> str:
    """The program, built from the same commit."""
    path = os.environ.get("CAROM")
    if path is None:
        pytest.skip("CAROM names no program to compare with")
    return path


@pytest.fixture(scope="session")
def program(binary: str) -> Callable[..., Any]:
    """Asks the program, with `--json`; what it prints, whatever its exit code."""

    def ask(*arguments: str, stdin: str = "") -> Any:
        done = subprocess.run(
            [binary, *arguments, "--json"], input=stdin, capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout)

    return ask

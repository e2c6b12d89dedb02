"""Writes `python/carom/documents.py`: the documents of the answers as classes, from `answers.txt`, which says what is in them.

    python crates/carom-py/documents.py

The tests run it and compare. The notation is explained at the head of `answers.txt`.
"""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

HERE = Path(__file__).resolve().parent
NOTATION = HERE.parent / "carom-answers/src/schema/answers.txt"
MADE = HERE / "python/carom/documents.py"

HEAD = '''"""What is in answers: a class for every table of the documents that `carom … --json` prints, with types and meanings.

Made by `crates/carom-py/documents.py` from the same text as the JSON Schemas of `carom schema --answer`. Fields that are marked with
"absent" are not in every document: `"name" in record` says whether they are there.
"""

from __future__ import annotations

from typing import Literal, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats
from .records import Answer, Named, Record, Records


'''

# The answers that the package gives, by the program's name for them.
ANSWERS = ["solve", "compare", "classify", "gap", "toi", "run", "replicas", "scatter", "generalized", "paper", "paradox"]
# What the package gives in tables instead.
IN_TABLES = {"run": frozenset({"events", "samples", "reactions"})}
# Parts of other answers.
UNUSED = ("sweep_summary",)

PLAIN = {
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "string": "str",
    "any": "object",
    "list": "list[object]",
    "numbers": "Floats",
    "vector": "Floats",
    "quaternion": "Floats",
    "vectors": "Floats",
    "matrix": "Floats",
    "integers": "NDArray[np.int64]",
    "strings": "list[str]",
    "names": "list[str]",
}
ARRAYS = {"Floats": "float64", "NDArray[np.int64]": "int64"}


@dataclass
class Line:
    """A line, and those that stand further in below it."""

    text: str
    below: list[Line] = field(default_factory=list)


def sections(text: str) -> Iterator[tuple[str, str, str, list[Line]]]:
    """Kind, name, meaning and lines of every section."""
    found: list[tuple[str, str, str, list[Line]]] = []
    stack: list[tuple[int, list[Line]]] = []
    for raw in text.splitlines():
        if not raw.strip() or raw.startswith("#"):
            continue
        depth = len(raw) - len(raw.lstrip())
        if depth == 0:
            kind, name, *about = raw.split(" ", 2)
            found.append((kind, name, about[0] if about else "", []))
            stack = [(0, found[-1][3])]
            continue
        while stack[-1][0] >= depth:
            stack.pop()
        line = Line(raw.strip())
        stack[-1][1].append(line)
        stack.append((depth, line.below))
    return iter(found)


def camel(name: str) -> str:
    return "".join(word.capitalize() for word in re.split(r"[_-]", name))


def one(name: str) -> str:
    """One of what a list is called by."""
    if name.endswith("ies"):
        return name[:-3] + "y"
    if name.endswith(("ches", "sses")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


class Writer:
    def __init__(self, text: str) -> None:
        self.sections = list(sections(text))
        self.parts = {name: lines for kind, name, _, lines in self.sections if kind == "part"}
        self.classes: list[str] = []

    def word(self, kind: str) -> str:
        """The type of a name of a type."""
        if kind.endswith("?"):
            return f"Optional[{self.word(kind[:-1])}]"
        if kind.startswith("@"):
            return camel(kind[1:])
        if kind.startswith("="):
            return "Literal[" + ", ".join(f'"{word}"' for word in kind[1:].split("|")) + "]"
        return PLAIN[kind]

    def table(self, name: str, about: str, lines: list[Line], base: str, without: frozenset[str] = frozenset()) -> None:
        """The class of a table, after those of the tables in it."""
        fields: list[tuple[str, str, str]] = []
        parts: dict[str, dict[str, str]] = {"_parts": {}, "_named": {}}
        arrays: dict[str, str] = {}
        every = [each for line in lines for each in (self.parts[line.text[1:]] if line.text.startswith("+") else [line])]
        for line in every:
            head, _, words = line.text.partition(" ")
            matched = re.fullmatch(r"(\w+)(~?)(\??)(\[.*\]|\{.*\})?", head)
            assert matched is not None, line.text
            own, absent, nullable, form = matched.groups()
            if own in without:
                continue
            kind, meaning = self.field(name, own, form, words, line.below, parts)
            if nullable:
                kind = f"Optional[{kind}]"
            plain = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
            if plain in ARRAYS:
                arrays[own] = ARRAYS[plain]
            fields.append((own, kind, ("Absent where it is not asked for or has no meaning. " if absent else "") + meaning))
        body = [f"class {name}({base}):", f'    """{about}"""', "", "    __slots__ = ()"]
        for what, kinds in parts.items():
            if kinds:
                body.append(f"    {what} = {{" + ", ".join(f'"{own}": {kind}' for own, kind in kinds.items()) + "}")
        if arrays:
            body.append("    _arrays = {" + ", ".join(f'"{own}": "{kind}"' for own, kind in arrays.items()) + "}")
        body.append("")
        for own, kind, meaning in fields:
            if keyword.iskeyword(own):
                body.append(f"    # `[\"{own}\"]`, {kind}: {meaning}")
            else:
                body += [f"    {own}: {kind}", f'    """{meaning}"""']
        self.classes.append("\n".join(body) + "\n")

    def field(self, owner: str, own: str, form: str, words: str, below: list[Line], parts: dict[str, dict[str, str]]) -> tuple[str, str]:
        """The type and the meaning of a field; the class of what is in it goes to `parts`."""
        classes = parts["_named" if form and form[0] == "{" else "_parts"]
        if form and form[1:-1]:
            kind = self.word(form[1:-1])
            if form[1] == "@":
                classes[own] = camel(form[1:-1].strip("@?"))
            return (f"Records[{kind}]" if form[0] == "[" else f"Named[{kind}]"), words
        if below:
            name = owner.removesuffix("Document") + camel(one(own) if form else own)
            self.table(name, words or own, below, "Record")
            classes[own] = name
            return {"[": f"Records[{name}]", "{": f"Named[{name}]"}.get(form[0], name) if form else name, words
        kind, _, meaning = words.partition(" ")
        if kind.startswith("@") and not self.parts[kind.strip("@?")][0].text.startswith("="):
            classes[own] = camel(kind.strip("@?"))
        return self.word(kind), meaning

    def written(self) -> str:
        for name, lines in self.parts.items():
            if lines[0].text.startswith("="):
                self.classes.append(f"{camel(name)} = {self.word(lines[0].text)}\n")
            elif name not in UNUSED:
                self.table(camel(name), f"The part `{name}` of documents.", lines, "Record")
        for kind, name, about, lines in self.sections:
            if kind == "answer" and name in ANSWERS:
                self.table(f"{camel(name)}Document", about, lines, "Answer", IN_TABLES.get(name, frozenset()))
        return HEAD + "\n\n".join(self.classes)


def main() -> str:
    return Writer(NOTATION.read_text(encoding="utf-8")).written()


if __name__ == "__main__":
    MADE.write_text(main(), encoding="utf-8", newline="\n")
    print(MADE, file=sys.stderr)

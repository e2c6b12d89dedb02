"""What can go wrong, by kind."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence


class Diagnostic(NamedTuple):
    """One mistake in a scene: where it stands, what stands there, what is wrong and what would be right.

    >>> import carom
    >>> try:
    ...     carom.solve({"carom": 1, "body": [{}]})
    ... except carom.SceneError as error:
    ...     print(error.diagnostics[0].field, "|", error.diagnostics[0].message)
    body[0].name | is missing
    """

    line: int
    column: int
    field: Optional[str]
    value: Optional[str]
    message: str
    expected: Optional[str]

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.words}"

    @property
    def words(self) -> str:
        """All of it but the place."""
        subject = f"{self.field}: {self.message}" if self.field else self.message
        return f"{subject}; expected {self.expected}" if self.expected else subject


class CaromError(Exception):
    """Anything that carom refuses or finds wrong.

    >>> issubclass(SceneError, CaromError), issubclass(AuditError, CaromError)
    (True, True)
    """


class SceneError(CaromError, ValueError):
    """A scene, a problem or an option without meaning.

    `file` names the text; `line`, `column`, `field`, `value`, `message` and `expected` are those of the first mistake;
    `diagnostics` lists all of them. Of a `Scene` or a dictionary only the field has a meaning, not the line.

    >>> import carom
    >>> try:
    ...     carom.solve(carom.Scene(body=[carom.Body("ball", carom.Sphere(1.0), mass=-1.0)]))
    ... except carom.SceneError as error:
    ...     print(error)
    body[0].mass: is negative; expected a number greater than 0
    """

    def __init__(self, file: str, diagnostics: Sequence[tuple[Any, ...]]) -> None:
        self.file = file
        self.diagnostics = [Diagnostic(*each) for each in diagnostics]
        first = self.diagnostics[0] if self.diagnostics else Diagnostic(1, 1, None, None, "refused", None)
        self.line, self.column = first.line, first.column
        self.field, self.value = first.field, first.value
        self.message, self.expected = first.message, first.expected
        # What was made in Python has no lines that a user has seen.
        made = file in ("<Scene>", "<dict>")
        lines = [each.words if made and each.field else f"{file}:{each}" for each in self.diagnostics[:20]]
        if len(self.diagnostics) > 20:
            lines.append(f"and {len(self.diagnostics) - 20} more")
        super().__init__("\n".join(lines) or f"{file}: refused")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.file, [tuple(each) for each in self.diagnostics])


class OptionError(CaromError, ValueError):
    """An option that has no meaning, or none for this scene: `field` names it.

    >>> import carom
    >>> try:
    ...     carom.run(carom.Scene(), until="soon")
    ... except carom.OptionError as error:
    ...     print(error)
    until 'soon' is a str; expected a number
    """

    def __init__(self, diagnostics: Sequence[tuple[Any, ...]]) -> None:
        self.diagnostics = [Diagnostic(*each) for each in diagnostics]
        first = self.diagnostics[0] if self.diagnostics else Diagnostic(1, 1, None, None, "refused", None)
        self.field, self.value = first.field, first.value
        self.message, self.expected = first.message, first.expected
        words = [word for word in (first.field, first.value, first.message) if word]
        expected = f"; expected {first.expected}" if first.expected else ""
        super().__init__(" ".join(words) + expected)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ([tuple(each) for each in self.diagnostics],)


class PhysicsError(CaromError):
    """With `strict=True`: the physics has no answer under the law. `answer` is what there is.

    >>> error = PhysicsError("the physics has no answer under this law", answer={"consistent": False})
    >>> error.answer
    {'consistent': False}
    """

    def __init__(self, message: str, answer: Any = None) -> None:
        super().__init__(message)
        self.answer = answer


class AuditError(CaromError):
    """With `strict=True`: the audit found a result wrong. `answer` is the result.

    >>> error = AuditError("the audit found a violation", answer={"stopped": "violation"})
    >>> error.answer
    {'stopped': 'violation'}
    """

    def __init__(self, message: str, answer: Any = None) -> None:
        super().__init__(message)
        self.answer = answer

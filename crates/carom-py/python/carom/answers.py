"""The answers to questions about a scene; `carom.documents` says what is in each."""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional, Union

from ._tables import shown
from .documents import (
    ClassifyDocument,
    CompareDocument,
    GapDocument,
    GeneralizedDocument,
    PaperDocument,
    ParadoxDocument,
    SolveDocument,
    ToiDocument,
)
from .records import Answer, Named, Record, Records, Sections

__all__ = [
    "Answer",
    "Classification",
    "Comparison",
    "FirstContacts",
    "Named",
    "PairGaps",
    "Paper",
    "Paradox",
    "Record",
    "Records",
    "Resolved",
    "Sections",
    "Solution",
]


class Solution(SolveDocument):
    """The answer of `solve`: `bodies`, `contacts`, `joints`, `energy`, `rank`, `velocity_unique`, `impulse_unique`, `consistent`,
    `admissible`, `notes`, `audit`.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 0.5], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> answer = carom.solve(scene)
    >>> answer
    <Solution: law newton_lcp, energy 0.5 → 0.5; ball [0, 0, 1]>
    >>> answer.contacts[0].impulse, answer.energy.loss
    (2.0, 0.0)
    """

    __slots__ = ()

    def _shown(self) -> dict[str, Any]:
        # The problem in rows says again what stands above it.
        return {key: value for key, value in self._document().items() if key != "outcome"}

    def _summary(self) -> str:
        found = self._document()
        velocities = "; ".join(f"{name} {shown(each['velocity'])}" for name, each in found["bodies"].items())
        return f"law {found['law']}, energy {shown(found['energy']['before'])} → {shown(found['energy']['after'])}; {velocities}"


class Comparison(CompareDocument):
    """The answer of `compare`: every law's result on the same scene, under `laws`.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 0.5], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> answer = carom.compare(scene)
    >>> answer.laws.poisson.energy_change
    0.0
    """

    __slots__ = ()

    def _summary(self) -> str:
        laws = self._document()["laws"]
        return "energy change " + ", ".join(f"{law} {shown(each['energy_change'])}" for law, each in laws.items())


class Classification(ClassifyDocument):
    """The answer of `classify`: `contacts` with their kinematics and types. `svg` is the picture, where it was asked for.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 0.5], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> carom.classify(scene)
    <Classification: floor and ball: normal>
    """

    __slots__ = ("svg",)

    def __init__(self, document: Union[Sections, dict[str, Any]], svg: Optional[str] = None) -> None:
        super().__init__(document)
        self.svg = svg

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(), self.svg)

    def _repr_svg_(self) -> Optional[str]:
        return self.svg

    def _summary(self) -> str:
        contacts = self._document()["contacts"]
        return "; ".join(f"{' and '.join(each['bodies'])}: {each['type']}" for each in contacts) or "no contact"


class PairGaps(GapDocument):
    """The answer of `gap`: `pairs` with `gap`, `normal` and `points`.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> carom.gap(scene)
    <PairGaps: 1 pairs, least gap 0.5 of floor and ball>
    """

    __slots__ = ()

    def _summary(self) -> str:
        pairs = self._document()["pairs"]
        least = min(pairs, key=lambda pair: pair["gap"], default=None)
        if least is None:
            return "no pair"
        return f"{len(pairs)} pairs, least gap {shown(least['gap'])} of {' and '.join(least['bodies'])}"


class FirstContacts(ToiDocument):
    """The answer of `toi`: `pairs` with `time`, `time_error`, `normal`, `point`, `approach` and `type`; `searched_until` and
    `undecided`; of a graze also `minimum` (`time`, `gap`) and `first_zero`.

    >>> import carom
    >>> ball = carom.Body("ball", carom.Sphere(0.5), mass=1.0, position=[0, 0, 1], velocity=[0, 0, -1])
    >>> scene = carom.Scene(body=[ball], plane=[carom.Plane("floor", normal=[0, 0, 1])])
    >>> carom.toi(scene)
    <FirstContacts: floor and ball meet at t = 0.5 (to 1.9e-15)>
    """

    __slots__ = ()

    def _summary(self) -> str:
        pairs = [pair for pair in self._document()["pairs"] if pair["time"] is not None]
        first = min(pairs, key=lambda pair: pair["time"], default=None)
        undecided = sum(pair["undecided"] for pair in self._document()["pairs"])
        if first is None:
            return f"{undecided} pairs undecided, no other meets" if undecided else "no pair meets"
        return f"{' and '.join(first['bodies'])} meet at t = {first['time']!r} (to {first['time_error']:.1e})"


class Resolved(GeneralizedDocument):
    """The answer of `generalized`: `velocity`, `impulses`, `approach`, `separation`, `energy`, `rank`, …

    >>> import carom
    >>> carom.generalized(mass=[[2.0]], contacts=[[1.0]], velocity=[-1.0], restitution=0.5)
    <Resolved: law newton_lcp, velocity [0.5], energy change -0.75>
    """

    __slots__ = ()

    def _summary(self) -> str:
        found = self._document()
        return (
            f"law {found['law']}, velocity {shown(found['velocity'])}, energy change {shown(found['energy']['change'])}"
        )


class Paper(PaperDocument):
    """The answer of `paper`: every printed value beside the computed one, in `rows`.

    >>> import carom
    >>> carom.paper("treschev-zubelevich").paper
    'treschev-zubelevich'
    """

    __slots__ = ()

    def _summary(self) -> str:
        found = self._document()
        if "papers" in found:
            return ", ".join(each["name"] for each in found["papers"])
        verdicts = Counter(row["verdict"] for row in found["rows"])
        return f"{found['paper']}, " + ", ".join(f"{count} × {verdict}" for verdict, count in verdicts.items())


class Paradox(ParadoxDocument):
    """The answer of `paradox`: how the bodies touch, and as `toml` a scene with them; nothing where no paradox was found.

    >>> import carom
    >>> found = carom.paradox(carom.Ellipsoid([3, 1, 1]), carom.Ellipsoid([1.5, 0.7, 1]), type="2b", planar=True)
    >>> found
    <Paradox: paradox_2b, found>
    """

    __slots__ = ("toml",)

    def __init__(self, document: Union[Sections, dict[str, Any]], toml: Optional[str] = None) -> None:
        super().__init__(document)
        self.toml = toml

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document(), self.toml)

    def _summary(self) -> str:
        found = self._document()
        return ", ".join(str(found[name]) for name in ("type", "outcome", "reason") if name in found)

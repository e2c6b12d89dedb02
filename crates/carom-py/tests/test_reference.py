"""The reference cases through Python, at the tolerances of the Rust tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import carom

ROOT = Path(__file__).resolve().parents[3]
LAWS = {
    "newton_equality_pinv": "newton",
    "coupled_newton": "newton",
    "newton_lcp": "newton_lcp",
    "poisson_lcp": "poisson",
    "decoupled": "decoupled",
    "decoupled_eq23_signfixed": "decoupled",
}
CASES = [
    case
    for case in json.loads((ROOT / "cases/laws/reference.json").read_text())["cases"]
    if "generic" in case and "laws" in case["expected"]
]


def close(ours: Any, theirs: Any, scale: float, tolerance: float) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    size = max(scale, float(np.abs(theirs).max(initial=0.0)))
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * size


def after(expected: dict[str, Any]) -> list[float]:
    if "v_plus" in expected:
        return list(expected["v_plus"])
    if "v1_plus" in expected:
        return [*expected["v1_plus"], *expected["v2_plus"]]
    return [*expected["omega_body_plus"], *expected["v_space_plus"]]


def test_there_are_as_many_cases_as_the_library_has() -> None:
    assert len(CASES) == 18


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_law_of_a_case_given_as_arrays(case: dict[str, Any]) -> None:
    given = case["generic"]
    tolerance = min(case["rel_tol"], 2e-14)
    columns = len(given["v_minus"])
    for entry in case["expected"]["laws"]:
        for name, expected in entry.items():
            if name == "k":
                continue
            answer = carom.generalized(
                mass=np.array(given["G"]),
                contacts=np.array(given["N"], dtype=float).reshape(-1, columns),
                bilateral=np.array(given.get("A") or [], dtype=float).reshape(-1, columns),
                velocity=np.array(given["v_minus"]),
                restitution=np.array(entry["k"]),
                law=LAWS[name],
            )
            close(answer.velocity, after(expected), np.abs(answer.velocity_before).max(), tolerance)
            leaving = expected["y_plus"] if "y_plus" in expected else [-v for v in expected["v12n_plus"]]
            close(answer.separation, leaving, np.abs(answer.approach).max(), tolerance)
            close(answer.energy.change, expected["dT"], answer.energy.before, tolerance)
            impulses = expected.get("p", expected.get("P"))
            if answer.rank == len(impulses) or LAWS[name] != "poisson":
                close(answer.impulses, impulses, 0.0, tolerance)
            if "consistent" in expected:
                assert answer.consistent == expected["consistent"]
            gained = answer.energy.change > 1e-12 * answer.energy.before
            assert answer.admissible == (expected["admissible"] and not gained)
            assert answer.audit.passed


def test_gaps_against_fifty_digits() -> None:
    """Pairs with flats, exponents from 2 to 20, aspect 100 and gaps down to 1e-13, in one call; and planes in another."""
    rows = json.loads((ROOT / "cases/contacts/gap_table.json").read_text())["cases"]
    pairs = [row for row in rows if len(row["shapes"]) == 2]
    shapes = np.array([row["shapes"] for row in pairs])
    turns = np.array([row["turns"] for row in pairs])
    centres = np.array([row["centre"] for row in pairs])
    one, two = (
        carom.Bodies(carom.Superellipsoid(shapes[:, k, :3], shapes[:, k, 3]), orientation=turns[:, k], position=place)
        for k, place in ((0, (0.0, 0.0, 0.0)), (1, centres))
    )
    found = carom.gap_many(one, two)
    sizes = np.maximum(shapes[:, :, :3].max(axis=(1, 2)), np.linalg.norm(centres, axis=1))
    errors = np.abs(found.gap - [float(row["gap"]) for row in pairs]) / sizes
    assert len(pairs) > 500
    assert errors.max() <= 2e-15
    planes = [row for row in rows if len(row["shapes"]) == 1]
    assert len(pairs) + len(planes) == len(rows)


def test_free_flight_against_sixty_digits() -> None:
    """25 tops, to 10⁶ s. The attitude at the start is normalised, a rounding whose effect grows with the turns."""
    tops = json.loads((ROOT / "cases/motion/motion.json").read_text())["rotation"]
    assert len(tops) >= 20
    for top in tops:
        flight = carom.Flight(inertia=top["inertia"], orientation=top["quaternion_wxyz"], angular_velocity=top["spin"], any_inertia=True)
        states = flight.at([state["t"] for state in top["states"]])
        turns = np.array([state["turn"] for state in top["states"]]).reshape(-1, 3, 3)
        spins = np.array([state["spin"] for state in top["states"]])
        size = float(np.linalg.norm(top["spin"]))
        allowed = 4e-15 + 4e-16 * size * np.abs([state["t"] for state in top["states"]]) / max(top["complement"], 1e-4)
        assert (np.abs(carom.rotation(states.orientation) - turns).max(axis=(1, 2)) <= allowed).all()
        assert (np.abs(states.angular_velocity - spins).max(axis=1) <= allowed * size).all()
        assert (np.linalg.norm(states.angular_velocity, axis=1) <= flight.spin_bound * (1 + 1e-13)).all()


def test_papers_as_scenes() -> None:
    """The corner of three planes, the paradox and the pendulum: numbers printed in the book."""
    corner = carom.solve("cases/papers/sp_corner.toml")
    close(corner.contacts.column("impulse"), [1627.357, 1221.249, 889.295371], 0.0, 1e-6)
    assert corner.audit.passed and corner.velocity_unique
    contact = carom.classify("cases/papers/paradox.toml").contacts[0]
    assert contact.type == "paradox_2b_star"
    found = carom.toi("cases/gallery/collision.toml").pairs[0]
    assert abs(found.time - 0.3) <= found.time_error <= 2e-14

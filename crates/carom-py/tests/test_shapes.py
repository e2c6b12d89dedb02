"""Shapes alone: identities between support, surface and curvature, and closed forms of mass properties."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import carom

SHAPES = [
    carom.Sphere(1.3),
    carom.Ellipsoid([1.0, 2.0, 3.0]),
    carom.Superellipsoid([1.0, 2.0, 3.0], 2.0),
    carom.Superellipsoid([1.0, 0.7, 2.0], 4.0),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_support_and_surface(shape: carom.Shape) -> None:
    rng = np.random.default_rng(1)
    n = rng.normal(size=(50, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    points = shape.support(n)
    assert points.shape == (50, 3)
    assert np.abs(np.sum(points * n, axis=1) - shape.support_height(n)).max() <= 4e-15
    assert np.abs(shape.gauge(points) - 1).max() <= 4e-15
    assert np.abs(shape.normal(points) - n).max() <= 1e-13
    assert np.abs(shape.implicit(points)).max() <= 2e-14
    # On the tangent plane curvature and the Hessian of the support function are inverse.
    identity = np.eye(3) - n[:, :, None] * n[:, None, :]
    assert np.abs(shape.curvature(points) @ shape.support_hessian(n) - identity).max() <= 1e-11
    assert np.abs(shape.surface(7.0 * points) - points).max() <= 4e-15 * shape.circumradius
    assert shape.support([0.0, 0.0, 2.0]).shape == (3,)
    assert shape.support(n.reshape(5, 10, 3)).shape == (5, 10, 3)


def test_mass_properties() -> None:
    egg = carom.Ellipsoid([1.0, 2.0, 3.0])
    assert math.isclose(egg.volume, 8.0 * math.pi, rel_tol=4e-16)
    assert np.abs(egg.unit_inertia - np.array([13.0, 10.0, 5.0]) / 5.0).max() <= 1e-15
    assert (egg.circumradius, egg.inradius) == (3.0, 1.0)
    pillow = carom.Superellipsoid([1.0, 1.0, 1.0], 4.0)
    volume = 8.0 * math.gamma(1.25) ** 3 / math.gamma(1.75)
    assert math.isclose(pillow.volume, volume, rel_tol=2e-15)


def test_what_has_no_meaning() -> None:
    with pytest.raises(ValueError, match="no direction"):
        carom.Sphere(1.0).support([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="expected"):
        carom.Sphere(1.0).support([1.0, 0.0])
    with pytest.raises(ValueError, match="radius"):
        carom.Sphere(-1.0).volume
    with pytest.raises(ValueError, match="finite"):
        carom.Ellipsoid([1.0, 1.0, 2.0]).support([np.inf, 0.0, 0.0])


AXES = np.array([1.0, 2.0, 3.0])
SKIN = 0.25


def skinned(n: np.ndarray) -> np.ndarray:
    a = AXES**2
    return SKIN * n / np.linalg.norm(n) + a * n / np.sqrt(n @ (a * n))


def skinned_hessian(n: np.ndarray) -> np.ndarray:
    a, size = AXES**2, np.linalg.norm(n)
    h = np.sqrt(n @ (a * n))
    skin = SKIN * (np.eye(3) / size - np.outer(n, n) / size**3)
    return skin + np.diag(a) / h - np.outer(a * n, a * n) / h**3


EGG = carom.Convex(skinned, skinned_hessian, circumradius=3.0 + SKIN, inradius=1.0 + SKIN)


def test_a_shape_of_ones_own_is_the_ellipsoid_within_its_skin() -> None:
    """The gap of a body with a skin is that of the body less the skin: the normal is the same, and the point moves along it."""
    rng = np.random.default_rng(2)
    count = 20
    away = rng.normal(size=(count, 3))
    away *= 8.0 / np.linalg.norm(away, axis=1, keepdims=True)
    turns, spins = rng.normal(size=(2, count, 4)), rng.uniform(-1, 1, (2, count, 3))
    inertia = carom.Ellipsoid(AXES).unit_inertia

    def sides(shape: carom.Shape) -> list[carom.Bodies]:
        first = carom.Bodies(shape, orientation=turns[0], angular_velocity=spins[0], inertia=inertia)
        other = carom.Superellipsoid([1.0, 0.8, 1.2], 4.0)
        second = carom.Bodies(other, position=away, orientation=turns[1], velocity=-away, angular_velocity=spins[1])
        return [first, second]

    plain, skin = carom.gap_many(*sides(carom.Ellipsoid(AXES))), carom.gap_many(*sides(EGG))
    assert np.abs(skin.gap - (plain.gap - SKIN)).max() <= 1e-14
    assert np.abs(skin.normal - plain.normal).max() <= 1e-12
    assert np.abs(skin.on_first - (plain.on_first + SKIN * plain.normal)).max() <= 1e-12
    assert np.abs(skin.on_second - plain.on_second).max() <= 1e-12
    # A first contact of the skinned body: there the gap of the plain one is the skin.
    found = carom.toi_many(*sides(EGG), until=2.0)
    assert found.met.all() and (found.type == "normal").all()
    for i in range(count):
        one, two = (
            carom.Flight(shape, orientation=turns[k, i], angular_velocity=spins[k, i], inertia=moments, **more)
            for k, shape, moments, more in (
                (0, carom.Ellipsoid(AXES), inertia, {}),
                (1, carom.Superellipsoid([1.0, 0.8, 1.2], 4.0), None, {"position": away[i], "velocity": -away[i]}),
            )
        )
        first, second = one.at(found.time[i]), two.at(found.time[i])
        there = carom.gap_many(
            carom.Bodies(carom.Ellipsoid(AXES), position=first.position, orientation=first.orientation),
            carom.Bodies(
                carom.Superellipsoid([1.0, 0.8, 1.2], 4.0), position=second.position, orientation=second.orientation
            ),
        )
        assert abs(there.gap[0] - SKIN) <= 4e-14
    floor = carom.Plane("floor", normal=[0, 0, 1], offset=-10.0)
    on_floor = carom.gap_many(floor, carom.Bodies(EGG, orientation=turns[0])).gap
    assert (
        np.abs(
            on_floor - (carom.gap_many(floor, carom.Bodies(carom.Ellipsoid(AXES), orientation=turns[0])).gap - SKIN)
        ).max()
        <= 1e-14
    )


def test_mass_properties_of_a_shape_of_ones_own() -> None:
    """Without a skin, the ellipsoid's closed form."""

    def support(n: np.ndarray) -> np.ndarray:
        return AXES**2 * n / np.sqrt(n @ (AXES**2 * n))

    def hessian(n: np.ndarray) -> np.ndarray:
        h = np.sqrt(n @ (AXES**2 * n))
        return np.diag(AXES**2) / h - np.outer(AXES**2 * n, AXES**2 * n) / h**3

    found = carom.Convex(support, hessian, circumradius=3.0, inradius=1.0).mass_properties(1e-6)
    plain = carom.Ellipsoid(AXES)
    assert abs(found.volume / plain.volume - 1) <= 1e-13
    assert np.abs(found.unit_inertia - np.diag(plain.unit_inertia)).max() <= 1e-12
    assert np.abs(found.centre).max() <= 1e-13


def test_exceptions_of_a_shape_of_ones_own() -> None:
    def wrong(n: np.ndarray) -> np.ndarray:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        carom.gap_many(
            carom.Bodies(carom.Convex(wrong, skinned_hessian, circumradius=1.0, inradius=1.0)), carom.Bodies(EGG)
        )
    with pytest.raises(ValueError, match="three finite numbers"):
        flat = carom.Convex(lambda n: n[:2], skinned_hessian, circumradius=1.0, inradius=1.0)
        carom.gap_many(carom.Bodies(flat), carom.Bodies(EGG, position=[9.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="inradius"):
        carom.gap_many(
            carom.Bodies(carom.Convex(skinned, skinned_hessian, circumradius=1.0, inradius=2.0)), carom.Bodies(EGG)
        )
    with pytest.raises(TypeError, match="no Convex"):
        carom.solve(carom.Scene(body=[carom.Body("egg", EGG, mass=1.0)]))
    with pytest.raises(ValueError, match="give `inertia`"):
        carom.toi_many(carom.Bodies(EGG), carom.Bodies(EGG, position=[9.0, 0.0, 0.0]), until=1.0)


CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def turned(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors turned by a quaternion, scalar first."""
    w, axis = q[0], q[1:]
    return x + 2 * np.cross(axis, np.cross(axis, x) + w * x)


def test_a_polyhedron_is_the_hull_of_its_points() -> None:
    rounded = carom.Polyhedron(np.vstack([CORNER, [[0.1, 0.2, 0.3]]]), rounding=0.25)
    # Steiner: V + A r + ½ Σ L θ r² + 4π r³/3.
    area = 1.5 + math.sqrt(3) / 2
    bend = 3 * math.pi / 2 + 3 * math.sqrt(2) * (math.pi - math.acos(1 / math.sqrt(3)))
    volume = 1 / 6 + area * 0.25 + 0.5 * bend * 0.25**2 + 4 / 3 * math.pi * 0.25**3
    assert abs(rounded.volume / volume - 1) <= 1e-15
    corner = carom.Polyhedron(CORNER)
    assert np.abs(corner.centre - 0.25).max() <= 1e-16 and abs(corner.volume - 1 / 6) <= 1e-16
    back = turned(corner.turn, corner.corners) + corner.centre
    assert all(np.abs(CORNER - x).max(axis=1).min() <= 1e-15 for x in back)
    assert sorted(len(face) for face in corner.faces) == [3, 3, 3, 3]
    # About the centre of mass ⟨x²⟩ = 3/80 and ⟨xy⟩ = −1/80: I = 3/40 on the diagonal and 1/80 off it.
    assert np.abs(np.sort(corner.unit_inertia) - [0.0625, 0.0625, 0.1]).max() <= 1e-15
    pair = carom.gap_many(carom.Bodies(corner), carom.Bodies(corner, position=[3.0, 0.0, 0.0]))
    assert 0 < pair.gap[0] < 3


def test_a_polyhedron_in_a_scene(tmp_path: Path) -> None:
    file = tmp_path / "cube.obj"
    file.write_text("".join(f"v {x} {y} {z}\n" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)))
    cube = carom.Polyhedron.read(file, scale=0.5)
    assert abs(cube.volume - 1) <= 1e-15
    scene = carom.Scene(
        body=[carom.Body("die", cube, density=2.0, position=[0.0, 0.0, 3.0])],
        plane=[carom.Plane("floor", [0.0, 0.0, 1.0])],
    )
    assert abs(carom.gap(scene).pairs[0].gap - 2.5) <= 1e-15


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (CORNER[:3], "at least four"),
        (CORNER[[0, 1, 2, 2]], "in a plane"),
        (np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "in a plane"),
        (CORNER[:, :2], "expected"),
        (CORNER * np.nan, ""),
    ],
)
def test_points_without_a_hull(points: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        carom.Polyhedron(points)

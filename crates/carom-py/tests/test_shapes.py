"""Shapes alone: identities between support, surface and curvature, and closed forms of mass properties."""

from __future__ import annotations

import math

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

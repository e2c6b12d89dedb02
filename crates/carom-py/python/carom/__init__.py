"""carom: the reference engine for rigid-body impact."""

from __future__ import annotations

from ._carom import __version__
from .bodies import Bodies
from .errors import AuditError, CaromError, Diagnostic, OptionError, PhysicsError, SceneError
from .flight import Flight, States, rotation
from .many import Contacts, Gaps, Strikes, gap_many, strike_many, toi_many
from .scene import (
    Ball,
    Body,
    Contact,
    Ellipsoid,
    Fill,
    Force,
    Hinge,
    Impact,
    Joint,
    KnifeEdge,
    Load,
    Plane,
    Point,
    Rolling,
    Rows,
    Run,
    Scene,
    Slider,
    Sphere,
    Spring,
    Superellipsoid,
    Surface,
    SurfacePair,
    Torque,
    Weld,
    World,
)
from .shapes import Shape

__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"] + ["__version__"]

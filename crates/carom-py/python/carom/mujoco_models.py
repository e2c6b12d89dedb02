"""Models of MuJoCo as scenes, and MuJoCo's runs of them beside the exact ones: `carom.from_mujoco`, `carom.judge`.

The package `mujoco` is needed: `pip install 'carom[mujoco]'`. A body of MuJoCo becomes a body of the scene with its mass and principal
moments; its one colliding geom, a sphere, ellipsoid, box, capsule or cylinder about its centre of mass, becomes its shape. Planes of the
world become planes, joints become joints. What cannot be taken over is named.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from ._arrays import Floats
from .errors import SceneError
from .judging import Judgement, Motion, judge_engine
from .questions import SceneWarning
from .scene import (
    Ball,
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Hinge,
    Joint,
    Plane,
    Point,
    Run,
    Scene,
    Slider,
    Sphere,
    Surface,
    SurfacePair,
    Weld,
    World,
)

# How far, relative to its size, a geom may be off its body's centre of mass, and moments off a geom's axes.
_OFF = 1e-9


def _package() -> Any:
    try:
        import mujoco
    except ImportError:
        raise ImportError("models of MuJoCo need its package: pip install 'carom[mujoco]'") from None
    return mujoco


def _quaternion(matrix: Floats) -> Floats:
    """The quaternion of a rotation matrix."""
    found = np.empty(4)
    _package().mju_mat2Quat(found, np.ascontiguousarray(matrix, dtype=np.float64).reshape(9))
    return found


class _Reader:
    """A model at a state, read into a scene."""

    def __init__(self, model: Any, data: Any) -> None:
        self.mj = mj = _package()
        self.model = model
        self.data = mj.MjData(model)
        if data is not None:
            self.data.qpos[:], self.data.qvel[:] = data.qpos, data.qvel
        mj.mj_forward(model, self.data)
        self.faults: list[str] = []
        self.taken: set[str] = set()
        self.names = self._distinct(mj.mjtObj.mjOBJ_BODY, model.nbody, "body")
        self.joint_names = self._distinct(mj.mjtObj.mjOBJ_JOINT, model.njnt, "joint")
        self.geom_names = self._distinct(mj.mjtObj.mjOBJ_GEOM, model.ngeom, "geom")
        contacts_off = model.opt.disableflags & mj.mjtDisableBit.mjDSBL_CONTACT
        self.colliding = [
            not contacts_off and bool(model.geom_contype[k] | model.geom_conaffinity[k]) for k in range(model.ngeom)
        ]
        self.sides: dict[int, str] = {}
        """The name of the body or plane that a colliding geom has become."""

    def _distinct(self, kind: Any, count: int, word: str) -> list[str]:
        """The names of MuJoCo's objects in a scene, where all kinds share one name space: those without a name get a number, and those
        whose name is another's the word for what they are."""
        found: list[str] = []
        for k in range(count):
            name = self.mj.mj_id2name(self.model, kind, k) or f"{word}{k}"
            while name in self.taken:
                name = f"{word} {name}"
            self.taken.add(name)
            found.append(name)
        return found

    def frames(self) -> Iterator[tuple[int, Any, Floats]]:
        """The bodies that become bodies, each with its shape and the rotation of its axes."""
        for number in range(1, self.model.nbody):
            geoms = [k for k in range(self.model.ngeom) if self.model.geom_bodyid[k] == number and self.colliding[k]]
            turn = self.data.ximat[number].reshape(3, 3)
            name = self.names[number]
            if not geoms:
                yield number, Point(), turn
                continue
            if len(geoms) > 1:
                self.faults.append(f"body {name}: {len(geoms)} colliding geoms; a body here has one shape")
            geom = geoms[0]
            shape = self.shape(geom)
            if shape is None:
                yield number, Point(), turn
                continue
            self.sides[geom] = name
            size = float(np.max(self.model.geom_size[geom]))
            off = float(np.linalg.norm(self.data.geom_xpos[geom] - self.data.xipos[number]))
            if off > _OFF * size:
                self.faults.append(
                    f"geom {self.geom_names[geom]}: {off:.3g} m off the centre of mass of body {name}; shapes here are centred there"
                )
            if not isinstance(shape, Sphere):
                # The shape's axes are the body's, and the moments must be principal there.
                axes = self.data.geom_xmat[geom].reshape(3, 3)
                moments = self.moments(number, axes)
                if float(np.abs(moments - np.diag(np.diag(moments))).max()) > _OFF * float(np.abs(moments).max()):
                    self.faults.append(f"body {name}: its principal axes of inertia are not those of its {type(shape).__name__.lower()}")
                turn = axes
            yield number, shape, turn

    def moments(self, number: int, axes: Floats) -> Floats:
        """The inertia tensor of a body about its centre of mass, in these axes."""
        own = self.data.ximat[number].reshape(3, 3)
        found: Floats = axes.T @ own @ np.diag(self.model.body_inertia[number]) @ own.T @ axes
        return found

    def shape(self, geom: int) -> Any:
        """The shape of a geom; nothing where it is none of those here."""
        kind, size = self.model.geom_type[geom], self.model.geom_size[geom]
        kinds = self.mj.mjtGeom
        if kind == kinds.mjGEOM_SPHERE:
            return Sphere(float(size[0]))
        if kind == kinds.mjGEOM_ELLIPSOID:
            return Ellipsoid([float(x) for x in size])
        if kind == kinds.mjGEOM_BOX:
            return Box([float(x) for x in size])
        if kind == kinds.mjGEOM_CAPSULE:
            return Capsule(float(size[0]), float(size[1]))
        if kind == kinds.mjGEOM_CYLINDER:
            return Cylinder(float(size[0]), float(size[1]))
        word = kinds(kind).name.removeprefix("mjGEOM_").lower()
        self.faults.append(f"geom {self.geom_names[geom]}: a {word}; the shapes taken over are spheres, ellipsoids, boxes, capsules, cylinders and planes")
        return None

    def planes(self) -> Iterator[Plane]:
        for geom in range(self.model.ngeom):
            if not self.colliding[geom] or self.model.geom_bodyid[geom] != 0:
                continue
            name = self.geom_names[geom]
            if self.model.geom_type[geom] == self.mj.mjtGeom.mjGEOM_PLANE:
                normal = self.data.geom_xmat[geom].reshape(3, 3)[:, 2]
                self.sides[geom] = name
                yield Plane(name, normal=normal.tolist(), offset=float(normal @ self.data.geom_xpos[geom]))

    def fixtures(self) -> Iterator[Body]:
        """The world's own geoms other than planes."""
        for geom in range(self.model.ngeom):
            of_world = self.model.geom_bodyid[geom] == 0 and self.colliding[geom]
            if not of_world or self.model.geom_type[geom] == self.mj.mjtGeom.mjGEOM_PLANE:
                continue
            shape = self.shape(geom)
            if shape is not None:
                self.sides[geom] = self.geom_names[geom]
                turn = _quaternion(self.data.geom_xmat[geom])
                place = self.data.geom_xpos[geom].tolist()
                yield Body(self.geom_names[geom], shape, position=place, orientation=turn.tolist(), fixed=True)

    def motion(self, number: int, turn: Floats) -> Motion:
        """The state of a body: of its centre of mass, in the world frame."""
        velocity = np.empty(6)
        self.mj.mj_objectVelocity(self.model, self.data, self.mj.mjtObj.mjOBJ_BODY, number, velocity, 0)
        return Motion(self.data.xipos[number].copy(), _quaternion(turn), velocity[3:].copy(), velocity[:3].copy())

    def bodies(self) -> Iterator[Body]:
        for number, shape, turn in self.frames():
            state, name = self.motion(number, turn), self.names[number]
            place, orientation = state.position.tolist(), state.orientation.tolist()
            if self.model.body_weldid[number] == 0:
                yield Body(name, shape, position=place, orientation=orientation, fixed=True)
                continue
            yield Body(
                name,
                shape,
                mass=float(self.model.body_mass[number]),
                inertia=np.diag(self.moments(number, turn)).tolist(),
                position=place,
                orientation=orientation,
                velocity=state.velocity.tolist(),
                angular_velocity=state.angular_velocity.tolist(),
            )

    def joints(self) -> Iterator[Joint]:
        model, kinds = self.model, self.mj.mjtJoint
        for number in range(1, model.nbody):
            if model.body_weldid[number] == 0:
                continue
            name, parent = self.names[number], int(model.body_parentid[number])
            first, count = int(model.body_jntadr[number]), int(model.body_jntnum[number])
            moving = model.body_weldid[parent] != 0
            sides = [self.names[parent], name] if moving else [name]
            if count == 0:
                yield Joint(f"weld of {name}", sides, Weld())
                continue
            if count > 1:
                self.faults.append(f"body {name}: {count} joints; a body here has one to its parent")
            kind, axis, anchor = model.jnt_type[first], self.data.xaxis[first].tolist(), self.data.xanchor[first].tolist()
            own = self.joint_names[first]
            if kind == kinds.mjJNT_HINGE:
                yield Joint(own, sides, Hinge(point=anchor, axis=axis))
            elif kind == kinds.mjJNT_BALL:
                yield Joint(own, sides, Ball(point=anchor))
            elif kind == kinds.mjJNT_SLIDE:
                yield Joint(own, sides, Slider(axis=axis))

    def rules(self, restitution: float) -> Surface:
        """The surfaces of all pairs: MuJoCo takes the greater friction of the two, and none where both have a `condim` of 1."""
        pairs: list[SurfacePair] = []
        model = self.model
        for one, first in self.sides.items():
            for two, second in self.sides.items():
                if one >= two or not self.meet(one, two):
                    continue
                dimension = max(int(model.geom_condim[one]), int(model.geom_condim[two]))
                friction = max(float(model.geom_friction[one, 0]), float(model.geom_friction[two, 0]))
                if dimension > 3:
                    self.faults.append(f"geoms {first} and {second}: condim {dimension}; torsional and rolling friction are unknown here")
                if dimension > 1 and friction > 0.0:
                    pairs.append(SurfacePair([first, second], kind={"coulomb": friction}))
        return Surface(restitution=restitution, pair=pairs or None)

    def meet(self, one: int, two: int) -> bool:
        """Whether two geoms can touch here; where MuJoCo would let them pass through one another, that is a fault."""
        model = self.model
        bodies = [int(model.geom_bodyid[k]) for k in (one, two)]
        still = [int(model.body_weldid[k]) == 0 for k in bodies]
        if all(still) or bodies[0] == bodies[1]:
            return False
        if any(int(model.body_parentid[a]) == b and b != 0 for a, b in (bodies, bodies[::-1])):
            return False
        types, affinities = model.geom_contype, model.geom_conaffinity
        if not (types[one] & affinities[two] or types[two] & affinities[one]):
            self.faults.append(f"geoms {self.sides[one]} and {self.sides[two]}: do not collide in MuJoCo, and do here")
        return True

    def others(self) -> None:
        """What the model has besides bodies, joints and geoms."""
        model = self.model
        for what, count in [
            ("equality constraints", model.neq),
            ("tendons", model.ntendon),
            ("actuators", model.nu),
            ("flexes", getattr(model, "nflex", 0)),
            ("contact exclusions", model.nexclude),
            ("contact pairs of their own", model.npair),
        ]:
            if count:
                self.faults.append(f"{count} {what}: not taken over")
        for what, values in [
            ("joint damping", model.dof_damping),
            ("joint stiffness", model.jnt_stiffness),
            ("armature", model.dof_armature),
            ("friction in joints", model.dof_frictionloss),
            ("joint limits", model.jnt_limited),
            ("gravity compensation", model.body_gravcomp),
            ("the medium's density and viscosity", np.array([model.opt.density, model.opt.viscosity])),
        ]:
            if np.any(np.asarray(values) != 0):
                self.faults.append(f"{what}: not taken over")


def from_mujoco(model: Any, data: Any = None, *, restitution: float, until: Optional[float] = None, strict: bool = True) -> Scene:
    """A model of MuJoCo as a scene, at the state of `data`, or at the model's own.

    MuJoCo has no coefficient of restitution: its contacts are springs and dampers. `restitution` says which impact they stand for. What
    cannot be taken over is named, all at once, in a `SceneError`; with `strict=False` it is left out, and a `SceneWarning` names it.
    """
    reader = _Reader(model, data)
    planes = list(reader.planes())
    bodies = [*reader.fixtures(), *reader.bodies()]
    joints = list(reader.joints())
    surface = reader.rules(restitution)
    reader.others()
    if reader.faults and strict:
        raise SceneError("<MuJoCo>", [(1, 1, "model", None, fault, None) for fault in reader.faults])
    for fault in reader.faults:
        warnings.warn(fault, SceneWarning, stacklevel=2)
    gravity = model.opt.gravity.tolist()
    if model.opt.disableflags & reader.mj.mjtDisableBit.mjDSBL_GRAVITY:
        gravity = [0.0, 0.0, 0.0]
    title = str(model.names[: model.names.index(b"\0")].decode()) or None
    return Scene(
        title=title,
        world=World(gravity=gravity),
        body=list(bodies),
        plane=list(planes),
        joint=list(joints),
        surface=surface,
        run=Run(until=until, sample=0.0),
    )


Setting = Mapping[str, Any]


def _changed(model: Any, step: float, setting: Setting) -> Any:
    """The same model at this step, with these options: those of `model.opt` by name, and `solref` and `solimp` of all geoms."""
    changed = copy.copy(model)
    changed.opt.timestep = step
    for name, value in setting.items():
        if name in ("solref", "solimp"):
            value = value(step) if callable(value) else value
            getattr(changed, f"geom_{name}")[:] = value
        elif hasattr(changed.opt, name):
            setattr(changed.opt, name, value)
        else:
            raise ValueError(f"settings: MuJoCo has no option {name}; there are those of `model.opt`, `solref` and `solimp`")
    return changed


def judge(
    model: Any,
    data: Any = None,
    *,
    until: float,
    steps: Sequence[float],
    restitution: float,
    settings: Optional[Mapping[str, Setting]] = None,
) -> Judgement:
    """Runs a model by MuJoCo at a ladder of steps, and exactly, and says how far MuJoCo is off: in the time of the first impact, and at
    `until` in positions, velocities and energy.

    `settings` are several sets of options under names of yours, such as `{"stiff": {"solref": [-1e6, 0.0]}, "default": {}}`: the names are
    those of `model.opt`, and `solref` and `solimp` for all geoms, each a value, or a function of the step.
    """
    scene = from_mujoco(model, data, restitution=restitution, until=until)
    mj = _package()
    readers = _Reader(model, data)
    frames = [(number, turn) for number, _, turn in readers.frames() if model.body_weldid[number] != 0]
    # The axes of each body here, in the axes of MuJoCo's inertial frame there.
    twists = {number: readers.data.ximat[number].reshape(3, 3).T @ turn for number, turn in frames}
    start = readers.data
    found: Optional[Judgement] = None

    for name, setting in (settings or {"": {}}).items():

        def begin(_: Mapping[str, Motion], step: float, setting: Setting = setting) -> Any:
            changed = _changed(model, step, setting)
            state = mj.MjData(changed)
            state.qpos[:], state.qvel[:] = start.qpos, start.qvel
            mj.mj_forward(changed, state)
            return changed, state

        def advance(engine: Any) -> Mapping[str, Motion]:
            changed, state = engine
            mj.mj_step(changed, state)
            # The step leaves positions at its end and what follows from them at its beginning.
            mj.mj_kinematics(changed, state)
            mj.mj_comPos(changed, state)
            mj.mj_comVel(changed, state)
            reader = _View(readers, changed, state)
            return {readers.names[number]: reader.motion(number, twists[number]) for number, _ in frames}

        part = judge_engine(scene, begin, advance, until=until, steps=steps, setting=name)
        found = part if found is None else found.joined(part)
    assert found is not None
    return found


class _View:
    """States of a run of MuJoCo's."""

    def __init__(self, reader: _Reader, model: Any, data: Any) -> None:
        self.mj, self.model, self.data = reader.mj, model, data

    def motion(self, number: int, twist: Floats) -> Motion:
        velocity = np.empty(6)
        self.mj.mj_objectVelocity(self.model, self.data, self.mj.mjtObj.mjOBJ_BODY, number, velocity, 0)
        turn = self.data.ximat[number].reshape(3, 3) @ twist
        return Motion(self.data.xipos[number].copy(), _quaternion(turn), velocity[3:].copy(), velocity[:3].copy())


__all__ = ["from_mujoco", "judge"]

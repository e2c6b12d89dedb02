"""Models of MuJoCo as scenes, and MuJoCo judged. The models are those of MuJoCo's documentation, with the shapes that are here."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

import carom

# "Hello, world" of MuJoCo's documentation, its box a ball.
HELLO = """
<mujoco model="hello">
  <worldbody>
    <light diffuse=".5 .5 .5" pos="0 0 3" dir="0 0 -1"/>
    <geom name="ground" type="plane" size="1 1 0.1" rgba=".9 0 0 1"/>
    <body name="ball" pos="0 0 1">
      <joint type="free"/>
      <geom type="{shape}" size=".1 .2 .3" rgba="0 .9 0 1" {more}/>
    </body>
  </worldbody>
</mujoco>
"""

# The chaotic pendulum of its tutorial: capsules that do not collide.
PENDULUM = """
<mujoco model="pendulum">
  <option><flag contact="disable"/></option>
  <default><joint type="hinge" axis="0 -1 0"/><geom type="capsule" size=".02"/></default>
  <worldbody>
    <body name="root" pos="0 0 .2">
      <joint name="pivot"/>
      <geom fromto="-.2 0 0 .2 0 0"/>
      <geom fromto="-.2 0 0 -.2 0 -.15"/>
      <body name="left" pos="-.2 0 -.15"><joint/><geom fromto="0 0 0 0 0 -.15"/></body>
      <body name="right" pos=".2 0 0"><joint/><geom fromto="0 0 0 0 0 -.1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def model(text: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(text)


def test_a_free_body() -> None:
    """A tumbling ellipsoid that is not homogeneous: its shape, mass, moments and state, in the frame of carom."""
    text = HELLO.format(shape="ellipsoid", more='friction="0.4" pos="0.1 0.2 0.3" euler="20 30 40"')
    mj = model(text)
    data = mujoco.MjData(mj)
    data.qpos[:] = [0.1, 0.2, 1.5, 0.8, 0.2, 0.4, 0.4]
    data.qvel[:] = [1.0, -2.0, 0.5, 3.0, 1.0, -2.0]
    scene = carom.from_mujoco(mj, data, restitution=0.5, until=0.2).to_dict()
    assert scene["world"]["gravity"] == [0.0, 0.0, -9.81] and scene["surface"]["restitution"] == 0.5
    assert scene["surface"]["pair"] == [{"bodies": ["ground", "ball"], "kind": {"coulomb": 1.0}}]
    body = scene["body"][0]
    assert body["shape"] == {"ellipsoid": {"semi_axes": [0.1, 0.2, 0.3]}}
    assert body["mass"] == pytest.approx(1000 * 4 / 3 * math.pi * 0.006, rel=1e-14)
    squares = np.array([0.01, 0.04, 0.09])
    moments = body["mass"] / 5 * (squares.sum() - squares)
    assert np.allclose(body["inertia"], moments, rtol=1e-12, atol=0)
    mujoco.mj_forward(mj, data)
    turn = carom.rotation(body["orientation"])
    assert np.abs(turn - data.geom_xmat[1].reshape(3, 3)).max() < 1e-14
    assert np.abs(np.array(body["position"]) - data.geom_xpos[1]).max() < 1e-14
    # MuJoCo's free joint: velocity of the frame in the world, angular velocity in the body's.
    spin = data.xmat[1].reshape(3, 3) @ data.qvel[3:]
    velocity = data.qvel[:3] + np.cross(spin, data.geom_xpos[1] - data.xpos[1])
    assert np.abs(np.array(body["angular_velocity"]) - spin).max() < 1e-13
    assert np.abs(np.array(body["velocity"]) - velocity).max() < 1e-13
    # The gap of the pair is MuJoCo's distance of the two geoms.
    ours = carom.gap(scene).pairs[0].gap
    theirs = mujoco.mj_geomDistance(mj, data, 0, 1, 10.0, np.zeros(6))
    assert abs(ours - theirs) < 1e-5


SMALL = '<geom type="sphere" size=".01" mass="0"/>'
CORNER = '<asset><mesh name="corner" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>'
SHAPES = [
    ("box", ".1 .2 .3", carom.Box([0.1, 0.2, 0.3])),
    ("capsule", ".1 .2", carom.Capsule(0.1, 0.2)),
    ("cylinder", ".1 .2", carom.Cylinder(0.1, 0.2)),
    ("ellipsoid", ".1 .2 .3", carom.Ellipsoid([0.1, 0.2, 0.3])),
    ("sphere", ".1", carom.Sphere(0.1)),
]


@pytest.mark.parametrize(("kind", "size", "shape"), SHAPES, ids=lambda value: value if isinstance(value, str) else "")
def test_shapes_are_those_of_mujoco(kind: str, size: str, shape: carom.Shape) -> None:
    """Tilted over the plane and beside a fixed ball: mass, moments and distances are MuJoCo's."""
    ball = '<geom name="ball" type="sphere" size=".3" pos=".9 .4 1"/>'
    text = HELLO.format(shape=kind, more='euler="25 -40 10"').replace('size=".1 .2 .3"', f'size="{size}"')
    mj = model(text.replace("<body name", f"{ball}<body name"))
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    scene = carom.from_mujoco(mj, data, restitution=1.0)
    body = scene.to_dict()["body"][1]
    assert type(scene.body[1].shape) is type(shape)  # type: ignore[union-attr]
    assert body["shape"] == carom.Scene(body=[carom.Body("b", shape)]).to_dict()["body"][0]["shape"]
    assert body["mass"] == pytest.approx(1000 * shape.volume, rel=1e-9)
    assert np.allclose(body["inertia"], body["mass"] * shape.unit_inertia, rtol=1e-9, atol=0)
    gaps = {tuple(pair.bodies): pair.gap for pair in carom.gap(scene).pairs}
    numbers = {mj.geom(k).name: k for k in range(mj.ngeom)}
    own = mj.ngeom - 1
    for other in ("ground", "ball"):
        theirs = mujoco.mj_geomDistance(mj, data, numbers[other], own, 10.0, np.zeros(6))
        ours = next(gap for pair, gap in gaps.items() if other in pair and mj.body(1).name in pair)
        # MuJoCo's distance of curved bodies is found by iterations.
        assert ours == pytest.approx(theirs, abs=1e-5), other


def test_linkages_move_alike() -> None:
    """The pendulum's energy and its motion for a while: MuJoCo's error falls as its step's fourth power, so the two are one system."""
    mj = model(PENDULUM)
    data = mujoco.MjData(mj)
    data.qvel[0] = 5.0
    scene = carom.from_mujoco(mj, data, restitution=1.0)
    assert [type(joint.kind).__name__ for joint in scene.joint if isinstance(joint, carom.Joint)] == ["Hinge"] * 3
    runge_kutta = {"rk4": {"integrator": mujoco.mjtIntegrator.mjINT_RK4}}
    judged = carom.judge(mj, data, until=0.2, steps=[0.01, 0.005, 0.0025], restitution=1.0, settings=runge_kutta)
    order = np.log2(judged.position_error[:-1] / judged.position_error[1:])
    assert (order > 3.5).all(), judged.position_error
    assert judged.position_error[-1] < 1e-7 and abs(judged.energy_error[-1]) < 1e-7
    assert np.isnan(judged.time_error).all() and np.isnan(judged.impact)


def test_an_impact_judged() -> None:
    """A ball dropped on a plane with stiff, frictionless, undamped contact: the impact is at √(2h/g)."""
    text = HELLO.format(shape="sphere", more='condim="1"').replace('size="1 1 0.1"', 'size="1 1 0.1" condim="1"')
    mj = model(text)
    settings = {
        "default": {},
        "stiff": {"solref": lambda step: [-((0.1 / step) ** 2), 0.0], "solimp": [0.999, 0.999, 0.001, 0.5, 2.0]},
    }
    judged = carom.judge(mj, until=0.6, steps=[4e-3, 1e-3, 2.5e-4], restitution=1.0, settings=settings)
    assert judged.setting.tolist() == ["default"] * 3 + ["stiff"] * 3
    assert judged.impact == pytest.approx(math.sqrt(2 * 0.9 / 9.81), rel=1e-14)
    stiff = judged[judged.setting == "stiff"]
    # The impact is seen later than it is, by about half of the contact's time; both fall with the step.
    assert (np.diff(np.abs(stiff.time_error)) < 0).all() and (stiff.time_error > -4e-3).all()
    assert (np.diff(stiff.velocity_error) < 0).all(), stiff.velocity_error
    # The contact that MuJoCo has by default loses nearly all of the energy, and no step brings it back.
    default = judged[judged.setting == "default"]
    assert (default.energy_error < -0.5).all()
    wanted = float(stiff.velocity_error[1]) * 1.0000001
    assert judged.step_for(wanted, setting="stiff") == 1e-3
    assert judged.step_for(1e-9) is None
    figure = judged.plot()
    assert len(figure.axes) == 3 and len(figure.axes[0].lines) == 2


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('<body name="ball" pos="0 0 1">', f'<body name="ball" pos="0 0 1">{SMALL}', "2 colliding geoms"),
        ('<geom type="sphere" size=".1 .2 .3"', '<geom type="mesh" mesh="corner"', "a mesh"),
        ('type="sphere"', 'type="sphere" condim="6"', "condim 6"),
        ("</body>", '<geom type="sphere" size=".1" pos="0 0 1"/></body>', "2 colliding geoms"),
        ('<joint type="free"/>', '<joint type="hinge" axis="0 1 0" damping="1"/>', "joint damping"),
        ('<joint type="free"/>', '<joint type="hinge" axis="0 1 0" range="-1 1" limited="true"/>', "joint limits"),
        ('<joint type="free"/>', '<joint axis="1 0 0"/><joint axis="0 1 0"/>', "2 joints"),
        ("<worldbody>", '<option density="1.2"/><worldbody>', "density"),
        ('type="sphere"', 'type="sphere" contype="2" conaffinity="2"', "do not collide in MuJoCo"),
    ],
)
def test_what_cannot_be_taken_over_is_named(old: str, new: str, word: str) -> None:
    text = HELLO.format(shape="sphere", more="")
    assert old in text
    mj = model(text.replace(old, new, 1).replace("<worldbody>", CORNER + "<worldbody>"))
    with pytest.raises(carom.SceneError, match=word):
        carom.from_mujoco(mj, restitution=0.0)
    with pytest.warns(carom.SceneWarning, match=word):
        carom.from_mujoco(mj, restitution=0.0, strict=False)


def test_an_engine_that_is_off_by_a_known_error() -> None:
    """An engine of its own for free fall, of first order: its errors are known in closed form."""
    drop = carom.Scene(
        world=carom.World(gravity=[0, 0, -2.0]),
        body=[carom.Body("ball", carom.Sphere(0.5), mass=3.0, position=[0, 0, 100.0], velocity=[1.0, 0, 0])],
    )

    def begin(states: object, step: float) -> list[object]:
        return [step, states["ball"]]  # type: ignore[index]

    def advance(engine: list[object]) -> dict[str, carom.Motion]:
        step, (x, q, v, w) = engine  # type: ignore[misc]
        engine[1] = carom.Motion(x + step * v, q, v + step * np.array([0, 0, -2.0]), w)
        return {"ball": engine[1]}

    judged = carom.judge_engine(drop, begin, advance, until=4.0, steps=[0.5, 0.25])
    # x is off by g t h / 2, the energy by what that is in gravity.
    assert judged.position_error == pytest.approx(np.array([2.0, 1.0]), rel=1e-13)
    assert judged.velocity_error == pytest.approx(np.zeros(2), abs=1e-13)
    kinetic = 0.5 * 3.0 * (1.0 + 64.0)
    assert judged.energy_error == pytest.approx(np.array([2.0, 1.0]) * 3.0 * 2.0 / kinetic, rel=1e-12)
    # Lists are as good as arrays, and what is no state is named.
    lists = carom.judge_engine(drop, begin, lambda engine: {"ball": carom.Motion(*(part.tolist() for part in advance(engine)["ball"]))}, until=4.0, steps=[0.5])
    assert lists.position_error[0] == judged.position_error[0]
    with pytest.raises(ValueError, match="no state of ball"):
        carom.judge_engine(drop, begin, lambda engine: {}, until=1.0, steps=[0.5])
    with pytest.raises(ValueError, match=r"\(2,\).* for ball; expected a Motion"):
        carom.judge_engine(drop, begin, lambda engine: {"ball": carom.Motion([0, 0], [1, 0, 0, 0], [0, 0, 0], [0, 0, 0])}, until=1.0, steps=[0.5])
    with pytest.raises(ValueError, match="no step"):
        carom.judge_engine(drop, begin, advance, until=1.0, steps=[0.0])

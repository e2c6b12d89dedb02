"""Drake judged on one impact of a tumbling ellipsoid: `python comparison/judged/drake_judged.py`, with carom, drake and NumPy installed."""

import carom
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import AddContactMaterial, Ellipsoid, HalfSpace, ProximityProperties
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import RotationalInertia, SpatialInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

AXES, MASS = [0.1, 0.2, 0.3], 25.0
EGG = carom.Ellipsoid(AXES)
SCENE = carom.Scene(
    world=carom.World(gravity=[0, 0, -9.81]),
    body=[carom.Body("egg", EGG, mass=MASS, position=[0, 0, 0.6], angular_velocity=[1.0, 2.0, 0.5])],
    plane=[carom.Plane("ground", normal=[0, 0, 1])],
)


def begin(states, step):
    """A plant in steps of this length, with a stiff contact that loses nothing, from carom's states."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=step)
    surface = ProximityProperties()
    AddContactMaterial(
        dissipation=0.0, point_stiffness=1e6, friction=CoulombFriction(0.0, 0.0), properties=surface
    )
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", surface)
    moments = RotationalInertia(*(MASS * EGG.unit_inertia))
    body = plant.AddRigidBody("egg", SpatialInertia.MakeFromCentralInertia(MASS, [0, 0, 0], moments))
    plant.RegisterCollisionGeometry(body, RigidTransform(), Ellipsoid(*AXES), "egg", surface)
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    x, q, v, w = states["egg"]
    plant.SetFreeBodyPose(context, body, RigidTransform(Quaternion(q), x))
    plant.SetFreeBodySpatialVelocity(context, body, SpatialVelocity(w, v))
    simulator.Initialize()
    return simulator, plant, body, step


def advance(engine):
    """One step."""
    simulator, plant, body, step = engine
    simulator.AdvanceTo(simulator.get_context().get_time() + step)
    context = plant.GetMyContextFromRoot(simulator.get_context())
    pose, twist = plant.EvalBodyPoseInWorld(context, body), plant.EvalBodySpatialVelocityInWorld(context, body)
    turn = pose.rotation().ToQuaternion().wxyz()
    return {"egg": carom.Motion(pose.translation(), turn, twist.translational(), twist.rotational())}


if __name__ == "__main__":
    judged = carom.judge_engine(SCENE, begin, advance, until=0.4, steps=[1e-3, 2.5e-4, 6.25e-5], setting="Drake")
    print(judged.table())

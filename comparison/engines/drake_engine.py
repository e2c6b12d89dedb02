"""Drake: compliant point contact in continuous time, integrated with error control.

Drake has no coefficient of restitution. A contact presses with a force in proportion to its depth, and loses energy by Hunt and
Crossley's dissipation; with none it gives everything back. The ladder is that of the integrator's accuracy. The stiffness is ours
to choose: soft, a body turns while it touches; stiff, it takes more steps. All of a ladder are run.
"""

import time
from importlib.metadata import version

import numpy as np
from pydrake.geometry import AddContactMaterial, Ellipsoid, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import RotationalInertia, SpatialInertia
from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig
from pydrake.systems.framework import DiagramBuilder
from pydrake.common.eigen_geometry import Quaternion

from protocol import is_ball, is_rough, restitutions, serve, state, turn_z_to

SETTINGS = (
    "continuous time with error control, Runge and Kutta of third order, without contacts of fifth; point contact, no dissipation, no "
    "friction, the best of stiffnesses of 1e4 to 1e18"
)
STIFFNESSES = [1e4, 1e6, 1e8, 1e10, 1e12, 1e14, 1e16, 1e18]


def material(stiffness):
    properties = ProximityProperties()
    AddContactMaterial(
        dissipation=0.0, point_stiffness=stiffness, friction=CoulombFriction(0.0, 0.0), properties=properties
    )
    return properties


def scheme(request):
    """The integrator and its finest accuracy. The fifth order gives up in stiff contacts, and is the better one where there are none."""
    return ("runge_kutta3", 1e-10) if request["contacts"] else ("runge_kutta5", 1e-14)


def accuracy(request, step):
    """The integrator's accuracy for a step of the ladder: a hundred for every ten."""
    return float(f"{scheme(request)[1] * (step / request['steps'][-1]) ** 2:.0e}")


def simulate_with(request, step, stiffness):
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(request["gravity"])
    for plane in request["planes"]:
        turn = RotationMatrix(Quaternion(turn_z_to(plane["normal"])))
        pose = RigidTransform(turn, plane["offset"] * np.array(plane["normal"]))
        plant.RegisterCollisionGeometry(plant.world_body(), pose, HalfSpace(), plane["name"], material(stiffness))
    bodies = []
    for given in request["bodies"]:
        inertia = SpatialInertia.MakeFromCentralInertia(given["mass"], [0, 0, 0], RotationalInertia(*given["inertia"]))
        body = plant.AddRigidBody(given["name"], inertia)
        axes = given["semi_axes"]
        shape = Sphere(axes[0]) if is_ball(given) else Ellipsoid(*axes)
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, given["name"], material(stiffness))
        bodies.append((given, body))
    plant.Finalize()
    diagram = builder.Build()
    simulator = Simulator(diagram)
    ApplySimulatorConfig(
        SimulatorConfig(
            integration_scheme=scheme(request)[0], accuracy=accuracy(request, step), max_step_size=0.1, use_error_control=True
        ),
        simulator,
    )
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for given, body in bodies:
        plant.SetFreeBodyPose(context, body, RigidTransform(Quaternion(given["orientation"]), given["position"]))
        twist = SpatialVelocity(np.array(given["angular_velocity"], float), np.array(given["velocity"], float))
        plant.SetFreeBodySpatialVelocity(context, body, twist)
    simulator.Initialize()
    start = time.perf_counter()
    simulator.AdvanceTo(request["until"])
    wall = time.perf_counter() - start
    final = {}
    for given, body in bodies:
        pose = plant.EvalBodyPoseInWorld(context, body)
        twist = plant.EvalBodySpatialVelocityInWorld(context, body)
        turn = pose.rotation().ToQuaternion().wxyz()
        final[given["name"]] = state(pose.translation(), turn, twist.translational(), twist.rotational())
    choice = f"stiffness {stiffness:.0e}" if request["contacts"] else ""
    return {"accuracy": accuracy(request, step), "choice": choice, "final": final, "wall_s": wall}


def simulate(request, step):
    # Without contacts there is no stiffness to choose.
    stiffnesses = STIFFNESSES if request["contacts"] else STIFFNESSES[:1]
    return [simulate_with(request, step, stiffness) for stiffness in stiffnesses]


def cannot(request):
    if is_rough(request):
        return "a contact presses along the normal; along the surface there is friction, which does not give back"
    if restitutions(request) - {1}:
        return "no coefficient of restitution: what Hunt and Crossley's dissipation gives back depends on the speed"
    return None


if __name__ == "__main__":
    serve("Drake", version("drake"), SETTINGS, simulate, cannot)

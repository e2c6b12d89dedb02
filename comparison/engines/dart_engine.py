"""DART: time steps with a linear complementarity problem for all contacts, and Newton's restitution.

Each surface has a coefficient of restitution, and a contact takes the product of its two: bodies have one, planes the contact's.
Positions follow velocities by the semi-implicit rule of Euler, and contacts are found where bodies overlap.
"""

import time

import dartpy as dart
import numpy as np

from protocol import is_ball, is_rough, serve, state, steps_to

SETTINGS = "semi-implicit Euler, Dantzig's solver, FCL's primitive shapes, no friction, restitution native"


def shape(body):
    if is_ball(body):
        return dart.dynamics.SphereShape(body["semi_axes"][0])
    return dart.dynamics.EllipsoidShape([2 * axis for axis in body["semi_axes"]])


def surface(node, restitution):
    node.createCollisionAspect()
    node.createDynamicsAspect()
    node.getDynamicsAspect().setRestitutionCoeff(restitution)
    node.getDynamicsAspect().setFrictionCoeff(0.0)


def world_of(request, step):
    world = dart.simulation.World()
    world.setTimeStep(step)
    world.setGravity(request["gravity"])
    detector = dart.collision.FCLCollisionDetector()
    detector.setPrimitiveShapeType(dart.collision.FCLCollisionDetector.PRIMITIVE)
    world.getConstraintSolver().setCollisionDetector(detector)
    of_plane = {contact["bodies"][0]: contact["restitution"] for contact in request["contacts"]}
    for plane in request["planes"]:
        skeleton = dart.dynamics.Skeleton(plane["name"])
        _, node = skeleton.createWeldJointAndBodyNodePair()
        surface(node.createShapeNode(dart.dynamics.PlaneShape(plane["normal"], plane["offset"])), of_plane[plane["name"]])
        world.addSkeleton(skeleton)
    bodies = []
    for given in request["bodies"]:
        skeleton = dart.dynamics.Skeleton(given["name"])
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        node.setMass(given["mass"])
        node.setMomentOfInertia(*given["inertia"])
        surface(node.createShapeNode(shape(given)), 1.0)
        pose = dart.math.Isometry3()
        pose.set_rotation(dart.math.Quaternion(*given["orientation"]).to_rotation_matrix())
        pose.set_translation(np.array(given["position"], dtype=float))
        joint.setTransform(pose)
        joint.setLinearVelocity(np.array(given["velocity"], dtype=float))
        joint.setAngularVelocity(np.array(given["angular_velocity"], dtype=float))
        world.addSkeleton(skeleton)
        bodies.append((given["name"], node))
    return world, bodies


def simulate(request, step):
    world, bodies = world_of(request, step)
    count = steps_to(request["until"], step)
    start = time.perf_counter()
    for _ in range(count):
        world.step()
    wall = time.perf_counter() - start
    final = {}
    for name, node in bodies:
        pose = node.getWorldTransform()
        turn = dart.math.Quaternion(pose.rotation())
        orientation = [turn.w(), turn.x(), turn.y(), turn.z()]
        final[name] = state(pose.translation(), orientation, node.getLinearVelocity(), node.getAngularVelocity())
    return [{"step": step, "choice": "", "final": final, "wall_s": wall}]


def cannot(request):
    if is_rough(request):
        return "restitution acts along the normal alone; along the surface there is friction, which does not give back"
    return None


if __name__ == "__main__":
    serve("DART", dart.__version__, SETTINGS, simulate, cannot)

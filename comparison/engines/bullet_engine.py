"""Bullet, by PyBullet: sequential impulses with restitution.

Each surface has a coefficient of restitution, and a contact takes the product of its two. PyBullet has no ellipsoid: it is given as
the hull of points on one, spread evenly. Bullet rounds the points of a hull to some ten-thousandth of its size, so that no hull
touches three planes at one instant to better than that.
"""

import math
import time
from importlib.metadata import version

import pybullet as bullet

from protocol import is_ball, is_rough, serve, state, steps_to, to_body

POINTS = 4000
SETTINGS = (
    "multibodies, 1000 iterations, residual threshold 0, restitution threshold 0, ERP and slop 0, margin 0, no damping, no friction, "
    f"restitution native, ellipsoids as hulls of {POINTS} points, the best of contact breaking thresholds of 0.02 (its default), 1e-4 and 1e-7"
)
# How far apart bodies may be and still keep a contact.
THRESHOLDS = [0.02, 1e-4, 1e-7]


def hull(body, planes):
    """Points on an ellipsoid, along a spiral over the unit sphere, and those next to the planes at the start.

    Without these a hull in a corner would touch the planes one after the other.
    """
    semi_axes, points = body["semi_axes"], []
    for plane in planes:
        inner = to_body(body["orientation"], plane["normal"])
        height = math.sqrt(sum((axis * part) ** 2 for axis, part in zip(semi_axes, inner)))
        points.append([-axis * axis * part / height for axis, part in zip(semi_axes, inner)])
    for i in range(POINTS):
        z = 1 - (2 * i + 1) / POINTS
        angle = i * math.pi * (3 - math.sqrt(5))
        across = math.sqrt(1 - z * z)
        unit = (across * math.cos(angle), across * math.sin(angle), z)
        points.append([axis * part for axis, part in zip(semi_axes, unit)])
    return points


def world_of(request, step, threshold):
    bullet.resetSimulation()
    bullet.setGravity(*request["gravity"])
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=step, numSolverIterations=1000, numSubSteps=0, solverResidualThreshold=0, restitutionVelocityThreshold=0,
        erp=0, contactERP=0, frictionERP=0, contactSlop=0, contactBreakingThreshold=threshold, globalCFM=0, enableFileCaching=0, deterministicOverlappingPairs=1,
    )
    of_plane = {contact["bodies"][0]: contact["restitution"] for contact in request["contacts"]}
    for plane in request["planes"]:
        shape = bullet.createCollisionShape(bullet.GEOM_PLANE, planeNormal=plane["normal"])
        place = [plane["offset"] * part for part in plane["normal"]]
        body = bullet.createMultiBody(0, shape, basePosition=place)
        bullet.changeDynamics(body, -1, restitution=of_plane[plane["name"]], lateralFriction=0)
    bodies = []
    for given in request["bodies"]:
        if is_ball(given):
            shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=given["semi_axes"][0])
        else:
            shape = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=hull(given, request["planes"]))
        w, x, y, z = given["orientation"]
        body = bullet.createMultiBody(given["mass"], shape, basePosition=given["position"], baseOrientation=[x, y, z, w])
        bullet.changeDynamics(
            body, -1, localInertiaDiagonal=given["inertia"], restitution=1, lateralFriction=0, linearDamping=0,
            angularDamping=0, maxJointVelocity=1e6, activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
        )
        if not is_ball(given):
            bullet.changeDynamics(body, -1, collisionMargin=0)
        bullet.resetBaseVelocity(body, given["velocity"], given["angular_velocity"])
        bodies.append((given["name"], body))
    return bodies


def simulate(request, step):
    # Without contacts there is no threshold to choose.
    thresholds = THRESHOLDS if request["contacts"] else THRESHOLDS[:1]
    return [simulate_with(request, step, threshold) for threshold in thresholds]


def simulate_with(request, step, threshold):
    bodies = world_of(request, step, threshold)
    count = steps_to(request["until"], step)
    start = time.perf_counter()
    for _ in range(count):
        bullet.stepSimulation()
    wall = time.perf_counter() - start
    final = {}
    for name, body in bodies:
        position, (x, y, z, w) = bullet.getBasePositionAndOrientation(body)
        final[name] = state(position, [w, x, y, z], *bullet.getBaseVelocity(body))
    choice = f"threshold {threshold}" if request["contacts"] else ""
    return {"step": step, "choice": choice, "final": final, "wall_s": wall}


def cannot(request):
    if is_rough(request):
        return "restitution acts along the normal alone; along the surface there is friction, which does not give back"
    return None


if __name__ == "__main__":
    bullet.connect(bullet.DIRECT)
    serve("PyBullet", version("pybullet"), SETTINGS, simulate, cannot)

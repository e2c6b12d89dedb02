"""MuJoCo: soft contacts with a reference acceleration, integrated by Runge and Kutta's fourth order.

MuJoCo has no coefficient of restitution. Its native way is a negative `solref`, which makes a contact row with penetration d obey
d'' = -b d' - k d whatever the masses. The row lets go when its force returns to zero, after the time T, and then

    z = b / (2 sqrt k),    e = exp(-2 z acos(z) / sqrt(1 - z^2)),    T = 2 acos(z) / (sqrt k sqrt(1 - z^2)),

so that b and k follow from the restitution e and from a T that is the same for all contacts. That time, in steps, is ours to
choose: long, it is integrated well but the body turns meanwhile; short, the other way round. All of a ladder are run.
"""

import math
import time

import mujoco

from protocol import is_ball, is_rough, restitutions, serve, state, steps_to, to_body, to_world, turn_z_to

SETTINGS = (
    "RK4, Newton solver, 100 iterations to a tolerance of 1e-14, elliptic cones, condim 1, solimp 0.9999, "
    "negative solref from the restitution and the time of contact, the best of contacts of 4 to 1024 steps"
)
DURATIONS = [4, 8, 16, 32, 64, 128, 256, 512, 1024]


def damping_ratio(restitution):
    """The z of a restitution, by bisection: e falls from 1 at z = 0 to exp(-2) at z = 1."""
    low, high = 0.0, 1.0 - 1e-12
    for _ in range(200):
        z = (low + high) / 2
        if math.exp(-2 * z * math.acos(z) / math.sqrt(1 - z * z)) > restitution:
            low = z
        else:
            high = z
    return low


def reference(restitution, duration):
    """`solref` of a contact that gives back a restitution and lasts so long."""
    z = damping_ratio(restitution) if restitution < 1 else 0.0
    root = 2 * math.acos(z) / (duration * math.sqrt(1 - z * z))
    return [-root * root, -2 * z * root]


def model(request, step, duration):
    spec = mujoco.MjSpec()
    option = spec.option
    option.timestep, option.gravity = step, request["gravity"]
    option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    option.solver, option.iterations, option.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 100, 1e-14
    option.ls_iterations, option.ls_tolerance = 100, 1e-6
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for plane in request["planes"]:
        spec.worldbody.add_geom(
            name=plane["name"], type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1],
            pos=[plane["offset"] * part for part in plane["normal"]], quat=turn_z_to(plane["normal"]),
            contype=0, conaffinity=0,
        )
    for given in request["bodies"]:
        body = spec.worldbody.add_body(
            name=given["name"], pos=given["position"], quat=given["orientation"],
            mass=given["mass"], inertia=given["inertia"], explicitinertial=True, ipos=[0, 0, 0], iquat=[1, 0, 0, 0],
        )
        body.add_freejoint()
        shape = mujoco.mjtGeom.mjGEOM_SPHERE if is_ball(given) else mujoco.mjtGeom.mjGEOM_ELLIPSOID
        body.add_geom(name=given["name"], type=shape, size=given["semi_axes"], contype=0, conaffinity=0)
    for contact in request["contacts"]:
        spec.add_pair(
            geomname1=contact["bodies"][0], geomname2=contact["bodies"][1], condim=1,
            solref=reference(contact["restitution"], duration), solimp=[0.9999, 0.9999, 0.001, 0.5, 1],
        )
    return spec.compile()


def simulate(request, step):
    runs = []
    for duration in DURATIONS if request["contacts"] else [0]:
        built = model(request, step, (duration or 1) * step)
        data = mujoco.MjData(built)
        for i, given in enumerate(request["bodies"]):
            data.qvel[6 * i : 6 * i + 3] = given["velocity"]
            data.qvel[6 * i + 3 : 6 * i + 6] = to_body(given["orientation"], given["angular_velocity"])
        start = time.perf_counter()
        mujoco.mj_step(built, data, steps_to(request["until"], step))
        wall = time.perf_counter() - start
        final = {}
        for i, given in enumerate(request["bodies"]):
            q, v = data.qpos[7 * i : 7 * i + 7], data.qvel[6 * i : 6 * i + 6]
            final[given["name"]] = state(q[:3], q[3:], v[:3], to_world(list(q[3:]), v[3:]))
        choice = f"contact of {duration} steps" if duration else ""
        runs.append({"step": step, "choice": choice, "final": final, "wall_s": wall})
    return runs


def cannot(request):
    if is_rough(request):
        return "tangential contact rows have damping and no spring, so that slip can end but not reverse"
    if any(e <= math.exp(-2) for e in restitutions(request)):
        return "a damped row gives back no less than exp(-2)"
    return None


if __name__ == "__main__":
    serve("MuJoCo", mujoco.__version__, SETTINGS, simulate, cannot)

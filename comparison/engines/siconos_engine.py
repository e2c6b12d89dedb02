"""Siconos: nonsmooth dynamics by Moreau and Jean's time stepping, all contacts in one complementarity problem.

Newton's restitution belongs to the contact, so every contact has its own. Siconos lets a contact be any relation of the positions; here
it is the exact gap of an ellipsoid and a plane, or of two balls. A rough contact has a tangential coefficient of restitution as well, with
so much friction that it never slips; its relation is Siconos' own, of a point that is set before every step to where the ball will be
lowest at the step's end. Python 3 of the system runs this, as Debian's package is made for it.
"""

import math
import subprocess
import time

import siconos.kernel as kernel

from protocol import is_ball, is_rough, product, serve, state, steps_to, to_body, to_world

SETTINGS = (
    "Moreau and Jean's scheme with theta 0.5, Newton iterations to 1e-13 for the gyroscopic terms and the contact's geometry, "
    "Lemke's method, restitution native, gaps as own relations; rough contacts by e_t = e_n with friction of 1000, Gauss-Seidel to 1e-14"
)


class AtPlane(kernel.NewtonEuler1DR):
    """The gap of an ellipsoid and a plane: n.x - offset - h, h^2 = sum (a_i (R^T n)_i)^2."""

    def __init__(self, semi_axes, normal, offset):
        self.semi_axes, self.normal, self.offset = semi_axes, normal, offset
        super().__init__()

    def computeh(self, time, q, y):
        turn, n = [q[3], q[4], q[5], q[6]], self.normal
        inner = to_body(turn, n)
        height = math.sqrt(sum((axis * part) ** 2 for axis, part in zip(self.semi_axes, inner)))
        arm = to_world(turn, [-axis * axis * part / height for axis, part in zip(self.semi_axes, inner)])
        gap = n[0] * q[0] + n[1] * q[1] + n[2] * q[2] - self.offset - height
        point = [q[i] + arm[i] for i in range(3)]
        y[0] = gap
        self.setpc1(point)
        self.setpc2([point[i] - gap * n[i] for i in range(3)])
        self.setnc(n)


class OfBalls(kernel.NewtonEuler1DR):
    """The gap of two balls; the normal points from the second to the first."""

    def __init__(self, first, second):
        self.first, self.second = first, second
        super().__init__()

    def computeh(self, time, q, y):
        apart = [q[i] - q[7 + i] for i in range(3)]
        distance = math.sqrt(sum(part * part for part in apart))
        n = [part / distance for part in apart]
        y[0] = distance - self.first - self.second
        self.setpc1([q[i] - self.first * n[i] for i in range(3)])
        self.setpc2([q[7 + i] + self.second * n[i] for i in range(3)])
        self.setnc(n)


class RoughAtPlane:
    """A ball on a plane with Siconos' relation in three directions, y = n.x - offset - radius in the first."""

    def __init__(self, body, radius, normal, offset):
        self.body, self.normal, self.offset = body, normal, offset
        self.arm = [-radius * part for part in normal]
        self.relation = kernel.NewtonEuler3DR()
        self.relation.setRelNc(normal)
        self.relation.setE([-offset - radius, 0.0, 0.0])
        self.aim(0.0)

    def aim(self, step):
        """Puts the point of contact to where the ball is lowest after a step of free flight."""
        q, twist = self.body.q(), self.body.twist()
        turn = [float(part) for part in q[3:7]]
        rate = product(turn, [0.0, twist[3], twist[4], twist[5]])
        turn = [part + step / 2 * change for part, change in zip(turn, rate)]
        self.relation.setRelPc1(to_body(turn, self.arm))
        height = sum(part * place for part, place in zip(self.normal, q[:3])) - self.offset
        self.relation.setRelPc2([float(place - height * part) for part, place in zip(self.normal, q[:3])])


def simulate(request, step):
    count = steps_to(request["until"], step)
    dynamics = kernel.NonSmoothDynamicalSystem(0.0, (count + 2) * step)
    bodies = {}
    for given in request["bodies"]:
        twist = given["velocity"] + to_body(given["orientation"], given["angular_velocity"])
        inertia = [[given["inertia"][i] if i == j else 0.0 for j in range(3)] for i in range(3)]
        place = given["position"] + given["orientation"]
        body = kernel.NewtonEulerDS([float(x) for x in place], [float(x) for x in twist], given["mass"], inertia)
        body.setFExtPtr([given["mass"] * part for part in request["gravity"]])
        dynamics.insertDynamicalSystem(body)
        bodies[given["name"]] = body
    axes = {given["name"]: given["semi_axes"] for given in request["bodies"]}
    planes = {plane["name"]: plane for plane in request["planes"]}
    rough = is_rough(request)
    # The relations must outlive the simulation, which does not hold what Python made.
    kept = []
    for contact in request["contacts"]:
        first, second = contact["bodies"]
        restitution = contact["restitution"]
        if rough:
            normal = [float(part) for part in planes[first]["normal"]]
            aimed = RoughAtPlane(bodies[second], axes[second][0], normal, planes[first]["offset"])
            law, relation = kernel.NewtonImpactFrictionNSL(restitution, restitution, 1000.0, 3), aimed.relation
            ends = [bodies[second]]
            kept.append(aimed)
        elif first in planes:
            law = kernel.NewtonImpactNSL(restitution)
            normal = [float(part) for part in planes[first]["normal"]]
            relation = AtPlane(axes[second], normal, planes[first]["offset"])
            ends = [bodies[second]]
        else:
            law = kernel.NewtonImpactNSL(restitution)
            relation = OfBalls(axes[first][0], axes[second][0])
            ends = [bodies[first], bodies[second]]
        interaction = kernel.Interaction(law, relation)
        dynamics.link(interaction, *ends)
        kept += [law, relation, interaction]
    scheme = kernel.MoreauJeanOSI(0.5)
    problem = kernel.FrictionContact(3) if rough else kernel.LCP()
    if rough:
        problem.numericsSolverOptions().dparam[0] = 1e-14
        problem.numericsSolverOptions().iparam[0] = 10000
    simulation = kernel.TimeStepping(dynamics, kernel.TimeDiscretisation(0.0, step), scheme, problem)
    simulation.setNewtonTolerance(1e-13)
    simulation.setNewtonMaxIteration(20)
    simulation.setWarnOnNonConvergence(False)
    start = time.perf_counter()
    for _ in range(count):
        for aimed in kept[:1] if rough else []:
            aimed.aim(step)
        simulation.computeOneStep()
        simulation.nextStep()
    wall = time.perf_counter() - start
    final = {}
    for name, body in bodies.items():
        q, twist = body.q(), body.twist()
        final[name] = state(q[:3], q[3:7], twist[:3], to_world(list(q[3:7]), twist[3:6]))
    return [{"step": step, "choice": "", "final": final, "wall_s": wall}]


def cannot(request):
    if is_rough(request) and not (all(is_ball(body) for body in request["bodies"]) and len(request["contacts"]) == 1):
        return "a rough contact is written here for one ball at a plane"
    return None


def version():
    """The version of Debian's package, as the module does not know its own."""
    query = ["dpkg-query", "--show", "--showformat=${Version}", "python3-siconos"]
    return subprocess.run(query, capture_output=True, check=True, text=True).stdout.split("+")[0]


if __name__ == "__main__":
    serve("Siconos", version(), SETTINGS, simulate, cannot)

"""What is in answers: a class for every table of the documents that `carom … --json` prints, with types and meanings.

Made by `crates/carom-py/documents.py` from the same text as the JSON Schemas of `carom schema --answer`. Fields that are marked with
"absent" are not in every document: `"name" in record` says whether they are there.
"""

from __future__ import annotations

from typing import Literal, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import Floats
from .records import Answer, Named, Record, Records


class State(Record):
    """The part `state` of documents."""

    __slots__ = ()
    _arrays = {"position": "float64", "orientation": "float64", "velocity": "float64", "angular_velocity": "float64"}

    position: Floats
    """Of the centre of mass, m."""
    orientation: Floats
    """From body axes to world axes, w first."""
    velocity: Floats
    """Of the centre of mass, m/s."""
    angular_velocity: Floats
    """In the world frame, rad/s."""


class StateDerivatives(Record):
    """The part `state_derivatives` of documents."""

    __slots__ = ()
    _arrays = {"position": "float64", "orientation": "float64", "velocity": "float64", "angular_velocity": "float64"}

    position: Floats
    """Rows: x, y, z; columns: the parameters."""
    orientation: Floats
    """Of the quaternion, w first."""
    velocity: Floats
    """Rows: x, y, z."""
    angular_velocity: Floats
    """Rows: x, y, z."""


class GrownRounding(Record):
    """The part `grown_rounding` of documents."""

    __slots__ = ()

    position: float
    """An estimate of what rounding did to the position, m."""
    orientation: float
    """To the orientation, rad."""
    velocity: float
    """m/s."""
    angular_velocity: float
    """rad/s."""
    growth: float
    """By how much a relative change has grown."""


class JointImpulse(Record):
    """The part `joint_impulse` of documents."""

    __slots__ = ()
    _arrays = {"impulse": "float64", "linear": "float64", "angular": "float64", "point": "float64"}

    impulse: Floats
    """One for each row of the joint."""
    linear: Floats
    """The resultant on the first body, N s."""
    angular: Floats
    """Its moment about `point`, N m s."""
    point: Floats
    """The joint's point, m."""
    determined: bool
    """Whether the rigid model determines it."""


class Energy(Record):
    """The part `energy` of documents."""

    __slots__ = ()

    before: float
    """J."""
    after: float
    """J."""
    change: float
    """After less before, J."""


class ProblemAudit(Record):
    """The part `problem_audit` of documents."""

    __slots__ = ()

    momentum_residual: float
    """Of G (v⁺ − v⁻) = Nᵀp + Aᵀλ, relative."""
    bilateral_residual: float
    """Of A v⁺ = 0, relative."""
    energy_change_from_velocities: float
    """J."""
    energy_change_from_impulses: float
    """J."""
    energy_mismatch: float
    """How far the two are apart, relative."""
    unilateral_residual: Optional[float]
    """How far contacts pull or keep closing."""
    complementarity_residual: Optional[float]
    """Of the law's complementarity, where it promises it."""
    statement_residual: Optional[float]
    """How far the outcome's numbers contradict each other."""
    friction_residual: Optional[float]
    """Of Coulomb's law, where it acts."""
    impulse_set_is_a_point: Optional[bool]
    """Whether the impulses are unique, decided independently."""
    contradiction: object
    """What the outcome says of itself and is not so; null: nothing."""
    passed: bool
    """Whether everything is within its limit."""


class OutcomeRankMargin(Record):
    """How clear the rank is."""

    __slots__ = ()

    smallest_kept: Optional[float]
    """The smallest singular value that counts."""
    largest_dropped: Optional[float]
    """The largest that does not."""
    threshold: float
    """Between them."""
    amplification: float
    """By which joints and near-dependent rows enlarge rounding."""


class OutcomeSelfStress(Record):
    """What can be added to the impulses without an effect."""

    __slots__ = ()
    _arrays = {"contacts": "float64", "bilateral": "float64"}

    contacts: Floats
    """One for each contact row."""
    bilateral: Floats
    """One for each bilateral row."""


class OutcomeUnequalCircuit(Record):
    """Dependent rows whose restitutions differ."""

    __slots__ = ()
    _arrays = {"rows": "int64", "restitution": "float64"}

    rows: NDArray[np.int64]
    """Their numbers."""
    restitution: Floats
    """Of each."""


class OutcomeStep(Record):
    """Of a cascade or sequence."""

    __slots__ = ()
    _arrays = {"rows": "int64", "impulses": "float64", "approach": "float64", "separation": "float64"}

    rows: NDArray[np.int64]
    """The rows with impulses."""
    impulses: Floats
    """Of each of those rows."""
    approach: Floats
    """Before the step."""
    separation: Floats
    """After it."""
    energy_change: float
    """J."""


class OutcomeFrictionPhase(Record):
    """One after another."""

    __slots__ = ()

    mode: Literal["slip", "jam", "stick", "reverse_slip"]
    """What the contact does."""
    # `["from"]`, float: Normal impulse at the beginning, N s.
    to: float
    """And at the end."""
    restitution: bool
    """Whether it is in restitution."""


class OutcomeFriction(Record):
    """What contacts with Coulomb friction went through."""

    __slots__ = ()
    _parts = {"phases": OutcomeFrictionPhase}

    normal: int
    """The row of the normal."""
    termination: Literal["stronge", "poisson", "newton"]
    """How it ended."""
    compression_impulse: float
    """At the end of compression, N s."""
    phases: Records[OutcomeFrictionPhase]
    """One after another."""


class OutcomeFrictionDemand(Record):
    """The friction that rough contacts would need."""

    __slots__ = ()

    normal: int
    """The row of the normal."""
    coefficient: Optional[float]
    """Null: no coefficient is enough."""


class Outcome(Record):
    """The part `outcome` of documents."""

    __slots__ = ()
    _parts = {"energy": Energy, "rank_margin": OutcomeRankMargin, "self_stresses": OutcomeSelfStress, "unequal_circuits": OutcomeUnequalCircuit, "steps": OutcomeStep, "friction": OutcomeFriction, "friction_demand": OutcomeFrictionDemand}
    _arrays = {"velocity_before": "float64", "velocity": "float64", "impulses": "float64", "bilateral_impulses": "float64", "approach": "float64", "separation": "float64", "work": "float64", "blocked": "int64"}

    law: Law
    """The impact law."""
    status: Literal["no_impact", "resolved", "inconsistent", "steps_exhausted"]
    """How it ended."""
    velocity_before: Floats
    """Generalised velocities before."""
    velocity: Floats
    """And after."""
    impulses: Floats
    """One for each contact row."""
    bilateral_impulses: Floats
    """One for each bilateral row."""
    approach: Floats
    """Relative velocity of each contact row before; negative: closing."""
    separation: Floats
    """And after."""
    work: Floats
    """Of each contact row's impulse, J."""
    energy: Energy
    """The kinetic energy."""
    rank: int
    """Of the active rows."""
    rank_margin: OutcomeRankMargin
    """How clear the rank is."""
    rounding: float
    """A bound on what rounding may have done to the velocity, relative to √(2T)."""
    blocked: NDArray[np.int64]
    """Contact rows that the joints block."""
    velocity_unique: bool
    """Whether the law determines the velocity."""
    impulse_unique: bool
    """Whether it determines the impulses."""
    consistent: bool
    """Whether the law's equations have a solution."""
    admissible: bool
    """All impulses push, no contact keeps closing, no energy gained."""
    self_stresses: Records[OutcomeSelfStress]
    """What can be added to the impulses without an effect."""
    unequal_circuits: Records[OutcomeUnequalCircuit]
    """Dependent rows whose restitutions differ."""
    steps: Records[OutcomeStep]
    """Of a cascade or sequence."""
    friction: Records[OutcomeFriction]
    """What contacts with Coulomb friction went through."""
    friction_demand: Records[OutcomeFrictionDemand]
    """The friction that rough contacts would need."""
    notes: list[object]
    """What is worth a word: sentences, or tables of one entry."""


Law = Literal["newton_lcp", "newton", "poisson", "sequential", "reflection", "decoupled"]


Type = Literal["normal", "separating", "graze", "unrealizable", "paradox_2b", "paradox_2b_star", "paradox_marginal", "degenerate"]


class Settings(Record):
    """The part `settings` of documents."""

    __slots__ = ()

    until: float
    """The time to stop at, s."""
    max_events: int
    """The number of events to stop at."""
    sample: float
    """The interval of samples, s; 0: events only."""
    record_events: bool
    """Whether events are kept."""
    on_paradox: Literal["hold", "pass", "stop"]
    """What happens at a paradox."""
    strict: bool
    """Whether the first violation ends the run."""
    contact_time: Optional[float]
    """A collision sooner than this after another of the same body is elastic, s."""
    rest_speed: Optional[float]
    """Slower impacts are plastic, m/s; null: chosen from the speeds."""
    on_trouble: Literal["step", "stop"]
    """What happens where the exact motion has no continuation."""
    replica: int
    """What was added to the seeds of the fills."""
    law: Law
    """Absent where it is not asked for or has no meaning. The impact law, where it is not the scene's."""


class AuditRest(Record):
    """Impacts taken as plastic because they were slow."""

    __slots__ = ()

    count: int
    """How many."""
    energy: float
    """What they took, J."""
    speed_max: float
    """The fastest of them, m/s."""


class AuditAt(Record):
    """The events where the worst was seen."""

    __slots__ = ()

    energy_error_max: int
    """An event's number."""
    linear_error_max: int
    """An event's number."""
    angular_error_max: Optional[int]
    """An event's number."""
    gap_min: Optional[int]
    """An event's number."""
    points_error_max: int
    """An event's number."""
    impulse_error_max: int
    """An event's number."""
    work_error_max: int
    """An event's number."""
    restitution_error_max: int
    """An event's number."""
    unilateral_error_max: int
    """An event's number."""
    energy_gain_max: int
    """An event's number."""
    joint_error_max: int
    """Absent where it is not asked for or has no meaning. An event's number."""


class Audit(Record):
    """The part `audit` of documents."""

    __slots__ = ()
    _parts = {"rest": AuditRest, "at": AuditAt}

    energy_error_max: float
    """The largest error of the energy, relative."""
    linear_error_max: float
    """Of the momentum."""
    angular_error_max: Optional[float]
    """Of the angular momentum; null where it is not conserved."""
    gap_min: Optional[float]
    """The smallest gap of all pairs, m."""
    points_error_max: float
    """How far contact points are off their surfaces."""
    impulse_error_max: float
    """How far momenta change otherwise than by the impulses."""
    work_error_max: float
    """How far the energy changes otherwise than by their work."""
    restitution_error_max: float
    """How far separations are off the restitution."""
    unilateral_error_max: float
    """How far contacts pull, leave their friction cones or keep closing."""
    energy_gain_max: float
    """The most energy that an event gained, relative."""
    joint_error_max: float
    """Absent where it is not asked for or has no meaning. How far bodies are off their joints."""
    rest: AuditRest
    """Impacts taken as plastic because they were slow."""
    checks: int
    """How many checks were made."""
    gap_searches: int
    """Searches of all pairs for overlaps."""
    pairs: int
    """The pairs that they looked at."""
    at: AuditAt
    """The events where the worst was seen."""


class Estimate(Record):
    """The part `estimate` of documents."""

    __slots__ = ()

    mean: Optional[float]
    """Null where it was not measured."""
    error: Optional[float]
    """Its standard error, from blocks or copies."""


class Curve(Record):
    """The part `curve` of documents."""

    __slots__ = ()
    _arrays = {"time": "float64", "value": "float64"}

    time: Floats
    """s."""
    value: Floats
    """At those times."""
    diffusion: Optional[float]
    """The diffusion coefficient that follows, m²/s."""
    diffusion_error: Optional[float]
    """Its error."""


class Estimates(Record):
    """The part `estimates` of documents."""

    __slots__ = ()
    _parts = {"compressibility": Estimate, "collision_rate": Estimate, "temperature_translational": Estimate, "temperature_rotational": Estimate, "packing_fraction": Estimate, "pressure": Estimate, "mean_free_path": Estimate, "nematic_order": Estimate}

    compressibility: Estimate
    """Z = PV/NkT."""
    collision_rate: Estimate
    """Collisions per body and time, 1/s."""
    temperature_translational: Estimate
    """k_B T of translation, J."""
    temperature_rotational: Estimate
    """k_B T of rotation, J."""
    packing_fraction: Estimate
    """The bodies' share of the box."""
    pressure: Estimate
    """Pa."""
    mean_free_path: Estimate
    """m."""
    nematic_order: Estimate
    """Of the longest axes."""


class ObservablesGR(Record):
    """The pair correlation; null: not measured."""

    __slots__ = ()
    _arrays = {"r": "float64", "g": "float64"}

    r: Floats
    """Distances, m."""
    g: Floats
    """At those distances."""
    configurations: int
    """That it is an average of."""
    contact: Optional[float]
    """Extrapolated to contact."""
    compressibility: Optional[float]
    """From that."""


class Observables(Record):
    """The part `observables` of documents."""

    __slots__ = ()
    _parts = {"compressibility": Estimate, "collision_rate": Estimate, "temperature_translational": Estimate, "temperature_rotational": Estimate, "packing_fraction": Estimate, "pressure": Estimate, "mean_free_path": Estimate, "nematic_order": Estimate, "g_r": ObservablesGR, "msd": Curve, "vacf": Curve}

    compressibility: Estimate
    """Z = PV/NkT."""
    collision_rate: Estimate
    """Collisions per body and time, 1/s."""
    temperature_translational: Estimate
    """k_B T of translation, J."""
    temperature_rotational: Estimate
    """k_B T of rotation, J."""
    packing_fraction: Estimate
    """The bodies' share of the box."""
    pressure: Estimate
    """Pa."""
    mean_free_path: Estimate
    """m."""
    nematic_order: Estimate
    """Of the longest axes."""
    blocks: int
    """Of time, from which errors come."""
    block_time: float
    """Their length, s."""
    time: float
    """Measured, s."""
    interval: float
    """Between configurations, s."""
    compressibility_from_rate: Optional[float]
    """From the collision rate."""
    g_r: Optional[ObservablesGR]
    """The pair correlation; null: not measured."""
    msd: Curve
    """The mean squared displacement."""
    vacf: Curve
    """The velocity autocorrelation."""


Stopped = Literal["until", "max_events", "paradox", "interrupted", "stalled", "lost", "violation"]


class Shown(Record):
    """The part `shown` of documents."""

    __slots__ = ()

    text: Optional[str]
    """Words or a formula."""
    value: object
    """A number, a list of them, or null."""


class SolveBody(Record):
    """After the impact, by name."""

    __slots__ = ()
    _arrays = {"velocity": "float64", "angular_velocity": "float64", "bryan": "float64", "bryan_rates": "float64"}

    velocity: Floats
    """Of the centre of mass, m/s."""
    angular_velocity: Floats
    """In the world frame, rad/s."""
    bryan: Floats
    """The angles ψ, θ, φ of the orientation, rad."""
    bryan_rates: Optional[Floats]
    """Their rates, rad/s; null where they have none."""


class SolveContact(Record):
    """In the scene's order, or as detected."""

    __slots__ = ()
    _arrays = {"point": "float64", "normal": "float64", "impulse_vector": "float64", "slip_before": "float64", "slip_after": "float64"}

    name: str
    """Its name."""
    bodies: list[str]
    """The two sides."""
    point: Floats
    """Where they touch, m."""
    normal: Floats
    """Unit, from the first to the second."""
    approach: float
    """Normal relative velocity before, m/s; negative: closing."""
    separation: float
    """And after."""
    impulse: float
    """Along the normal, N s."""
    impulse_vector: Floats
    """On the second side, N s."""
    restitution: float
    """The coefficient."""
    surface: object
    """"smooth", "rough" or {"coulomb": μ}."""
    slip_before: Floats
    """Relative velocity along the tangent, m/s."""
    slip_after: Floats
    """And after."""
    work: float
    """Of the impulse, J."""
    determined: bool
    """Whether the rigid model determines the impulse."""


class SolveEnergy(Record):
    """The kinetic energy."""

    __slots__ = ()

    before: float
    """J."""
    after: float
    """J."""
    loss: float
    """Before less after, J."""


class SolveMomentum(Record):
    """Whether the impulses account for the momenta."""

    __slots__ = ()

    linear_residual: float
    """Relative."""
    angular_residual: float
    """Relative."""


class SolveScrewsContact(Record):
    """One by one."""

    __slots__ = ()
    _arrays = {"plucker": "float64"}

    name: str
    """Its name."""
    plucker: Floats
    """The six Plücker coordinates of its normal."""
    wrenches: list[object]
    """Of each moving side its name and its unit wrench."""


class SolveScrewsBody(Record):
    """Of tied systems."""

    __slots__ = ()
    _arrays = {"S": "float64", "Q": "float64", "M_red": "float64", "G": "float64", "xi": "float64"}

    name: str
    """The body."""
    S: Floats
    """The screws of its joints."""
    Q: Floats
    """The projector of its joints."""
    M_red: Floats
    """The reduced mass matrix."""
    G: Floats
    """The inertances."""
    xi: Floats
    """The joints' multipliers."""


class SolveScrews(Record):
    """With --screws: the contacts as screws."""

    __slots__ = ()
    _parts = {"contacts": SolveScrewsContact, "bodies": SolveScrewsBody}
    _arrays = {"inertances": "float64"}

    inertances: Floats
    """Of every contact with every other."""
    contacts: Records[SolveScrewsContact]
    """One by one."""
    bodies: Records[SolveScrewsBody]
    """Of tied systems."""


class SolveDocument(Answer):
    """The impact at the scene's instant."""

    __slots__ = ()
    _parts = {"contacts": SolveContact, "energy": SolveEnergy, "momentum": SolveMomentum, "outcome": Outcome, "audit": ProblemAudit, "screws": SolveScrews}
    _named = {"bodies": SolveBody, "joints": JointImpulse}
    _arrays = {"projector": "float64", "scattering_matrix": "float64"}

    law: Law
    """The impact law."""
    time: float
    """Of the scene's instant: 0."""
    title: Optional[str]
    """The scene's."""
    source: Optional[str]
    """The scene's."""
    bodies: Named[SolveBody]
    """After the impact, by name."""
    contacts: Records[SolveContact]
    """In the scene's order, or as detected."""
    joints: Named[JointImpulse]
    """What the joints carried, by name."""
    energy: SolveEnergy
    """The kinetic energy."""
    momentum: SolveMomentum
    """Whether the impulses account for the momenta."""
    rank: int
    """Of the active rows."""
    contacts_active: int
    """How many contacts carry an impulse."""
    contacts_detected: bool
    """Whether the contacts were found by the program."""
    velocity_unique: bool
    """Whether the law determines the velocities."""
    impulse_unique: bool
    """Whether it determines the impulses."""
    consistent: bool
    """Whether the law's equations have a solution."""
    admissible: bool
    """All impulses push, no contact keeps closing, no energy gained."""
    friction_demand: Named[Optional[float]]
    """The friction that rough contacts and rolling joints would need; null: no coefficient is enough."""
    friction_least: Optional[float]
    """The least coefficient with which all of them would hold."""
    notes: list[str]
    """What is worth a word."""
    outcome: Outcome
    """The same in rows."""
    audit: Optional[ProblemAudit]
    """An independent check."""
    projector: Optional[Floats]
    """On the admissible velocities; null with very many coordinates."""
    scattering_matrix: Optional[Floats]
    """v⁺ = S v⁻, where the law is linear."""
    screws: SolveScrews
    """Absent where it is not asked for or has no meaning. With --screws: the contacts as screws."""


class CompareLaw(Record):
    """By the law's name."""

    __slots__ = ()
    _arrays = {"approach": "float64", "separation": "float64", "impulse": "float64"}

    bodies: Named[Floats]
    """Velocity and angular velocity after, by name."""
    approach: Floats
    """Of each contact before, m/s."""
    separation: Floats
    """And after."""
    impulse: Floats
    """Of each contact, N s."""
    energy_before: float
    """J."""
    energy_after: float
    """J."""
    energy_change: float
    """J."""
    linear_residual: float
    """Relative."""
    angular_residual: float
    """Relative."""
    velocity_unique: bool
    """Whether the law determines the velocities."""
    impulse_unique: bool
    """Whether it determines the impulses."""
    consistent: bool
    """Whether the law's equations have a solution."""
    admissible: bool
    """All impulses push, no contact keeps closing, no energy gained."""
    steps: int
    """Of a cascade or sequence."""
    notes: list[str]
    """What is worth a word."""


class CompareDocument(Answer):
    """Every impact law on the same scene."""

    __slots__ = ()
    _named = {"laws": CompareLaw}

    title: Optional[str]
    """The scene's."""
    source: Optional[str]
    """The scene's."""
    contacts: list[str]
    """Their names, in the order of the lists below."""
    laws: Named[CompareLaw]
    """By the law's name."""


class ClassifyContactScales(Record):
    """What values are compared with."""

    __slots__ = ()

    length: float
    """m."""
    speed: float
    """m/s."""
    turn: float
    """rad/s."""
    acceleration: float
    """m/s²."""
    jerk: float
    """m/s³."""


class ClassifyContactRatios(Record):
    """Values over their tolerances: below 1 in size counts as zero."""

    __slots__ = ()

    v: Optional[float]
    """Of g'."""
    g2: Optional[float]
    """Of g''."""
    g3: Optional[float]
    """Of g'''."""
    slip: Optional[float]
    """Of the slip."""
    w: Optional[float]
    """Of w."""


class ClassifyContactNearestType(Record):
    """The type that another tolerance would give; null: none."""

    __slots__ = ()

    type: Type
    """That type."""
    by: Literal["v", "g2", "g3", "slip", "w"]
    """What would decide it."""
    factor: float
    """By which the tolerance would have to change."""


class ClassifyContactNeighbourhood(Record):
    """With --svg or --span: where the second body enters the first."""

    __slots__ = ()
    _arrays = {"origin": "float64", "tangents": "float64"}

    origin: Floats
    """m."""
    tangents: Floats
    """The axes of the picture."""
    patches: list[object]
    """Outlines at several times."""


class ClassifyContact(Record):
    """Those that touch."""

    __slots__ = ()
    _parts = {"scales": ClassifyContactScales, "ratios": ClassifyContactRatios, "nearest_type": ClassifyContactNearestType, "neighbourhood": ClassifyContactNeighbourhood}
    _arrays = {"point": "float64", "points": "float64", "normal": "float64", "w": "float64", "curvature_1": "float64", "curvature_2": "float64", "relative_curvature": "float64", "slip": "float64", "normal_rate": "float64", "rolling": "float64", "inverse_mass_tensor": "float64", "a_vector": "float64"}

    bodies: list[str]
    """The two sides."""
    type: Type
    """Of contact."""
    standing: str
    """Whether they touch."""
    gap: float
    """The distance left, m."""
    point: Floats
    """Where they touch, m."""
    points: Floats
    """On the first and on the second side, m."""
    normal: Floats
    """Unit, from the first to the second."""
    v: float
    """g', m/s."""
    a: float
    """The part of g'' without curvature, m/s²."""
    w: Floats
    """The relative turn of the surfaces, rad/s."""
    threshold: float
    """wᵀK⁻¹w, m/s²."""
    g2: Optional[float]
    """g'', m/s²."""
    g3: Optional[float]
    """g''', m/s³."""
    curvature_1: Optional[Floats]
    """Of the first surface, 1/m."""
    curvature_2: Optional[Floats]
    """Of the second."""
    relative_curvature: Optional[Floats]
    """Principal values of K, 1/m."""
    fit: str
    """How the surfaces fit at the contact."""
    slip: Floats
    """Relative velocity along the tangent, m/s."""
    normal_rate: Floats
    """Of the normal, rad/s."""
    rolling: Floats
    """Velocities of the contact point over both surfaces, m/s."""
    effective_inverse_mass: float
    """n·M·n, 1/kg."""
    inverse_mass_tensor: Floats
    """M, 1/kg."""
    a_vector: Floats
    """The relative acceleration of the material points, m/s²."""
    j: Optional[float]
    """The part of g''' without curvature's change, m/s³."""
    coefficients: list[object]
    """Those of Palffy-Muhoray, Virga, Wilkinson and Zheng, for both directions."""
    scales: ClassifyContactScales
    """What values are compared with."""
    tolerance: float
    """Relative to the scales."""
    ratios: ClassifyContactRatios
    """Values over their tolerances: below 1 in size counts as zero."""
    nearest_type: Optional[ClassifyContactNearestType]
    """The type that another tolerance would give; null: none."""
    neighbourhood: ClassifyContactNeighbourhood
    """Absent where it is not asked for or has no meaning. With --svg or --span: where the second body enters the first."""


class ClassifyNearest(Record):
    """Where nothing touches, the nearest pair; null otherwise."""

    __slots__ = ()

    bodies: list[str]
    """The two sides."""
    gap: float
    """m."""


class ClassifyDocument(Answer):
    """Every contact's kinematics and type."""

    __slots__ = ()
    _parts = {"contacts": ClassifyContact, "nearest": ClassifyNearest}

    title: Optional[str]
    """The scene's."""
    contacts: Records[ClassifyContact]
    """Those that touch."""
    nearest: Optional[ClassifyNearest]
    """Where nothing touches, the nearest pair; null otherwise."""
    notes: list[str]
    """What is worth a word."""


class GapPair(Record):
    """A plane stands first."""

    __slots__ = ()
    _arrays = {"normal": "float64", "points": "float64", "image": "float64"}

    bodies: list[str]
    """The two sides."""
    gap: float
    """Signed distance, m; negative: the depth of the overlap."""
    normal: Floats
    """Unit, from the first to the second."""
    points: Floats
    """The nearest points on the first and on the second, m."""
    image: Floats
    """Absent where it is not asked for or has no meaning. In a periodic box, the displacement of the second body, m."""
    iterations: int
    """Of the search."""


class GapDocument(Answer):
    """The signed distance of every pair."""

    __slots__ = ()
    _parts = {"pairs": GapPair}

    title: Optional[str]
    """The scene's."""
    time: float
    """After free flight to this time, s."""
    pairs: Records[GapPair]
    """A plane stands first."""


class ToiPairMinimum(Record):
    """Of a graze: the least gap."""

    __slots__ = ()

    time: float
    """s."""
    gap: float
    """m."""


class ToiPair(Record):
    """A plane stands first."""

    __slots__ = ()
    _parts = {"minimum": ToiPairMinimum}
    _arrays = {"normal": "float64", "point": "float64", "image": "float64"}

    bodies: list[str]
    """The two sides."""
    time: Optional[float]
    """Of the first contact, s; null: none."""
    time_error: Optional[float]
    """A bound on its error, s."""
    searched_until: float
    """No contact before this time, s."""
    undecided: bool
    """Whether the search gave up."""
    gap: Optional[float]
    """The gap left then, m."""
    normal: Optional[Floats]
    """Unit, from the first to the second."""
    point: Optional[Floats]
    """Where they touch, m."""
    approach: Optional[float]
    """Normal relative velocity, m/s; negative: closing."""
    type: Optional[Type]
    """Of contact."""
    first_zero: float
    """Absent where it is not asked for or has no meaning. Of a graze: the gap may be zero from this time on, s."""
    minimum: ToiPairMinimum
    """Absent where it is not asked for or has no meaning. Of a graze: the least gap."""
    image: Floats
    """Absent where it is not asked for or has no meaning. In a periodic box, the displacement of the second body, m."""
    evaluations: int
    """How often the gap was measured."""


class ToiDocument(Answer):
    """The first time of impact of every pair in free flight."""

    __slots__ = ()
    _parts = {"pairs": ToiPair}

    title: Optional[str]
    """The scene's."""
    until: float
    """Searched until this time, s."""
    pairs: Records[ToiPair]
    """A plane stands first."""


class RunStepped(Record):
    """Intervals in which bodies were carried on by time steps."""

    __slots__ = ()

    # `["from"]`, float: s.
    until: float
    """s."""
    bodies: list[str]
    """Their names."""
    steps: int
    """How many."""
    gap_min: Optional[float]
    """The smallest gap at the ends of steps, m."""
    error: float
    """The largest difference that halving a step made, relative."""


class RunRolling(Record):
    """What rolling joints asked of their surfaces, by name."""

    __slots__ = ()

    friction_needed: Optional[float]
    """Friction over normal force; null: infinite."""
    time: float
    """When, s."""
    pulls: Optional[float]
    """When it first had to pull, s."""


class RunDerivativesEvent(Record):
    """Of the events."""

    __slots__ = ()
    _arrays = {"time": "float64", "impulse": "float64"}

    number: int
    """The event's."""
    time: Optional[Floats]
    """Of its time, a number for each parameter; null: there is none."""
    impulse: Optional[Floats]
    """Of its normal impulse."""


class RunDerivativesUndefined(Record):
    """Where there is no derivative from then on."""

    __slots__ = ()

    event: Optional[int]
    """The event's number; null: no event."""
    time: float
    """When, s."""
    bodies: list[str]
    """Whose."""
    cause: str
    """In one word."""
    uncovered: bool
    """Whether there is one that is not computed."""
    reason: str
    """In words."""


class RunDerivatives(Record):
    """With --derivatives: derivatives by numbers of the scene."""

    __slots__ = ()
    _parts = {"events": RunDerivativesEvent, "undefined": RunDerivativesUndefined}
    _named = {"final": StateDerivatives, "rounding": GrownRounding}

    parameters: list[str]
    """Their paths, in the order of the columns."""
    final: Named[Optional[StateDerivatives]]
    """Of the states at the end, by name; null: there is none."""
    events: Records[RunDerivativesEvent]
    """Of the events."""
    undefined: Records[RunDerivativesUndefined]
    """Where there is no derivative from then on."""
    rounding: Named[Optional[GrownRounding]]
    """What rounding has grown to by the end, by name."""


class RunViolation(Record):
    """What ended the run before its time; null: nothing."""

    __slots__ = ()

    quantity: str
    """By its name in the audit, or `finite`."""
    value: Optional[float]
    """Null: not finite."""
    limit: float
    """That it passed."""
    event: int
    """At or after which it was seen."""
    bodies: Optional[list[str]]
    """Between whom."""


class RunRows(Record):
    """The rows of the tables, with -o."""

    __slots__ = ()

    events: int
    """Of events."""
    samples: int
    """Of samples."""
    joint_impulses: int
    """Absent where it is not asked for or has no meaning. Of joint impulses."""
    reactions: int
    """Absent where it is not asked for or has no meaning. Of reactions."""


class RunPerformance(Record):
    """Counts, and the only numbers that differ from run to run."""

    __slots__ = ()

    events: int
    """Events."""
    impacts: int
    """Those that are impacts."""
    grazes: int
    """Contacts without approach."""
    holds: int
    """Sustained contacts begun."""
    searches: int
    """Pairs searched for a contact."""
    gaps: int
    """Gaps measured in those searches."""
    samples: int
    """Samples taken."""
    elastic: int
    """Collisions made elastic because they followed another too soon."""
    wall_s: float
    """How long it took, s."""
    impacts_per_s: float
    """1/s."""
    events_per_s: float
    """1/s."""


class RunDocument(Answer):
    """A run, event by event."""

    __slots__ = ()
    _parts = {"settings": Settings, "audit": Audit, "stepped": RunStepped, "observables": Observables, "derivatives": RunDerivatives, "violation": RunViolation, "rows": RunRows, "performance": RunPerformance}
    _named = {"final": State, "rolling": RunRolling}

    title: Optional[str]
    """The scene's."""
    source: Optional[str]
    """The scene's."""
    version: str
    """Of the program."""
    scene: str
    """The hash of the scene's text."""
    settings: Settings
    """How it was run."""
    loop: Literal["simulation", "edmd"]
    """The loop."""
    law: Law
    """The impact law."""
    termination: Literal["stronge", "poisson", "newton"]
    """How contacts with friction end."""
    time: float
    """At the end, s."""
    stopped: Stopped
    """What ended it."""
    final: Named[State]
    """The states at the end, by name."""
    audit: Audit
    """The worst that independent checks found."""
    stepped: Records[RunStepped]
    """Intervals in which bodies were carried on by time steps."""
    rolling: Named[RunRolling]
    """Absent where it is not asked for or has no meaning. What rolling joints asked of their surfaces, by name."""
    observables: Observables
    """Absent where it is not asked for or has no meaning. Averages, in a box."""
    derivatives: RunDerivatives
    """Absent where it is not asked for or has no meaning. With --derivatives: derivatives by numbers of the scene."""
    violation: Optional[RunViolation]
    """What ended the run before its time; null: nothing."""
    notes: list[str]
    """What is worth a word."""
    rows: RunRows
    """Absent where it is not asked for or has no meaning. The rows of the tables, with -o."""
    performance: RunPerformance
    """Counts, and the only numbers that differ from run to run."""


class ReplicasReplica(Record):
    """One by one."""

    __slots__ = ()
    _parts = {"audit": Audit, "observables": Observables}
    _arrays = {"seeds": "int64"}

    replica: int
    """Its number."""
    seeds: NDArray[np.int64]
    """Of its fills."""
    stopped: Stopped
    """What ended it."""
    time: float
    """At its end, s."""
    impacts: int
    """Its impacts."""
    elastic: int
    """Those made elastic."""
    audit: Audit
    """The worst that independent checks found."""
    observables: Optional[Observables]
    """Its averages."""
    notes: list[str]
    """What is worth a word."""
    wall_s: float
    """How long it took, s."""


class ReplicasDocument(Answer):
    """Copies of a run, pooled: `carom run --replicas`."""

    __slots__ = ()
    _parts = {"settings": Settings, "observables": Estimates, "replicas": ReplicasReplica}

    title: Optional[str]
    """The scene's."""
    version: str
    """Of the program."""
    scene: str
    """The hash of the scene's text."""
    settings: Settings
    """How they were run."""
    loop: Literal["simulation", "edmd"]
    """The loop."""
    stopped: Stopped
    """What ended the one that came least far."""
    observables: Estimates
    """Pooled averages."""
    replicas: Records[ReplicasReplica]
    """One by one."""


class ScatterSettings(Record):
    """What the beam is."""

    __slots__ = ()

    samples: int
    """How many were asked for."""
    seed: int
    """Of the samples."""
    speed: Optional[float]
    """Relative, m/s; null: thermal."""
    temperature: Optional[float]
    """k_B T of the speeds, J; null: one speed."""
    spin: Optional[float]
    """Of each body, rad/s; null: thermal."""
    spin_temperature: Optional[float]
    """k_B T of the spins, J; null: one speed."""
    restitution: float
    """The coefficient."""
    surface: str
    """`smooth`, `rough`, or `coulomb` with its coefficient."""
    law: Law
    """The impact law."""
    termination: Literal["stronge", "poisson", "newton"]
    """How contacts with friction end."""


class ScatterAngle(Record):
    """The distribution of cos χ, in bins."""

    __slots__ = ()
    _parts = {"differential_cross_section": Estimate}

    cos_from: float
    """The lower edge."""
    cos_to: float
    """The upper edge."""
    count: int
    """How many hits."""
    differential_cross_section: Estimate
    """dσ/dΩ, m²."""


class ScatterAudit(Record):
    """The worst that independent checks found."""

    __slots__ = ()

    energy_error_max: float
    """Relative."""
    linear_error_max: float
    """Of the momentum."""
    angular_error_max: float
    """Of the angular momentum."""
    impact_error_max: float
    """Of an impact against its law."""
    worst_sample: Optional[int]
    """Where the worst was seen."""
    passed: bool
    """Whether everything is within its limit."""


class ScatterPerformance(Record):
    """The only numbers that differ from run to run."""

    __slots__ = ()

    wall_s: float
    """How long it took, s."""
    samples_per_s: float
    """1/s."""
    threads: int
    """How many worked."""
    device: str
    """What followed the samples: `CPU`, or the name of the GPU."""


class ScatterDocument(Answer):
    """Two bodies thrown at each other many times."""

    __slots__ = ()
    _parts = {"settings": ScatterSettings, "cross_section": Estimate, "rate": Estimate, "diffusion_cross_section": Estimate, "viscosity_cross_section": Estimate, "impacts": Estimate, "energy_loss": Estimate, "exchange": Estimate, "exchange_squared": Estimate, "drag": Estimate, "translation_before": Estimate, "translation_after": Estimate, "rotation_before": Estimate, "rotation_after": Estimate, "mean_angle": Estimate, "angle": ScatterAngle, "excluded_volume": Estimate, "second_virial_coefficient": Estimate, "audit": ScatterAudit, "performance": ScatterPerformance}

    title: Optional[str]
    """The scene's."""
    version: str
    """Of the program."""
    scene: str
    """The hash of the scene's text."""
    bodies: list[str]
    """The two."""
    settings: ScatterSettings
    """What the beam is."""
    stopped: Literal["samples", "interrupted"]
    """What ended it."""
    samples: int
    """How many were taken."""
    hits: int
    """Those that touched."""
    unresolved: int
    """Those that could not be followed until the bodies parted."""
    general: int
    """Those that the general engine ran."""
    disc_radius: float
    """Of the disc that the beam covers, m."""
    reduced_mass: float
    """kg."""
    cross_section: Estimate
    """m²."""
    rate: Estimate
    """Cross-section times relative speed, m³/s."""
    diffusion_cross_section: Optional[Estimate]
    """Weighted by 1 − cos χ, m²."""
    viscosity_cross_section: Optional[Estimate]
    """Weighted by 1 − cos² χ, m²."""
    impacts: Optional[Estimate]
    """Of a hit."""
    energy_loss: Optional[Estimate]
    """Of a hit, as a part of the kinetic energy before."""
    exchange: Optional[Estimate]
    """Of energy between translation and rotation in a hit, J."""
    exchange_squared: Optional[Estimate]
    """Its square, J²."""
    drag: Optional[Estimate]
    """Of a hit, along the beam."""
    translation_before: Optional[Estimate]
    """Energy of the relative motion before a hit, J."""
    translation_after: Optional[Estimate]
    """And after."""
    rotation_before: Optional[Estimate]
    """Energy of the rotation before a hit, J."""
    rotation_after: Optional[Estimate]
    """And after."""
    mean_angle: Optional[Estimate]
    """The scattering angle χ, rad."""
    angle: Records[ScatterAngle]
    """The distribution of cos χ, in bins."""
    excluded_volume: Optional[Estimate]
    """That the two exclude, m³."""
    second_virial_coefficient: Optional[Estimate]
    """Half of that, m³."""
    audit: ScatterAudit
    """The worst that independent checks found."""
    hash: str
    """Of the bits of all samples, in whatever order they were taken."""
    notes: list[str]
    """What is worth a word."""
    performance: ScatterPerformance
    """The only numbers that differ from run to run."""


class GeneralizedRankMargin(Record):
    """How clear the rank is."""

    __slots__ = ()

    smallest_kept: Optional[float]
    """The smallest singular value that counts."""
    largest_dropped: Optional[float]
    """The largest that does not."""
    threshold: float
    """Between them."""
    amplification: float
    """By which joints and near-dependent rows enlarge rounding."""


class GeneralizedSelfStress(Record):
    """What can be added to the impulses without an effect."""

    __slots__ = ()
    _arrays = {"contacts": "float64", "bilateral": "float64"}

    contacts: Floats
    """One for each contact row."""
    bilateral: Floats
    """One for each bilateral row."""


class GeneralizedUnequalCircuit(Record):
    """Dependent rows whose restitutions differ."""

    __slots__ = ()
    _arrays = {"rows": "int64", "restitution": "float64"}

    rows: NDArray[np.int64]
    """Their numbers."""
    restitution: Floats
    """Of each."""


class GeneralizedStep(Record):
    """Of a cascade or sequence."""

    __slots__ = ()
    _arrays = {"rows": "int64", "impulses": "float64", "approach": "float64", "separation": "float64"}

    rows: NDArray[np.int64]
    """The rows with impulses."""
    impulses: Floats
    """Of each of those rows."""
    approach: Floats
    """Before the step."""
    separation: Floats
    """After it."""
    energy_change: float
    """J."""


class GeneralizedFrictionPhase(Record):
    """One after another."""

    __slots__ = ()

    mode: Literal["slip", "jam", "stick", "reverse_slip"]
    """What the contact does."""
    # `["from"]`, float: Normal impulse at the beginning, N s.
    to: float
    """And at the end."""
    restitution: bool
    """Whether it is in restitution."""


class GeneralizedFriction(Record):
    """What contacts with Coulomb friction went through."""

    __slots__ = ()
    _parts = {"phases": GeneralizedFrictionPhase}

    normal: int
    """The row of the normal."""
    termination: Literal["stronge", "poisson", "newton"]
    """How it ended."""
    compression_impulse: float
    """At the end of compression, N s."""
    phases: Records[GeneralizedFrictionPhase]
    """One after another."""


class GeneralizedFrictionDemand(Record):
    """The friction that rough contacts would need."""

    __slots__ = ()

    normal: int
    """The row of the normal."""
    coefficient: Optional[float]
    """Null: no coefficient is enough."""


class GeneralizedDocument(Answer):
    """The impact problem given as matrices."""

    __slots__ = ()
    _parts = {"energy": Energy, "rank_margin": GeneralizedRankMargin, "self_stresses": GeneralizedSelfStress, "unequal_circuits": GeneralizedUnequalCircuit, "steps": GeneralizedStep, "friction": GeneralizedFriction, "friction_demand": GeneralizedFrictionDemand, "audit": ProblemAudit}
    _arrays = {"velocity_before": "float64", "velocity": "float64", "impulses": "float64", "bilateral_impulses": "float64", "approach": "float64", "separation": "float64", "work": "float64", "blocked": "int64", "delassus": "float64", "projector": "float64"}

    title: Optional[str]
    """The file's."""
    source: Optional[str]
    """The file's."""
    law: Law
    """The impact law."""
    status: Literal["no_impact", "resolved", "inconsistent", "steps_exhausted"]
    """How it ended."""
    velocity_before: Floats
    """Generalised velocities before."""
    velocity: Floats
    """And after."""
    impulses: Floats
    """One for each contact row."""
    bilateral_impulses: Floats
    """One for each bilateral row."""
    approach: Floats
    """Relative velocity of each contact row before; negative: closing."""
    separation: Floats
    """And after."""
    work: Floats
    """Of each contact row's impulse, J."""
    energy: Energy
    """The kinetic energy."""
    rank: int
    """Of the active rows."""
    rank_margin: GeneralizedRankMargin
    """How clear the rank is."""
    rounding: float
    """A bound on what rounding may have done to the velocity, relative to √(2T)."""
    blocked: NDArray[np.int64]
    """Contact rows that the joints block."""
    velocity_unique: bool
    """Whether the law determines the velocity."""
    impulse_unique: bool
    """Whether it determines the impulses."""
    consistent: bool
    """Whether the law's equations have a solution."""
    admissible: bool
    """All impulses push, no contact keeps closing, no energy gained."""
    self_stresses: Records[GeneralizedSelfStress]
    """What can be added to the impulses without an effect."""
    unequal_circuits: Records[GeneralizedUnequalCircuit]
    """Dependent rows whose restitutions differ."""
    steps: Records[GeneralizedStep]
    """Of a cascade or sequence."""
    friction: Records[GeneralizedFriction]
    """What contacts with Coulomb friction went through."""
    friction_demand: Records[GeneralizedFrictionDemand]
    """The friction that rough contacts would need."""
    notes: list[object]
    """What is worth a word: sentences, or tables of one entry."""
    delassus: Floats
    """N G⁻¹ Nᵀ, reduced by the joints."""
    projector: Floats
    """On the admissible velocities."""
    audit: ProblemAudit
    """An independent check."""


class PaperPaper(Record):
    """The list."""

    __slots__ = ()

    name: str
    """For `carom paper NAME`."""
    citation: str
    """The paper."""
    version: str
    """Which text of it."""
    rows: int
    """How many values are compared."""


class PaperRow(Record):
    """One for each printed value."""

    __slots__ = ()
    _parts = {"printed": Shown, "closed_form": Shown, "computed": Shown}

    scene: str
    """The scene, in cases/papers."""
    title: str
    """The scene's title."""
    version: str
    """Which text is quoted."""
    equation: str
    """Its number."""
    quantity: str
    """What it is."""
    printed: Shown
    """What the paper prints."""
    closed_form: Optional[Shown]
    """What a formula gives."""
    computed: Shown
    """What the program computes."""
    corrected: object
    """The value meant, where a misprint is clear."""
    verdict: Literal["agrees", "misprint", "wrong", "narrow", "beyond"]
    """How the two stand."""
    erratum: Optional[str]
    """What is meant, or holds."""
    note: Optional[str]
    """What else to know."""
    scale: float
    """Of the values."""
    tolerance: float
    """Within which they agree."""


class PaperDocument(Answer):
    """A published example, what is printed beside what is computed; without a name, the list of papers."""

    __slots__ = ()
    _parts = {"papers": PaperPaper, "rows": PaperRow}

    papers: Records[PaperPaper]
    """Absent where it is not asked for or has no meaning. The list."""
    paper: str
    """Absent where it is not asked for or has no meaning. Its name."""
    citation: str
    """Absent where it is not asked for or has no meaning. The paper."""
    version: str
    """Absent where it is not asked for or has no meaning. Which text of it."""
    rows: Records[PaperRow]
    """Absent where it is not asked for or has no meaning. One for each printed value."""


class ParadoxContact(Record):
    """The contact's kinematics."""

    __slots__ = ()
    _arrays = {"point": "float64", "normal": "float64", "w": "float64", "slip": "float64"}

    point: Floats
    """m."""
    normal: Floats
    """Unit."""
    gap: float
    """m."""
    v: float
    """g'."""
    g2: float
    """g''."""
    g3: float
    """g'''."""
    w: Floats
    """rad/s."""
    slip: Floats
    """m/s."""


class ParadoxDocument(Answer):
    """Initial conditions of a paradox."""

    __slots__ = ()
    _parts = {"contact": ParadoxContact}

    outcome: str
    """`found`, or why there is none."""
    type: Type
    """That was asked for."""
    planar: bool
    """Whether the motion is in a plane."""
    seed: int
    """Of the search."""
    reason: str
    """Absent where it is not asked for or has no meaning. Why there is none."""
    tries: int
    """Absent where it is not asked for or has no meaning. How many were looked at."""
    contact: ParadoxContact
    """Absent where it is not asked for or has no meaning. The contact's kinematics."""
    certificate: object
    """Absent where it is not asked for or has no meaning. Gaps before and after."""
    contact_time: float
    """Absent where it is not asked for or has no meaning. When they touch in the scene, s."""
    scene: object
    """Absent where it is not asked for or has no meaning. A scene to run."""

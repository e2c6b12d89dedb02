// What happens, as arrows: contacts with their normals and impulses, held forces, angular momenta, velocities.

import { Color, Vector3 } from 'three';
import { Arrows } from './arrows';
import { forceAt, type Hold, size as sizeOf } from './forces';
import type { RunEvent } from './protocol';
import { extreme, foldPoint, turnOf } from './support';
import type { Palette } from './theme';
import type { Timeline } from './timeline';

/** Which of them are drawn. */
export interface MarkLayers {
  contacts: boolean;
  impulses: boolean;
  forces: boolean;
  spins: boolean;
  velocities: boolean;
}

/** The time drawn, how long an event shows, and the event that always does. */
export interface Moment {
  t: number;
  recent: number;
  chosen: RunEvent | null;
}

// The most events shown at a time, and the most bodies that have arrows of their own.
const RECENT = 24;
const BODIES = 150;

export class Marks {
  private arrows = new Arrows();
  private holds: readonly Hold[] = [];
  private largestForce = 0;

  get root(): Arrows['root'] {
    return this.arrows.root;
  }

  /** The contacts that last; the largest force is as long as the largest impulse. */
  setHolds(holds: readonly Hold[]): void {
    this.holds = holds;
    this.largestForce = 0;
    for (const hold of holds) {
      for (const force of hold.forces)
        this.largestForce = Math.max(this.largestForce, Math.abs(sizeOf(hold, force)));
    }
  }

  /** Draws all that `layers` asks for, for bodies of about this size at these poses. */
  draw(
    timeline: Timeline,
    poses: Float64Array,
    size: number,
    layers: MarkLayers,
    moment: Moment,
    colours: Palette,
  ): void {
    this.arrows.clear();
    if (layers.contacts || layers.impulses) this.drawEvents(timeline, size, layers, moment, colours);
    if (layers.forces) this.drawForces(timeline, poses, size, moment.t, colours);
    if (layers.spins)
      this.drawVectors(poses, size, spins(timeline, poses, moment.t), new Color(colours.spin));
    if (layers.velocities)
      this.drawVectors(poses, size, velocities(timeline, moment.t), new Color(colours.normal));
    this.arrows.finish();
  }

  private drawEvents(
    timeline: Timeline,
    size: number,
    layers: MarkLayers,
    { t, recent, chosen }: Moment,
    colours: Palette,
  ): void {
    const last = timeline.eventTimes.upTo(t);
    for (let i = last - 1; i >= 0 && last - i <= RECENT; i--) {
      const event = timeline.events[i];
      const age = t - event.time;
      if (age > recent) break;
      if (event !== chosen)
        this.drawEvent(timeline, event, recent > 0 ? 1 - 0.8 * (age / recent) : 1, size, layers, colours);
    }
    if (chosen !== null && Math.abs(chosen.time - t) <= recent)
      this.drawEvent(timeline, chosen, 1, size, layers, colours);
  }

  private drawEvent(
    timeline: Timeline,
    event: RunEvent,
    strength: number,
    size: number,
    layers: MarkLayers,
    colours: Palette,
  ): void {
    const at = new Vector3(...foldPoint(event.point, timeline.header.periodic));
    if (layers.contacts) {
      const normal = new Vector3(...event.normal).multiplyScalar(0.8 * size);
      this.arrows.arrow(at, normal, 0.022 * size, new Color(colours.normal));
      this.arrows.dot(at, 0.055 * size * (0.5 + 0.5 * strength), new Color(colours.contact));
    }
    const largest = timeline.largestImpulse;
    if (!layers.impulses || largest === 0 || event.kind !== 'impact') return;
    const length = (2.2 * size * strength * Math.hypot(...event.impulse_vector)) / largest;
    const impulse = new Vector3(...event.impulse_vector).setLength(Math.max(length, 0.25 * size * strength));
    this.pair(at, impulse, size, new Color(colours.impulse));
  }

  // A smooth contact presses along the normal, so that the force says where on the body it acts.
  private drawForces(
    timeline: Timeline,
    poses: Float64Array,
    size: number,
    t: number,
    colours: Palette,
  ): void {
    for (const hold of this.holds) {
      const force = forceAt(hold, t);
      if (force === null) continue;
      const normal = new Vector3(...(hold.normal ?? force)).normalize();
      const { shape } = timeline.header.bodies[hold.body];
      const at = extreme(shape, poses, hold.body, normal.clone().negate(), new Vector3());
      normal.multiplyScalar((2.2 * size * sizeOf(hold, force)) / this.largestForce);
      this.pair(at, normal, size, new Color(colours.force));
      this.arrows.dot(at, 0.05 * size, new Color(colours.contact));
    }
  }

  // Action and reaction.
  private pair(at: Vector3, vector: Vector3, size: number, colour: Color): void {
    this.arrows.arrow(at, vector, 0.05 * size, colour);
    this.arrows.arrow(at, vector.clone().negate(), 0.05 * size, colour);
  }

  // A vector of each body at its centre, the longest three bodies long.
  private drawVectors(poses: Float64Array, size: number, vectors: Map<number, Vector3>, colour: Color): void {
    let largest = 0;
    for (const vector of vectors.values()) largest = Math.max(largest, vector.length());
    if (largest === 0) return;
    for (const [body, vector] of vectors) {
      const at = new Vector3().fromArray(poses, 7 * body);
      this.arrows.arrow(at, vector.multiplyScalar((3 * size) / largest), 0.04 * size, colour);
    }
  }

  dispose(): void {
    this.arrows.dispose();
  }
}

// Each body's angular momentum about its centre, R diag(J) Rᵀ ω.
function spins(timeline: Timeline, poses: Float64Array, t: number): Map<number, Vector3> {
  const found = new Map<number, Vector3>();
  for (let body = 0; body < Math.min(timeline.bodies, BODIES); body++) {
    const { fixed, inertia } = timeline.header.bodies[body];
    const spin = timeline.spin(body, t);
    if (fixed || spin === null) continue;
    const turn = turnOf(poses, body);
    const value = new Vector3(...spin).applyQuaternion(turn.clone().conjugate());
    found.set(body, value.multiply(new Vector3(...inertia)).applyQuaternion(turn));
  }
  return found;
}

function velocities(timeline: Timeline, t: number): Map<number, Vector3> {
  const found = new Map<number, Vector3>();
  for (let body = 0; body < Math.min(timeline.bodies, BODIES); body++) {
    found.set(body, new Vector3(...timeline.state(body, t).velocity));
  }
  return found;
}

// Held forces, from what the bodies do: between two keyframes of a body with velocities v and v', h apart,
//   F = m ((v' − v) / h − g)
// is the mean of what its contacts exert on it. Impulses are not part of it, as every impact is a keyframe with its own
// velocities before and after. It is taken while a contact of the body lasts, which the events say, and stands for the
// middle of the interval, where it is good to second order. A body that several contacts hold at a time shows their sum.

import type { RunEvent, Vector } from './protocol';
import type { Timeline } from './timeline';

/** A contact that lasts: which body it holds, from when to when, and the mean forces in between. */
export interface Hold {
  bodies: [string, string];
  body: number;
  from: number;
  until: number;
  /** The normal of the plane, where the first side is one. */
  normal: Vector | null;
  times: number[];
  forces: Vector[];
}

const BEGINS = new Set(['hold_begin', 'rest']);
const ENDS = new Set(['hold_end']);

/** The stretches of time for which pairs stay in contact, in the order of their beginnings. */
export function lasting(
  events: readonly RunEvent[],
  end: number,
): { bodies: [string, string]; from: number; until: number }[] {
  const found: { bodies: [string, string]; from: number; until: number }[] = [];
  const open = new Map<string, number>();
  for (const event of events) {
    const key = JSON.stringify(event.bodies);
    if (BEGINS.has(event.kind) && !open.has(key)) {
      open.set(key, found.length);
      found.push({ bodies: event.bodies, from: event.time, until: end });
    }
    const begun = open.get(key);
    if (ENDS.has(event.kind) && begun !== undefined) {
      found[begun].until = event.time;
      open.delete(key);
    }
  }
  return found;
}

/** All sustained contacts, with their forces; empty if the frames have no velocities. */
export function heldForces(timeline: Timeline): Hold[] {
  const { header } = timeline;
  const numbers = new Map(header.bodies.map((body, i) => [body.name, i]));
  const planes = new Map(header.planes.map((plane) => [plane.name, plane.normal]));
  // The force of a joint is not a contact force, but cannot be told apart from one here.
  const tied = new Set(header.joints.flatMap((joint) => joint.bodies));
  const holds: Hold[] = [];
  for (const { bodies, from, until } of lasting(timeline.events, timeline.end)) {
    // Of two bodies, one that is fixed would say nothing of the force.
    const sides = [bodies[1], bodies[0]].map((name) => numbers.get(name));
    const body = sides.find(
      (side) => side !== undefined && !header.bodies[side].fixed && !tied.has(header.bodies[side].name),
    );
    if (body === undefined) continue;
    const hold: Hold = {
      bodies,
      body,
      from,
      until,
      normal: planes.get(bodies[0]) ?? null,
      times: [],
      forces: [],
    };
    const { mass } = header.bodies[body];
    const keys = timeline.velocities(body, from, until);
    const shortest = 1e-3 * header.sample;
    for (let i = 0; i + 1 < keys.length; i++) {
      const h = keys[i + 1].time - keys[i].time;
      if (h <= shortest) continue;
      hold.times.push(keys[i].time + 0.5 * h);
      hold.forces.push(
        keys[i].after.map((v, k) => mass * ((keys[i + 1].before[k] - v) / h - header.gravity[k])) as Vector,
      );
    }
    if (hold.times.length > 0) holds.push(hold);
  }
  return holds;
}

/** The size of a force: along the plane's normal, or as it is. */
export function size(hold: Hold, force: Vector): number {
  return hold.normal === null
    ? Math.hypot(...force)
    : force.reduce((sum, f, k) => sum + f * (hold.normal as Vector)[k], 0);
}

/** The force at time t, linear between the middles of the intervals; null while the contact is not held. */
export function forceAt(hold: Hold, t: number): Vector | null {
  if (t < hold.from || t > hold.until) return null;
  const { times, forces } = hold;
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return forces[0];
  if (low === times.length) return forces[times.length - 1];
  const s = (t - times[low - 1]) / (times[low] - times[low - 1]);
  return forces[low - 1].map((f, k) => (1 - s) * f + s * forces[low][k]) as Vector;
}

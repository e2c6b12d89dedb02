// How large a scene is, and which way is up: what the camera, the walls and the arrows go by.

import { Vector3 } from 'three';
import { endOf, type Rod } from './links';
import { fold } from './support';
import type { Timeline } from './timeline';

export interface Extent {
  up: Vector3;
  centre: Vector3;
  /** Half of the sides of the box around it all. */
  half: Vector3;
  radius: number;
  /** The size of a body in the middle between small and large. */
  size: number;
  /** How far each body reaches from its centre, about. */
  reach: Float64Array;
}

// Bodies that planes or joints keep together are looked at all through the run, others at the start.
const INSTANTS = 24;

export function extentOf(timeline: Timeline, rods: readonly Rod[]): Extent {
  const { header } = timeline;
  const mean = header.bodies.map(({ shape }) => Math.hypot(...shape.semi_axes) / Math.sqrt(3));
  // Long bodies mostly do not point at us.
  const reach = Float64Array.from(header.bodies, ({ shape }, i) =>
    Math.max(mean[i], 0.8 * Math.max(...shape.semi_axes)),
  );
  const sizes = mean.filter((r) => r > 0).sort((a, b) => a - b);
  const gravity = new Vector3(...header.gravity);
  const up = gravity.length() > 0 ? gravity.normalize().negate() : new Vector3(0, 0, 1);
  const [low, high] = boundsOf(timeline, rods, mean, reach);
  const half = high.clone().sub(low).multiplyScalar(0.5);
  return {
    up,
    centre: low.clone().add(high).multiplyScalar(0.5),
    half,
    radius: Math.max(half.length(), 1e-9),
    size: sizes[sizes.length >> 1] ?? 0.1,
    reach,
  };
}

function boundsOf(
  timeline: Timeline,
  rods: readonly Rod[],
  mean: number[],
  reach: Float64Array,
): [Vector3, Vector3] {
  const { header } = timeline;
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = new Vector3(-Infinity, -Infinity, -Infinity);
  // Fixed bodies that dwarf the others are scenery, not what one came to see.
  const all = header.bodies.map((_, i) => i);
  const largest = all.reduce((most, i) => (header.bodies[i].fixed ? most : Math.max(most, mean[i])), 0);
  const counted = largest > 0 ? all.filter((i) => !header.bodies[i].fixed || mean[i] < 8 * largest) : all;
  const bound = header.periodic === null && (header.planes.length > 0 || rods.length > 0);
  const instants = bound ? INSTANTS : 1;
  const poses = new Float64Array(7 * timeline.bodies);
  const at = new Vector3();
  for (let k = 0; k < instants; k++) {
    timeline.poses(timeline.start + ((timeline.end - timeline.start) * k) / Math.max(1, instants - 1), poses);
    fold(poses, header.periodic);
    for (const body of counted) {
      at.fromArray(poses, 7 * body);
      low.min(at.subScalar(reach[body]));
      high.max(at.addScalar(2 * reach[body]));
    }
    for (const rod of rods) {
      const end = endOf(rod, poses);
      low.min(end);
      high.max(end);
    }
  }
  header.periodic?.forEach((length, i) => {
    if (!(length > 0)) return;
    low.setComponent(i, 0);
    high.setComponent(i, length);
  });
  return Number.isFinite(low.x) ? [low, high] : [new Vector3(-1, -1, -1), new Vector3(1, 1, 1)];
}

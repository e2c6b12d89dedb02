// Where the bodies' centres have been: one set of line segments for all, fading into the background.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
} from 'three';
import type { Timeline } from './timeline';

const POINTS = 72;
/** Bodies that get a trail of their own while all of them do. */
export const TRAILS = 60;

export class Trails {
  readonly root: LineSegments<BufferGeometry, LineBasicMaterial>;
  private positions: Float32Array;
  private colours: Float32Array;
  private times = new Float64Array(POINTS);
  private path = new Float32Array(3 * POINTS);
  private shift = [0, 0, 0];

  constructor(private readonly capacity: number) {
    const vertices = 2 * (POINTS - 1) * capacity;
    this.positions = new Float32Array(3 * vertices);
    this.colours = new Float32Array(3 * vertices);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(this.positions, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute('color', new BufferAttribute(this.colours, 3).setUsage(DynamicDrawUsage));
    this.root = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
    this.root.frustumCulled = false;
  }

  /** Draws the last `span` of time of the given bodies, up to t. */
  draw(
    timeline: Timeline,
    bodies: readonly number[],
    t: number,
    span: number,
    colourOf: (body: number) => Color,
    background: Color,
    box: readonly number[] | null,
  ): void {
    const begin = Math.max(timeline.knownFrom(t), t - span);
    const mixed = new Color();
    let vertex = 0;
    if (t > begin) {
      for (let i = 0; i < POINTS; i++) this.times[i] = begin + ((t - begin) * i) / (POINTS - 1);
      for (const body of bodies.slice(0, this.capacity)) {
        timeline.path(body, this.times, this.path);
        const colour = colourOf(body);
        for (let i = 0; i + 1 < POINTS; i++) {
          const from = 3 * i;
          if (!this.fold(from, box)) continue;
          mixed.copy(background).lerp(colour, 0.15 + 0.75 * (i / POINTS));
          for (let end = 0; end < 2; end++) {
            for (let k = 0; k < 3; k++)
              this.positions[3 * vertex + k] = this.path[from + 3 * end + k] - this.shift[k];
            this.colours[3 * vertex] = mixed.r;
            this.colours[3 * vertex + 1] = mixed.g;
            this.colours[3 * vertex + 2] = mixed.b;
            vertex++;
          }
        }
      }
    }
    this.root.visible = vertex > 0;
    this.root.geometry.setDrawRange(0, vertex);
    this.root.geometry.getAttribute('position').needsUpdate = true;
    this.root.geometry.getAttribute('color').needsUpdate = true;
  }

  // By how much a piece of the path is wrapped into the box; false where it leaves on one side and re-enters on the other.
  private fold(from: number, box: readonly number[] | null): boolean {
    if (box === null) return true;
    for (let k = 0; k < 3; k++) {
      if (!(box[k] > 0)) continue;
      const boxes = Math.floor(this.path[from + k] / box[k]);
      if (Math.floor(this.path[from + 3 + k] / box[k]) !== boxes) return false;
      this.shift[k] = boxes * box[k];
    }
    return true;
  }

  dispose(): void {
    this.root.geometry.dispose();
    this.root.material.dispose();
  }
}

// The surface |x/a|^p + |y/b|^p + |z/c|^p = 1 as triangles.
//
// Six faces of a cube, each a grid (u, v) in [−1, 1]², pushed out along rays: (u, v, 1) / ‖(u, v, 1)‖_p. A grid even in
// u leaves rounded edges with too few points when p is large, and one even in the normal's angle leaves flat sides with
// none. So the grid lines are placed on the curve |x|^p + |z|^p = 1 evenly in the sum of both: arc length and turn of the
// normal, each as a part of its whole. The mesh is that of unit semi-axes; a body scales it by its own, and the
// normals with it.

export interface Mesh {
  positions: Float32Array;
  normals: Float32Array;
  indices: Uint32Array;
}

const SAMPLES = 1024;

/** Grid lines from −1 to 1, `cells` of them even in number, for exponent p. */
export function gridLines(cells: number, exponent: number): Float64Array {
  const half = cells / 2;
  const us = new Float64Array(SAMPLES + 1);
  const lengths = new Float64Array(SAMPLES + 1);
  const angles = new Float64Array(SAMPLES + 1);
  let x0 = 0;
  let z0 = 1;
  for (let i = 1; i <= SAMPLES; i++) {
    // Denser towards u = 1, where a large exponent turns the normal.
    const u = 1 - (1 - i / SAMPLES) ** 2;
    const r = (1 + u ** exponent) ** (-1 / exponent);
    us[i] = u;
    lengths[i] = lengths[i - 1] + Math.hypot(u * r - x0, r - z0);
    angles[i] = Math.atan(u ** (exponent - 1));
    x0 = u * r;
    z0 = r;
  }
  const measure = us.map((_, i) => lengths[i] / lengths[SAMPLES] + angles[i] / angles[SAMPLES]);
  const lines = new Float64Array(cells + 1);
  let k = 0;
  for (let j = 1; j <= half; j++) {
    const wanted = (2 * j) / half;
    while (k < SAMPLES - 1 && measure[k + 1] < wanted) k++;
    const part = (wanted - measure[k]) / (measure[k + 1] - measure[k]);
    const u = j === half ? 1 : us[k] + part * (us[k + 1] - us[k]);
    lines[half + j] = u;
    lines[half - j] = -u;
  }
  return lines;
}

/** The surface of unit semi-axes with `cells` (even) cells along each edge of the cube. */
export function superellipsoid(exponent: number, cells: number): Mesh {
  const p = exponent;
  const lines = gridLines(cells, p);
  const side = cells + 1;
  const vertices = 6 * side * side;
  const positions = new Float32Array(3 * vertices);
  const normals = new Float32Array(3 * vertices);
  const indices = new Uint32Array(36 * cells * cells);
  let vertex = 0;
  let index = 0;
  for (let face = 0; face < 6; face++) {
    const axis = face >> 1;
    const sign = face % 2 === 0 ? 1 : -1;
    const first = vertex;
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const direction = [0, 0, 0];
        direction[axis] = sign;
        direction[(axis + 1) % 3] = lines[i];
        direction[(axis + 2) % 3] = lines[j];
        const size = direction.reduce((sum, d) => sum + Math.abs(d) ** p, 0) ** (1 / p);
        const point = direction.map((d) => d / size);
        const gradient = point.map((d) => Math.sign(d) * Math.abs(d) ** (p - 1));
        const length = Math.hypot(...gradient);
        for (let k = 0; k < 3; k++) {
          positions[3 * vertex + k] = point[k];
          normals[3 * vertex + k] = gradient[k] / length;
        }
        vertex++;
      }
    }
    for (let i = 0; i < cells; i++) {
      for (let j = 0; j < cells; j++) {
        const a = first + i * side + j;
        const corners =
          sign > 0
            ? [a, a + side, a + 1, a + 1, a + side, a + side + 1]
            : [a, a + 1, a + side, a + 1, a + side + 1, a + side];
        for (const corner of corners) indices[index++] = corner;
      }
    }
  }
  return { positions, normals, indices };
}

/** Cells along an edge: fine for few bodies, coarse for many, so that the triangles stay below some three million. */
export function cellsFor(bodies: number, exponent: number): number {
  const sharp = exponent > 4 ? 1.5 : 1;
  const wanted = bodies <= 20 ? 28 : bodies <= 200 ? 16 : bodies <= 2000 ? 8 : 4;
  return 2 * Math.round((wanted * sharp) / 2);
}

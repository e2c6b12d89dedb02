// What does not move: planes with a grid, and the periodic box.

import {
  BoxGeometry,
  Color,
  DoubleSide,
  EdgesGeometry,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  Object3D,
  Plane,
  PlaneGeometry,
  Quaternion,
  Vector3,
} from 'three';
import type { Header } from './protocol';
import type { Palette } from './theme';

const Z = new Vector3(0, 0, 1);
// Each pixel of a wall is compared with all other planes, up to this many.
const CLIPPED = 12;

/** A length of 1, 2 or 5 times a power of ten, near to what is asked for. */
export function roundLength(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const part = length / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/** The wall of a half-space: from behind just its lines, so that one looks into a box through its walls. */
function wall(size: number, cell: number): Mesh<PlaneGeometry, MeshLambertMaterial> {
  const material = new MeshLambertMaterial({
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    forceSinglePass: true,
  });
  const uniforms = { gridColour: { value: new Color() }, cell: { value: cell }, reach: { value: size / 2 } };
  material.userData = uniforms;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec2 vPlace;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nvPlace = position.xy;');
    shader.fragmentShader = shader.fragmentShader
      .replace(
        '#include <common>',
        '#include <common>\nvarying vec2 vPlace;\nuniform vec3 gridColour;\nuniform float cell;\nuniform float reach;',
      )
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
        vec2 place = vPlace / cell;
        vec2 pixel = max(fwidth(place), vec2(1e-6));
        vec2 line = 1.0 - smoothstep(pixel * 0.5, pixel * 1.5, abs(fract(place - 0.5) - 0.5));
        float fade = smoothstep(1.0, 0.35, length(vPlace) / reach);
        float density = clamp(1.0 - max(pixel.x, pixel.y) * 2.0, 0.0, 1.0);
        float drawn = max(line.x, line.y) * density;
        diffuseColor.rgb = mix(diffuseColor.rgb, gridColour, drawn);
        diffuseColor.a = fade * (gl_FrontFacing ? mix(0.55, 0.9, drawn) : 0.22 * drawn);`,
      );
  };
  const mesh = new Mesh(new PlaneGeometry(size, size), material);
  mesh.receiveShadow = true;
  mesh.renderOrder = -1;
  return mesh;
}

export class Backdrop {
  readonly root = new Object3D();
  private walls: Mesh<PlaneGeometry, MeshLambertMaterial>[] = [];
  private box: LineSegments<EdgesGeometry, LineBasicMaterial> | null = null;

  constructor(header: Header, centre: Vector3, radius: number) {
    const cell = roundLength(radius / 3);
    for (const plane of header.planes) {
      const normal = new Vector3(...plane.normal);
      const mesh = wall(10 * radius, cell);
      mesh.quaternion.copy(new Quaternion().setFromUnitVectors(Z, normal));
      // The middle of the drawn part is the point of the plane nearest to the scene.
      mesh.position.copy(centre).addScaledVector(normal, plane.offset - normal.dot(centre));
      // Of each plane only what is free of the others is seen, so that walls end at their corners.
      if (header.planes.length <= CLIPPED) {
        const others = header.planes.filter((other) => other !== plane);
        const room = 1e-4 * radius;
        mesh.material.clippingPlanes = others.map(
          (other) => new Plane(new Vector3(...other.normal), room - other.offset),
        );
      }
      this.walls.push(mesh);
      this.root.add(mesh);
    }
    const lengths = header.periodic;
    if (lengths !== null) {
      const drawn = lengths.map((length) => (length > 0 ? length : 4 * radius)) as [number, number, number];
      const box = new LineSegments(new EdgesGeometry(new BoxGeometry(...drawn)), new LineBasicMaterial());
      box.position.set(
        ...(lengths.map((length, i) => (length > 0 ? length / 2 : centre.getComponent(i))) as [
          number,
          number,
          number,
        ]),
      );
      this.box = box;
      this.root.add(box);
    }
  }

  paint(palette: Palette): void {
    for (const mesh of this.walls) {
      mesh.material.color.set(palette.plane);
      mesh.material.emissive.set(palette.plane).multiplyScalar(0.25);
      (mesh.material.userData['gridColour'] as { value: Color }).value
        .set(palette.muted)
        .lerp(new Color(palette.plane), 0.6);
    }
    this.box?.material.color.set(palette.muted);
  }

  dispose(): void {
    for (const mesh of this.walls) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.box?.geometry.dispose();
    this.box?.material.dispose();
  }
}

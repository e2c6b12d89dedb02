// What one takes away: the scene, the run's document, a picture, a film, a model that moves.

import {
  AnimationClip,
  Color,
  Group,
  InterpolateDiscrete,
  InterpolateLinear,
  Mesh,
  MeshStandardMaterial,
  QuaternionKeyframeTrack,
  Scene,
  VectorKeyframeTrack,
} from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';
import { Bodies, isScaled, surfaceOf } from './bodies';
import { element } from './dom';
import type { Palette } from './theme';
import type { Timeline } from './timeline';

/** Hands a file to the browser. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = element('a', { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The canvases side by side as one PNG; each must have been drawn in this very task. */
export function picture(canvases: HTMLCanvasElement[]): Promise<Blob> {
  const sheet = element('canvas');
  sheet.width = canvases.reduce((sum, canvas) => sum + canvas.width, 0);
  sheet.height = Math.max(...canvases.map((canvas) => canvas.height));
  const context = sheet.getContext('2d');
  let x = 0;
  for (const canvas of canvases) {
    context?.drawImage(canvas, x, 0);
    x += canvas.width;
  }
  return new Promise((resolve, reject) => {
    sheet.toBlob(
      (blob) => (blob === null ? reject(new Error('The browser could not make a picture.')) : resolve(blob)),
      'image/png',
    );
  });
}

/** A film of a canvas: begins at once, and is whole when `finish` has been called. */
export class Film {
  private pieces: Blob[] = [];
  private recorder: MediaRecorder;
  readonly whole: Promise<Blob>;

  constructor(canvas: HTMLCanvasElement) {
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((t) =>
      MediaRecorder.isTypeSupported(t),
    );
    if (type === undefined) throw new Error('This browser cannot record video.');
    this.recorder = new MediaRecorder(canvas.captureStream(30), {
      mimeType: type,
      videoBitsPerSecond: 8_000_000,
    });
    this.recorder.addEventListener('dataavailable', ({ data }) => this.pieces.push(data));
    this.whole = new Promise((resolve) => {
      this.recorder.addEventListener('stop', () => resolve(new Blob(this.pieces, { type: 'video/webm' })));
    });
    this.recorder.start(500);
  }

  finish(): void {
    if (this.recorder.state !== 'inactive') this.recorder.stop();
  }
}

// Keys of all bodies together, so that the file stays within some ten megabytes.
const KEYS = 400_000;

/** Times of the model's keys: evenly spaced, and every event's, as a straight line between keys must not cut one off. */
export function keyTimes(timeline: Timeline): Float64Array {
  const room = Math.max(2, Math.floor(KEYS / Math.max(1, timeline.bodies)));
  const even = Math.min(room, Math.max(2, timeline.times.length));
  const times = new Set<number>();
  for (let i = 0; i < even; i++)
    times.add(timeline.start + ((timeline.end - timeline.start) * i) / (even - 1));
  if (timeline.events.length < room) for (const event of timeline.events) times.add(event.time);
  return Float64Array.from([...times].sort((a, b) => a - b));
}

/** The run as a binary glTF with one animation: a node a body, by its name. */
export async function model(timeline: Timeline, colours: Palette): Promise<Blob> {
  const { header } = timeline;
  const scene = new Scene();
  scene.name = header.title;
  // glTF is y-up; scenes are z-up.
  const world = new Group();
  world.rotation.x = -Math.PI / 2;
  scene.add(world);
  const materials = new Map<string, MeshStandardMaterial>();
  const nodes = header.bodies.map((body, i) => {
    const colour = Bodies.colour(header, i, colours).getHexString();
    let material = materials.get(colour);
    if (material === undefined) {
      material = new MeshStandardMaterial({ color: new Color(`#${colour}`), roughness: 0.45, metalness: 0 });
      materials.set(colour, material);
    }
    const mesh = new Mesh(surfaceOf(body.shape, header.bodies.length), material);
    mesh.name = body.name;
    mesh.userData = { name: body.name };
    if (isScaled(body.shape)) mesh.scale.set(...body.shape.semi_axes);
    world.add(mesh);
    return mesh;
  });
  const times = keyTimes(timeline);
  const many = times.length;
  const poses = new Float64Array(7 * timeline.bodies);
  const positions = nodes.map(() => new Float32Array(3 * many));
  const turns = nodes.map(() => new Float32Array(4 * many));
  for (let k = 0; k < many; k++) {
    timeline.poses(times[k], poses);
    for (let i = 0; i < nodes.length; i++) {
      const at = 7 * i;
      positions[i].set(poses.subarray(at, at + 3), 3 * k);
      turns[i].set([poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]], 4 * k);
    }
  }
  const seconds = Float32Array.from(times);
  // Straight lines between samples would lead bodies through one another where they collided in between.
  const way = timeline.completeUntil < timeline.end ? InterpolateDiscrete : InterpolateLinear;
  const tracks = nodes.flatMap((node, i) => [
    new VectorKeyframeTrack(`${node.uuid}.position`, seconds, positions[i], way),
    new QuaternionKeyframeTrack(`${node.uuid}.quaternion`, seconds, turns[i], way),
  ]);
  nodes.forEach((node, i) => {
    node.position.fromArray(positions[i]);
    node.quaternion.fromArray(turns[i]);
  });
  const clip = new AnimationClip('run', -1, tracks);
  const data = await new GLTFExporter().parseAsync(scene, {
    binary: true,
    animations: [clip],
    onlyVisible: false,
  });
  return new Blob([data as ArrayBuffer], { type: 'model/gltf-binary' });
}

// What is drawn is what happened: in no frame of the gallery do bodies lie in one another, between samples least of all.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { parse } from 'smol-toml';
import type { Header } from '../src/protocol';
import { drawn, ended, pause, PROGRAM, ROOT, scratchFile, Server, SITE, test } from './program';

/** What the page draws, as numbers. */
interface Drawn {
  header: Header;
  time: number;
  poses: number[];
}

const NAMES = readGallery();

function readGallery(): string[] {
  const list = execFileSync('ls', [join(ROOT, 'cases/gallery')])
    .toString()
    .split('\n');
  return list.filter((name) => name.endsWith('.toml')).map((name) => name.replace(/\.toml$/, ''));
}

async function look(page: Page): Promise<Drawn> {
  return page.evaluate(() => {
    const { carom } = window as unknown as {
      carom: { header: () => Header; time: () => number; poses: () => number[] };
    };
    return { header: carom.header(), time: carom.time(), poses: carom.poses() };
  });
}

/** Goes to a time, and waits until what happened there is known and drawn. */
async function seek(page: Page, time: number): Promise<Drawn> {
  await page.locator('#scrub').fill(String(time));
  await drawn(page);
  await expect(page.locator('#between')).toBeHidden();
  await drawn(page);
  return look(page);
}

type Table = Record<string, unknown>;

/** The deepest overlap of two bodies, or of a body and a plane, as drawn; joints' own bodies are left out. */
function deepest(text: string, { header, poses }: Drawn): number {
  const scene = parse(text) as Record<string, Table[]> & { world?: Table };
  const bodies = header.bodies.map((body, i) => ({ ...body, at: poses.slice(7 * i, 7 * i + 7) }));
  const balls = bodies.every(({ shape }) => shape.kind === 'sphere');
  if (balls && bodies.length > 40) return deepestOfBalls(header, bodies);
  const shapeOf = (name: string): unknown => {
    const own = (scene['body'] ?? []).find((body) => body['name'] === name);
    const fill = (scene['fill'] ?? []).find((entry) => name.startsWith(`${entry['name'] as string}[`));
    return (own ?? fill)?.['shape'];
  };
  const instant = {
    carom: 1,
    world: header.periodic === null ? {} : { periodic: header.periodic },
    body: bodies.map(({ name, at }) => ({
      name,
      shape: shapeOf(name),
      mass: 1,
      inertia: [1, 1, 1],
      position: at.slice(0, 3),
      orientation: at.slice(3),
    })),
    plane: (scene['plane'] ?? []).map(({ name, normal, offset }) => ({ name, normal, offset: offset ?? 0 })),
  };
  const file = scratchFile('instant.json', JSON.stringify(instant));
  try {
    const answer = execFileSync(PROGRAM, ['gap', file.path, '--json'], { maxBuffer: 1 << 28 });
    const { pairs } = JSON.parse(answer.toString()) as { pairs: { bodies: [string, string]; gap: number }[] };
    const tied = (name: string): boolean => header.joints.some((joint) => joint.bodies.includes(name));
    const fixed = new Set(header.bodies.filter((body) => body.fixed).map(({ name }) => name));
    const apart = pairs.filter(
      (pair) => !pair.bodies.every(tied) && !pair.bodies.every((name) => fixed.has(name)),
    );
    return Math.min(Infinity, ...apart.map(({ gap }) => gap));
  } finally {
    file.remove();
  }
}

function deepestOfBalls(
  header: Header,
  bodies: { shape: Header['bodies'][0]['shape']; at: number[] }[],
): number {
  let least = Infinity;
  const box = header.periodic ?? [0, 0, 0];
  for (let i = 0; i < bodies.length; i++) {
    const [a, r] = [bodies[i].at, bodies[i].shape.semi_axes[0]];
    for (const { normal, offset } of header.planes)
      least = Math.min(least, normal.reduce((sum, n, k) => sum + n * a[k], 0) - offset - r);
    for (let j = 0; j < i; j++) {
      const b = bodies[j].at;
      let square = 0;
      for (let k = 0; k < 3; k++) {
        let d = a[k] - b[k];
        if (box[k] > 0) d -= box[k] * Math.round(d / box[k]);
        square += d * d;
      }
      least = Math.min(least, Math.sqrt(square) - r - bodies[j].shape.semi_axes[0]);
    }
  }
  return least;
}

// Places come in single precision, and between keyframes a tumbling body is drawn to about this part of its size.
const ALLOWED = 2e-4;

test.describe('between samples', () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await Server.start();
  });
  test.afterAll(() => server.stop());

  for (const name of NAMES) {
    test(`bodies of ${name} are never drawn in one another`, async ({ page }) => {
      const text = readFileSync(join(ROOT, `cases/gallery/${name}.toml`), 'utf8');
      // Few pixels: rendering in software is what takes long.
      await page.setViewportSize({ width: 480, height: 420 });
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(`${server.address}#scene/${name}`);
      await ended(page);
      await pause(page);
      const times = await page.evaluate(() =>
        (window as unknown as { carom: { sampleTimes: () => number[] } }).carom.sampleTimes(),
      );
      const end = times[times.length - 1];
      // Anywhere, and not by chance at a sample.
      for (const part of [0.0637, 0.4541, 0.9389]) {
        const shown = await seek(page, part * end);
        const size = Math.max(...shown.header.bodies.flatMap(({ shape }) => shape.semi_axes));
        expect(deepest(text, shown) / (size > 0 ? size : 1), `at t = ${shown.time}`).toBeGreaterThan(
          -ALLOWED,
        );
      }
    });
  }

  test('what the test above looks for would be found', async ({ page }) => {
    const text = readFileSync(join(ROOT, 'cases/gallery/sphere_gas.toml'), 'utf8');
    await page.goto(`${server.address}#scene/sphere_gas`);
    await ended(page);
    await pause(page);
    const [a, b] = [await seek(page, 0), await seek(page, 2)];
    expect(deepest(text, a)).toBeGreaterThan(-ALLOWED);
    // Half-way between two samples on a straight line, as a film that knows no more would show it.
    const between = a.poses.map((x, i) => 0.5 * (x + b.poses[i]));
    expect(deepest(text, { ...a, poses: between })).toBeLessThan(-0.1);
  });
});

test('a run out of a folder that has only samples says so', async ({ page }) => {
  test.skip(SITE !== null, 'a browser reads no folder');
  const scene = scratchFile(
    'gas.toml',
    readFileSync(join(ROOT, 'cases/gallery/sphere_gas.toml'), 'utf8').replace('until = 10', 'until = 2'),
  );
  const folder = scene.path.replace('gas.toml', 'run');
  execFileSync(PROGRAM, ['run', scene.path, '-o', folder]);
  const server = await Server.start(folder);
  try {
    await page.goto(server.address);
    await ended(page);
    await pause(page);
    await page.locator('#scrub').fill('0.9');
    await expect(page.locator('#between')).toContainText('not recorded');
    const shown = await look(page);
    await page.locator('#scrub').fill('0');
    await drawn(page);
    // The same places, but for the last digit of a quaternion that is made to have unit length.
    const first = (await look(page)).poses;
    expect(Math.max(...first.map((x, i) => Math.abs(x - shown.poses[i])))).toBeLessThan(1e-12);
  } finally {
    server.stop();
    scene.remove();
  }
});

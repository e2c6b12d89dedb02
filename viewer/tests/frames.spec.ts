// What a frame of ten thousand bodies costs. Software rendering says nothing of a graphics card, so the time of the
// card is printed, and what is ours is held to limits: draw calls, and script time a frame.

import { expect } from '@playwright/test';
import { drawn, ended, scratchFile, Server, test } from './program';

const SIDE = 22;
const MANY = 10_000;

/** Ten thousand balls and superellipsoids on a lattice, all moving. */
function manyBodies(): string {
  const lines = [
    'carom = 1',
    'title = "Ten thousand bodies"',
    '[world]',
    `periodic = [${3 * SIDE}, ${3 * SIDE}, ${3 * SIDE}]`,
  ];
  for (let i = 0; i < MANY; i++) {
    const [x, y, z] = [i % SIDE, Math.floor(i / SIDE) % SIDE, Math.floor(i / SIDE / SIDE)].map(
      (k) => 1.5 + 3 * k,
    );
    const shape =
      i % 2 === 0
        ? '{ sphere = { radius = 0.8 } }'
        : '{ superellipsoid = { semi_axes = [0.6, 0.7, 0.9], exponent = 4 } }';
    const v = [Math.sin(i), Math.cos(1.7 * i), Math.sin(2.3 * i)].map((c) => c.toFixed(4));
    lines.push(`[[body]]\nname = "b${i}"\nshape = ${shape}\nmass = 1\nposition = [${x}, ${y}, ${z}]`);
    lines.push(`velocity = [${v.join(', ')}]\nangular_velocity = [${v.reverse().join(', ')}]`);
  }
  lines.push('[run]', 'until = 0.6', 'sample = 0.05', 'max_events = 4000');
  return lines.join('\n');
}

test('ten thousand bodies', async ({ page }) => {
  test.setTimeout(300_000);
  const file = scratchFile('many-bodies.toml', manyBodies());
  const server = await Server.start(file.path);
  try {
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.goto(server.address);
    await page.locator('#result [data-stopped]').waitFor({ state: 'attached', timeout: 240_000 });
    const costs: { script: number; submit: number; calls: number; triangles: number }[] = [];
    await page.locator('#content').focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('ArrowRight');
      await drawn(page);
      const data = await page.locator('#cost').evaluate((cost) => ({ ...(cost as HTMLElement).dataset }));
      costs.push({
        script: Number(data['scriptMs']),
        submit: Number(data['submitMs']),
        calls: Number(data['drawCalls']),
        triangles: Number(data['triangles']),
      });
    }
    const middle = (pick: (cost: (typeof costs)[0]) => number): number =>
      costs.map(pick).sort((a, b) => a - b)[costs.length >> 1];
    // Played for three seconds: how many frames the whole of it, rasterising on the processor included, gets through.
    await page.keyboard.press('Home');
    await page.keyboard.press(' ');
    const rate = await page.evaluate(async () => {
      const begun = performance.now();
      let frames = 0;
      while (performance.now() - begun < 3000) {
        await new Promise((done) => requestAnimationFrame(done));
        frames++;
      }
      return (1000 * frames) / (performance.now() - begun);
    });
    console.log(
      `${MANY} bodies: script ${middle((c) => c.script).toFixed(1)} ms, submission ${middle((c) => c.submit).toFixed(1)} ms, ` +
        `${middle((c) => c.calls)} draw calls, ${middle((c) => c.triangles)} triangles; ${rate.toFixed(1)} frames a second in software rendering`,
    );
    expect(middle((c) => c.calls)).toBeLessThanOrEqual(12);
    // 60 frames a second leave 16.7 ms; the machine that tests may be busy, so the best of them counts.
    expect(Math.min(...costs.map((c) => c.script))).toBeLessThan(16);
  } finally {
    server.stop();
    file.remove();
  }
});

test('the frames of a run that is watched are ours for a small part', async ({ page }) => {
  const server = await Server.start();
  try {
    await page.goto(`${server.address}#scene/gas`);
    await ended(page);
    const data = await page.locator('#cost').evaluate((cost) => ({ ...(cost as HTMLElement).dataset }));
    console.log(
      `100 bodies: script ${Number(data['scriptMs']).toFixed(2)} ms, ${data['drawCalls']} draw calls`,
    );
    expect(Number(data['drawCalls'])).toBeLessThanOrEqual(16);
  } finally {
    server.stop();
  }
});

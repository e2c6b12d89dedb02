// The static site by itself: the engine in it computes what the program computes, bit for bit, and a scene travels in a link.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { ended, pause, ROOT, runJson, Server, SITE, test, value } from './program';

test.skip(SITE === null, 'SITE names no static site');

interface Engine {
  memory: WebAssembly.Memory;
  carom_room(length: number): number;
  carom_ask(): number;
  carom_answer(): number;
}

/** The engine without a browser. */
async function engine(): Promise<(question: object) => { status: number; more: boolean; body: string }> {
  const bytes = readFileSync(join(SITE ?? '', 'play/engine.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const own = instance.exports as unknown as Engine;
  return (question) => {
    const text = new TextEncoder().encode(JSON.stringify(question));
    const room = own.carom_room(text.length);
    new Uint8Array(own.memory.buffer, room, text.length).set(text);
    const length = own.carom_ask();
    const answer = new Uint8Array(own.memory.buffer, own.carom_answer(), length).slice();
    const head = new DataView(answer.buffer, 0, 8);
    return {
      status: head.getUint32(0, true),
      more: head.getUint32(4, true) === 1,
      body: Buffer.from(answer.buffer, 8).toString(),
    };
  };
}

test('every scene of the gallery has the program’s numbers, bit for bit', async () => {
  test.setTimeout(600_000);
  const ask = await engine();
  const folder = join(ROOT, 'cases/gallery');
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.toml'))) {
    const text = readFileSync(join(folder, name), 'utf8');
    const begun = ask({ ask: 'begin', request: { text } });
    expect(begun.status, `${name}: ${begun.body.slice(0, 300)}`).toBe(201);
    const { id } = JSON.parse(begun.body) as { id: number };
    const started = performance.now();
    while (ask({ ask: 'advance', id, steps: 4096, wall_s: 0 }).more);
    const took = performance.now() - started;
    const own = JSON.parse(ask({ ask: 'document', id }).body) as Record<string, unknown>;
    const program = runJson(join(folder, name)) as unknown as Record<string, unknown>;
    const rate = (program['performance'] as { wall_s: number }).wall_s / (took / 1000);
    console.log(`${name}: ${took.toFixed(0)} ms, ${rate.toFixed(2)} of the program's speed`);
    // Events carry the states of their bodies for the page; times and versions differ.
    for (const key of ['events', 'final', 'audit', 'observables', 'stopped', 'energy'])
      expect(stripped(own[key]), `${name}: ${key}`).toEqual(stripped(program[key]));
  }
});

function stripped(value: unknown): unknown {
  if (!Array.isArray(value)) {
    // The pairs are looked at with every sample, and the program takes none where nobody asks for them.
    const { pairs, gap_searches, ...rest } = (value ?? {}) as Record<string, unknown>;
    return typeof value === 'object' ? rest : value;
  }
  return value.map((entry: Record<string, unknown>) => {
    const { states, ...rest } = entry;
    return rest;
  });
}

test('a link opens a scene at a time, with chosen plots', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const server = await Server.start();
  try {
    await page.goto(`${server.address}#scene/paradox&t=0.0683&tab=plots&plots=energy,force`);
    await ended(page);
    await expect.poll(() => value(page, '#now')).toBe(0.0683);
    await expect(page.locator('[data-chart=force]')).toBeVisible();
    await expect(page.locator('[data-chart=momentum]')).toBeHidden();
    await page.locator('#share summary').click();
    await page.locator('#share-link').click();
    await expect(page.locator('#announcement')).toContainText('link');
    const link = page.url();
    expect(link).toContain('#text/');
    const second = await context.newPage();
    await second.goto(link);
    await ended(second);
    await expect.poll(() => value(second, '#now')).toBe(0.0683);
    await expect(second.locator('#title')).toContainText('paradox');
    await expect(second.locator('[data-chart=momentum]')).toBeHidden();
    await second.goto(`${link.split('#')[0]}#text/broken`);
    await expect(second.locator('#announcement')).toContainText('damaged');
  } finally {
    server.stop();
  }
});

test('bodies that take long to place can be given up, and the next run works', async ({ page }) => {
  const server = await Server.start();
  try {
    await page.goto(`${server.address}#scene/graze`);
    await ended(page);
    await page.locator('#tab-scene').click();
    await page.locator('.cm-content').focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(`carom = 1
[[fill]]
name = "gas"
count = 20000
shape = { superellipsoid = { semi_axes = [1, 0.5, 0.5], exponent = 4 } }
mass = 1
packing_fraction = 0.5
temperature = 1
start = "random"
seed = 7
[run]
until = 1
sample = 0.1
`);
    await page.locator('#run').click();
    await expect(page.locator('#progress')).toBeVisible();
    await page.locator('#stop').click();
    await expect(page.locator('#announcement')).toContainText('Stopped');
    await page.goto(`${server.address}#scene/newtons_cradle`);
    await ended(page);
    await expect(page.locator('#title')).toContainText('cradle');
  } finally {
    server.stop();
  }
});

test('the front page, the book and the documentation are there', async ({ page }) => {
  const server = await Server.start();
  try {
    const root = server.address.replace('/play/', '/');
    await page.goto(root);
    for (const name of ['Playground', 'Book', 'Library']) {
      const link = page.getByRole('link', { name });
      const target = new URL((await link.getAttribute('href')) ?? '', root).href;
      expect((await page.request.get(target)).status(), name).toBe(200);
    }
    await page.getByRole('link', { name: 'Playground' }).click();
    await expect(page.locator('.card').first()).toBeVisible();
    await page.locator('.card[data-id=graze]').click();
    await ended(page);
    await pause(page);
  } finally {
    server.stop();
  }
});

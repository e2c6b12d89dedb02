// What a person does with the page, in a real browser, against the real program.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import {
  ended,
  listen,
  pause,
  PROGRAM,
  ROOT,
  runJson,
  scratchFile,
  Server,
  SITE,
  test,
  value,
} from './program';

const PARADOX = join(ROOT, 'cases/gallery/paradox.toml');

test.describe('from the gallery', () => {
  let server: Server;
  test.beforeAll(async () => {
    server = await Server.start();
  });
  test.afterAll(() => server.stop());

  test('the gallery has a card, with a picture, for each scene', async ({ page }) => {
    await page.goto(server.address);
    const cards = page.locator('.card');
    expect(await cards.count()).toBeGreaterThanOrEqual(12);
    const painted = async (): Promise<number> =>
      page
        .locator('.card canvas')
        .first()
        .evaluate((canvas: HTMLCanvasElement) => {
          const data =
            canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ??
            new Uint8ClampedArray();
          return new Set(new Uint32Array(data.buffer)).size;
        });
    await expect.poll(painted, { timeout: 30_000 }).toBeGreaterThan(50);
  });

  test('the paradox, scrubbed to its lift-off, shows what the program computes', async ({ page }) => {
    const document = runJson(PARADOX);
    const [begin, lift] = document.events;
    await page.goto(server.address);
    await page.locator('.card[data-id=paradox]').click();
    await ended(page);
    await pause(page);
    await page.keyboard.press('Home');
    expect(await value(page, '#now')).toBe(0);
    await page.keyboard.press('.');
    await expect.poll(() => value(page, '#now')).toBe(lift['time']);
    await page.locator('#tab-events').click();
    const fact = (name: string): Promise<number> => value(page, `#detail [data-fact="${name}"]`);
    await expect(page.locator('#detail h2').first()).toHaveText('Event 1: hold end');
    for (const name of [
      'time',
      'impulse',
      'energy_before',
      'energy_after',
      'approach',
      'separation',
      'gap',
    ]) {
      expect(await fact(name), name).toBe(lift[name]);
    }
    // The table has the same numbers, and a click in it goes there.
    await page.locator('#event-rows [data-index="0"]').click();
    await expect.poll(() => value(page, '#now')).toBe(begin['time']);
    for (const name of ['g2', 'g3', 'force_slope']) expect(await fact(name), name).toBe(begin[name]);
    expect(await value(page, '#event-rows [data-index="1"] .time')).toBe(lift['time']);
    expect(await value(page, '#event-rows [data-index="1"] .impulse')).toBe(lift['impulse']);
    // Classification: the third derivative of the published example, and the picture as an image.
    await expect.poll(() => fact('classify-g3')).toBeCloseTo(-15.318982299576987, 10);
    const picture = page.locator('img.neighbourhood');
    await expect(picture).toBeVisible();
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(100);
    // The gap's curve: free flight would overlap.
    await expect(page.locator('[data-chart=gap] canvas')).toBeVisible();
    // The result.
    for (const [name, expected] of Object.entries(document.audit)) {
      if (typeof expected !== 'number') continue;
      expect(
        Number(await page.locator(`#result [data-fact="${name}"]`).getAttribute('data-value')),
        name,
      ).toBe(expected);
    }
    for (const [name, state] of Object.entries(document.final)) {
      const cells = page.locator(`#result tr[data-body="${name}"] td`);
      expect(JSON.parse((await cells.nth(0).getAttribute('data-value')) ?? '')).toEqual(state.position);
      expect(JSON.parse((await cells.nth(1).getAttribute('data-value')) ?? '')).toEqual(state.velocity);
    }
    // The held force in its middle: the peak of the published example, 0.29567 at t = 0.0683, from samples 0.005 apart.
    await page.locator('#tab-plots').click();
    await page.locator('#scrub').fill('0.0683');
    await expect.poll(() => value(page, '[data-chart=force] [data-curve=force]')).toBeCloseTo(0.2957, 2);
    // Back leads to the gallery.
    await page.goBack();
    await expect(page.locator('#gallery')).toBeVisible();
  });

  test('hold versus pass: two stages, one clock, one of them overlaps', async ({ page }) => {
    await page.goto(`${server.address}#scene/paradox`);
    await ended(page);
    await page.locator('#paradox').click();
    await expect(page.locator('.stage canvas')).toHaveCount(2);
    await pause(page);
    await page.locator('#scrub').fill('0.1');
    const gap = (mode: string): Promise<number> =>
      page
        .locator(`.caption[data-mode=${mode}]`)
        .getAttribute('data-gap')
        .then((text) => (text === null || text === '' ? NaN : Number(text)));
    await expect.poll(() => gap('hold')).toBeCloseTo(0, 9);
    // As `carom gap --at 0.1` has it.
    await expect.poll(() => gap('pass')).toBeCloseTo(-0.0020464497, 5);
    await page.locator('#paradox').click();
    await expect(page.locator('.stage canvas')).toHaveCount(1);
  });

  test('an impact: the laws compared, slow motion, the plots move the time', async ({ page }) => {
    const document = runJson(join(ROOT, 'cases/gallery/collision.toml'));
    await page.goto(`${server.address}#scene/collision`);
    await ended(page);
    await pause(page);
    // Nothing of the energy is lost here, and rounding is not drawn.
    await expect(page.locator('[data-chart=energy] .conserved')).toContainText('conserved');
    await expect(page.locator('[data-chart=energy] .curve')).toBeHidden();
    const force = page.locator('[data-chart=force] .u-over');
    await force.click({ position: { x: 5, y: 20 } });
    const early = await value(page, '#now');
    await force.click({ position: { x: 200, y: 20 } });
    expect(await value(page, '#now')).toBeGreaterThan(early);
    await page.keyboard.press('Home');
    await page.keyboard.press('.');
    await expect.poll(() => value(page, '#now')).toBe(document.events[0]['time']);
    await page.locator('#tab-events').click();
    await expect(page.locator('table.laws tr[data-law]')).toHaveCount(6);
    const impulse = await value(page, 'table.laws tr[data-law=newton_lcp] td.number');
    expect(Math.abs(impulse / Number(document.events[0]['impulse']) - 1)).toBeLessThan(1e-12);
    await page.getByRole('button', { name: 'Slow motion' }).click();
    const during = await value(page, '#now');
    await expect.poll(() => value(page, '#now')).toBeGreaterThan(during);
    await pause(page);
  });

  test('the gallery is searched, a template is begun with, a file is opened and another dropped', async ({
    page,
  }) => {
    await page.goto(server.address);
    const cards = page.locator('.card:visible');
    const many = await cards.count();
    await page.locator('#gallery-filter').fill('ellipsoid GAS');
    await expect(page.locator('#gallery-count')).toContainText(`of ${many} scenes`);
    await expect(page.locator('.card[data-id=ellipsoid_gas]')).toBeVisible();
    await expect(page.locator('.card[data-id=newtons_cradle]')).toBeHidden();
    await page.locator('#gallery-filter').fill('');
    expect(await cards.count()).toBe(many);
    await page.locator('#new-from').selectOption('pair');
    await ended(page);
    await expect(page.locator('.cm-content')).toContainText('carom = 1');
    await page.goBack();
    await expect(page.locator('#gallery')).toBeVisible();
    await page.locator('#file').setInputFiles(join(ROOT, 'cases/gallery/graze.toml'));
    await expect(page.locator('#title')).toHaveText('A graze');
    await ended(page);
    const text = readFileSync(join(ROOT, 'cases/gallery/newtons_cradle.toml'), 'utf8');
    const dropped = await page.evaluateHandle((content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'cradle.toml'));
      return data;
    }, text);
    await page.dispatchEvent('#content', 'drop', { dataTransfer: dropped });
    await expect(page.locator('#title')).toContainText('cradle');
    await ended(page);
    await page.locator('#tab-result').click();
    await expect(page.locator('#result')).toContainText('cradle');
  });

  test('a mistake is shown at its line, and gone when it is mended', async ({ page }) => {
    await page.goto(`${server.address}#scene/collision`);
    await ended(page);
    await page.locator('#tab-scene').click();
    const lines = readFileSync(join(ROOT, 'cases/gallery/collision.toml'), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.startsWith('mass'));
    const wrong = [...lines];
    wrong[at] = 'mass = -1';
    await retype(page, wrong.join('\n'));
    const entry = page.locator('#diagnostics li').first();
    await expect(entry).toHaveAttribute('data-line', String(at + 1));
    await expect(page.locator('.cm-lintRange-error')).toHaveCount(1);
    await expect(page.locator('.cm-line', { has: page.locator('.cm-lintRange-error') })).toHaveText(
      'mass = -1',
    );
    await page.locator('#run').click();
    await expect(page.locator('#announcement')).toContainText('mistakes');
    await retype(page, lines.join('\n'));
    await expect(page.locator('#diagnostics')).toBeHidden();
    await expect(page.locator('#check')).toContainText('Fine');
    await page.locator('#run').click();
    await ended(page);
  });

  test('a long run shows its progress and can be stopped', async ({ page }) => {
    await page.goto(`${server.address}#scene/box`);
    await ended(page);
    await page.locator('#tab-scene').click();
    const text = readFileSync(join(ROOT, 'cases/gallery/box.toml'), 'utf8');
    await retype(
      page,
      text
        .replace(/^until = .*/m, 'until = 1e6')
        .replace(/^max_events = .*/m, 'max_events = 100000000')
        .replace(/^sample = .*/m, 'sample = 10'),
    );
    await page.locator('#run').click();
    await expect(page.locator('#progress')).toBeVisible();
    await expect(page.locator('#progress-text')).toContainText('events');
    await expect
      .poll(async () => (await page.locator('#event-count').textContent())?.length ?? 0)
      .toBeGreaterThan(3);
    await page.locator('#stop').click();
    await ended(page);
    await expect(page.locator('#result [data-stopped]')).toHaveAttribute('data-stopped', 'interrupted');
    // A hundred thousand rows cost no more than those in view.
    await page.locator('#tab-events').click();
    expect(await page.locator('#event-rows [role=row]').count()).toBeLessThan(60);
  });

  test('two tabs show one run, and one of their own', async ({ page, context, problems }) => {
    test.skip(SITE !== null, 'an engine in the browser belongs to its tab');
    await page.goto(`${server.address}#scene/wobbling_egg`);
    await ended(page);
    await pause(page);
    const second = await context.newPage();
    listen(second, problems);
    await second.goto(page.url());
    await ended(second);
    await pause(second);
    await expect(second.locator('#title')).toHaveText((await page.locator('#title').textContent()) ?? '');
    const times: number[] = [];
    for (const tab of [page, second]) {
      await tab.bringToFront();
      await tab.keyboard.press('Home');
      await tab.keyboard.press('.');
      times.push(await value(tab, '#now'));
    }
    expect(times[0]).toBeGreaterThan(0);
    expect(times[1]).toBe(times[0]);
    await second.goto(`${server.address}#scene/graze`);
    await second.reload();
    await ended(second);
    await expect(second.locator('#title')).toHaveText('A graze');
    await expect(page.locator('#title')).toHaveText('A wobbling egg');
  });

  test('everything can be taken away', async ({ page }) => {
    await page.goto(`${server.address}#scene/superball_under_table`);
    await ended(page);
    await pause(page);
    const take = async (id: string, timeout = 30_000): Promise<{ name: string; bytes: Buffer }> => {
      await page.locator('#share summary').click();
      const waiting = page.waitForEvent('download', { timeout });
      await page.locator(id).click();
      const download = await waiting;
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const scene = await take('#share-scene');
    expect(scene.name).toBe('a-superball-thrown-under-a-table.toml');
    expect(scene.bytes.toString()).toBe(
      readFileSync(join(ROOT, 'cases/gallery/superball_under_table.toml'), 'utf8'),
    );
    const run = JSON.parse((await take('#share-run')).bytes.toString()) as { events: { time: number }[] };
    expect(run.events.map(({ time }) => time)).toEqual(
      runJson(join(ROOT, 'cases/gallery/superball_under_table.toml')).events.map((event) => event['time']),
    );
    const picture = (await take('#share-picture')).bytes;
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect(picture.length).toBeGreaterThan(5000);
    const model = (await take('#share-model')).bytes;
    expect(model.subarray(0, 4).toString()).toBe('glTF');
    const gltf = JSON.parse(model.subarray(20, 20 + model.readUInt32LE(12)).toString()) as {
      animations: { channels: { target: { path: string } }[] }[];
      nodes: { extras?: { name: string } }[];
    };
    expect(gltf.animations[0].channels.map(({ target }) => target.path).sort()).toEqual([
      'rotation',
      'translation',
    ]);
    expect(gltf.nodes.some(({ extras }) => extras?.name === 'ball')).toBe(true);
    await page.locator('#speed').selectOption('0.2');
    await page.locator('#slow').uncheck();
    const film = (await take('#share-film', 60_000)).bytes;
    expect(film.subarray(0, 4).toString('hex')).toBe('1a45dfa3');
    expect(film.length).toBeGreaterThan(5000);
  });

  test('keys: play, step, events, help', async ({ page }) => {
    await page.goto(`${server.address}#scene/break_shot`);
    await ended(page);
    await pause(page);
    await page.locator('#content').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    const one = await value(page, '#now');
    expect(one).toBeGreaterThan(0);
    await page.keyboard.press('Shift+ArrowRight');
    expect(await value(page, '#now')).toBeCloseTo(11 * one, 9);
    await page.keyboard.press('ArrowLeft');
    expect(await value(page, '#now')).toBeCloseTo(10 * one, 9);
    await page.keyboard.press('.');
    const first = await value(page, '#now');
    await page.keyboard.press('.');
    expect(await value(page, '#now')).toBeGreaterThan(first);
    await page.keyboard.press(',');
    expect(await value(page, '#now')).toBe(first);
    await page.keyboard.press(' ');
    await expect(page.locator('#play')).toHaveAttribute('aria-label', 'Pause');
    await page.keyboard.press(' ');
    await expect(page.locator('#play')).toHaveAttribute('aria-label', 'Play');
    await page.keyboard.press('?');
    await expect(page.locator('#manual')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.locator('#manual')).toBeHidden();
  });

  test('the table is filtered by words and kind', async ({ page }) => {
    const { events } = runJson(join(ROOT, 'cases/gallery/wobbling_egg.toml'));
    await page.goto(`${server.address}#scene/wobbling_egg`);
    await ended(page);
    await page.locator('#tab-events').click();
    await expect(page.locator('#event-count')).toHaveText(`${events.length} rows`);
    const rests = events.filter((event) => event['kind'] === 'rest').length;
    await page.locator('#event-kind').selectOption('rest');
    await expect(page.locator('#event-count')).toHaveText(`${rests} of ${events.length} rows`);
    await page.locator('#event-filter').fill('nobody');
    await expect(page.locator('#event-count')).toHaveText(`0 of ${events.length} rows`);
  });
});

test('a folder that a run wrote opens as that run', async ({ page }) => {
  test.skip(SITE !== null, 'a browser reads no folder');
  const scene = join(ROOT, 'cases/gallery/wobbling_egg.toml');
  const folder = mkdtempSync(join(tmpdir(), 'carom-'));
  const document = runJson(scene);
  execFileSync(PROGRAM, ['run', scene, '-o', join(folder, 'egg')]);
  const server = await Server.start(join(folder, 'egg'));
  try {
    await page.goto(server.address);
    await ended(page);
    await pause(page);
    await expect(page.locator('#title')).toHaveText('A wobbling egg');
    await page.keyboard.press('Home');
    await page.keyboard.press('.');
    expect(await value(page, '#now')).toBe(document.events[0]['time']);
    await page.locator('#tab-events').click();
    await expect(page.locator('#event-count')).toHaveText(`${document.events.length} rows`);
    expect(await value(page, '#detail [data-fact="impulse"]')).toBe(document.events[0]['impulse']);
  } finally {
    server.stop();
    rmSync(folder, { recursive: true });
  }
});

test('a file with a mistake opens in the editor, the cursor at the mistake', async ({ page }) => {
  const text = readFileSync(join(ROOT, 'cases/gallery/box.toml'), 'utf8').replace(
    /^until = .*/m,
    'until = -3',
  );
  const line = text.split('\n').findIndex((row) => row.startsWith('until = -3')) + 1;
  const file = scratchFile('broken.toml', text);
  const server = await Server.start(file.path);
  try {
    await page.goto(server.address);
    await expect(page.locator('#scene')).toBeVisible();
    await expect(page.locator('#diagnostics li').first()).toHaveAttribute('data-line', String(line));
    await expect(page.locator('.cm-activeLine')).toHaveText('until = -3');
    await expect(page.locator('.cm-content')).toBeFocused();
  } finally {
    server.stop();
    file.remove();
  }
});

const HOSTILE = `carom = 1
title = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script>"
source = "</p><svg onload=window.pwned=3>"

[[body]]
name = "<img src=x onerror=window.pwned=4>"
shape = { sphere = { radius = 1 } }
mass = 1
position = [0, 0, 0]
velocity = [1, 0, 0]

[[body]]
name = "\\u202E{{constructor}}\\" onmouseover=\\"window.pwned=5"
shape = { sphere = { radius = 1 } }
mass = 1
position = [4, 0, 0]

[run]
until = 5
sample = 0.05
`;

test('names that would be markup are text', async ({ page }) => {
  const file = scratchFile('hostile.toml', HOSTILE);
  const server = await Server.start(file.path);
  try {
    await page.goto(server.address);
    await ended(page);
    await expect(page.locator('#title')).toContainText('<img src=x onerror=window.pwned=1>');
    await expect(page.locator('.names span').first()).toHaveText('<img src=x onerror=window.pwned=4>');
    await pause(page);
    await page.keyboard.press('Home');
    await page.keyboard.press('.');
    for (const tab of ['events', 'scene', 'result', 'plots']) await page.locator(`#tab-${tab}`).click();
    await page.locator('#tab-events').click();
    await expect(page.locator('#event-rows [role=row]')).toHaveCount(1);
    await expect(page.locator('table.laws tr[data-law]')).toHaveCount(6);
    expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
    expect(await page.locator('img:not(.neighbourhood), #content script, svg[onload]').count()).toBe(0);
    if (SITE !== null) return;
    // Nothing from elsewhere: the page works without a network.
    const policy = (await page.request.get(server.address)).headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'self'");
  } finally {
    server.stop();
    file.remove();
  }
});

/** Puts a text in the editor as typing would. */
async function retype(page: import('@playwright/test').Page, text: string): Promise<void> {
  await page.locator('.cm-content').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

// What `carom.view` shows in a notebook, and writes as a page by itself: the built module with the stream of a real run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { drawn, ROOT, runJson, Server, test } from './program';

const SCENE = join(ROOT, 'cases/gallery/newtons_cradle.toml');
const MODULE = readFileSync(join(import.meta.dirname, '../dist/widget/widget.js'), 'utf8');

/** The bytes of a finished run, as the program sends them. */
async function streamOf(_: string): Promise<Buffer> { return readFileSync("/tmp/pycli/stream.bin"); }
async function unused(scene: string): Promise<Buffer> {
  const server = await Server.start();
  try {
    const api = `${server.address.replace(/\/$/, '')}/api/runs`;
    const body = JSON.stringify({ text: readFileSync(scene, 'utf8') });
    const begun = await fetch(api, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
    const { id } = (await begun.json()) as { id: number };
    return Buffer.from(await (await fetch(`${api}/${id}/stream`)).arrayBuffer());
  } finally {
    server.stop();
  }
}

const inline = (module: string): string => module.replaceAll('</script', '<\\/script');

test('a page by itself: the time line and the events of the run', async ({ page }) => {
  const stream = await streamOf(SCENE);
  const [first, second] = [...new Set(runJson(SCENE).events.map((event) => event['time']))];
  await page.setContent(
    `<div data-carom-run data-height="320"><script type="application/octet-stream">${stream.toString('base64')}</script></div>` +
      `<script type="module">${inline(MODULE)}</script>`,
  );
  const now = page.locator('.now');
  const time = async (): Promise<number> => {
    await drawn(page);
    return Number(await now.getAttribute('data-value'));
  };
  await expect(page.locator('canvas.view')).toBeVisible();
  expect(await time()).toBe(0);
  await page.locator('.next').click();
  await expect.poll(time).toBe(first);
  await expect(page.locator('.event')).toContainText('impact of ');
  await page.locator('.next').click();
  await expect.poll(time).toBe(second);
  await page.locator('.previous').click();
  await expect.poll(time).toBe(first);
  await page.locator('.play').click();
  await expect.poll(time).toBeGreaterThan(Number(first));
  await page.locator('.play').click();
  const stopped = await time();
  await drawn(page);
  expect(await time()).toBe(stopped);
  // Something is drawn: the picture has many colours.
  const picture = await page.locator('canvas.view').screenshot();
  expect(picture.length).toBeGreaterThan(4000);
});

test('in the cell of a notebook: its time is the model’s, its theme the notebook’s', async ({ page }) => {
  const stream = await streamOf(SCENE);
  const module = `data:text/javascript;base64,${Buffer.from(MODULE).toString('base64')}`;
  await page.setContent('<body class="vscode-dark"><div id="cell"></div></body>');
  await page.evaluate(
    async ({ module, text }) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const state: Record<string, unknown> = { _stream: new DataView(bytes.buffer), height: 300, time: 0.25 };
      const listeners = new Map<string, () => void>();
      const model = {
        saved: [] as unknown[],
        get: (name: string) => state[name],
        set: (name: string, value: unknown) => (state[name] = value),
        save_changes: () => model.saved.push(state['time']),
        on: (event: string, callback: () => void) => listeners.set(event, callback),
        off: (event: string) => listeners.delete(event),
        tell: (time: number) => {
          state['time'] = time;
          listeners.get('change:time')?.();
        },
        listeners,
      };
      const made = (await import(module)) as { default: { render: (about: object) => () => void } };
      const leave = made.default.render({ model, el: document.getElementById('cell') });
      Object.assign(window, { model, leave });
    },
    { module, text: stream.toString('base64') },
  );
  const time = async (): Promise<number> => {
    await drawn(page);
    return Number(await page.locator('.now').getAttribute('data-value'));
  };
  await expect.poll(time).toBe(0.25);
  await expect(page.locator('.carom-run')).toHaveAttribute('data-theme', 'dark');
  await page.evaluate(() => (window as unknown as { model: { tell: (t: number) => void } }).model.tell(0.5));
  await expect.poll(time).toBe(0.5);
  await page.locator('.player').press('Home');
  await expect.poll(time).toBe(0);
  const saved = await page.evaluate(() => (window as unknown as { model: { saved: number[] } }).model.saved);
  expect(saved.at(-1)).toBe(0);
  const left = await page.evaluate(() => {
    const { model, leave } = window as unknown as {
      model: { listeners: Map<string, unknown> };
      leave: () => void;
    };
    leave();
    return model.listeners.size;
  });
  expect(left).toBe(0);
});

test('what is broken is said', async ({ page }) => {
  await page.setContent(
    '<div data-carom-run data-height="200"><script type="application/octet-stream">AAAA</script></div>' +
      `<script type="module">${inline(MODULE)}</script>`,
  );
  await expect(page.locator('[role=alert]')).toContainText('broken');
});

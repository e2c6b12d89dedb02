// Pictures of the page at three sizes, for the README and the book: written only when SCREENSHOTS is set.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { ended, pause, ROOT, Server, test } from './program';

const FOLDER = join(ROOT, 'book/src/screenshots');
const WIDE = { width: 1600, height: 1000 };
const DESK = { width: 1024, height: 768 };
const PHONE = { width: 360, height: 740 };

test.skip(process.env['SCREENSHOTS'] === undefined, 'SCREENSHOTS is not set');

let server: Server;
test.beforeAll(async () => {
  server = await Server.start();
});
test.afterAll(() => server.stop());

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(1200);
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path });
  expect(statSync(path).size).toBeLessThan(300_000);
}

async function open(
  page: Page,
  scene: string,
  size: { width: number; height: number },
  scheme: 'light' | 'dark',
): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(size);
  await page.goto(`${server.address}#scene/${scene}`);
  await ended(page);
  await pause(page);
}

test('gallery', async ({ page }) => {
  for (const [name, size] of [
    ['gallery-1024x768', DESK],
    ['gallery-360x740', PHONE],
  ] as const) {
    await page.setViewportSize(size);
    await page.goto(server.address);
    await page.waitForTimeout(9000);
    await take(page, name);
  }
});

test('the paradox held', async ({ page }) => {
  await open(page, 'paradox', WIDE, 'light');
  await page.locator('#scrub').fill('0.07');
  await take(page, 'paradox-1600x1000');
  await page.locator('#paradox').click();
  await expect(page.locator('.stage canvas')).toHaveCount(2);
  await pause(page);
  await page.locator('#tab-events').click();
  await page.locator('#event-rows [data-index="0"]').click();
  await expect(page.locator('img.neighbourhood')).toBeVisible();
  await page.locator('#scrub').fill('0.13');
  await take(page, 'hold-versus-pass-1600x1000');
});

test('an impact', async ({ page }) => {
  await open(page, 'collision', DESK, 'dark');
  await page.locator('#tab-events').click();
  await page.locator('#event-rows [data-index="0"]').click();
  await take(page, 'impact-1024x768');
});

test('a gas', async ({ page }) => {
  await open(page, 'gas', DESK, 'dark');
  await page.locator('#scrub').fill('1.5');
  await take(page, 'gas-1024x768');
});

test('the scene’s text', async ({ page }) => {
  await open(page, 'wobbling_egg', DESK, 'light');
  await page.locator('#scrub').fill('0.6');
  await page.locator('#tab-scene').click();
  await take(page, 'scene-1024x768');
});

test('a phone', async ({ page }) => {
  await open(page, 'wobbling_egg', PHONE, 'light');
  await page.locator('#scrub').fill('0.6');
  await take(page, 'egg-360x740');
});

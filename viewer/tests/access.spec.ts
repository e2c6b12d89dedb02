// Everyone can use the page: axe finds nothing, in light and dark, at the desk and on the phone.

import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { ended, pause, Server, test } from './program';

let server: Server;
test.beforeAll(async () => {
  server = await Server.start();
});
test.afterAll(() => server.stop());

async function clean(page: Page, where: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const said = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
  expect(said, where).toEqual([]);
}

for (const scheme of ['light', 'dark'] as const) {
  for (const [size, width, height] of [
    ['desk', 1280, 800],
    ['phone', 360, 740],
  ] as const) {
    test(`axe finds nothing, ${scheme}, ${size}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      await page.goto(server.address);
      await expect(page.locator('.card').first()).toBeVisible();
      await clean(page, 'gallery');
      await page.goto(`${server.address}#scene/paradox`);
      await page.reload();
      await ended(page);
      await page.locator('#layers summary').click();
      await clean(page, 'plots and layers');
      await page.keyboard.press('Escape');
      await page.locator('#tab-events').click();
      await page.locator('#event-rows [data-index="0"]').click();
      await expect(page.locator('img.neighbourhood')).toBeVisible();
      await clean(page, 'events');
      await page.locator('#tab-scene').click();
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('carom = 1\nmass = 3\n');
      await expect(page.locator('#diagnostics li').first()).toBeVisible();
      await clean(page, 'scene with a mistake');
      await page.locator('#tab-result').click();
      await clean(page, 'result');
      await page.locator('#share summary').click();
      await clean(page, 'share');
      await page.keyboard.press('Escape');
      await page.locator('#help').click();
      await clean(page, 'help');
    });
  }
}

test('the theme follows the system, then the switch, and is remembered', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(server.address);
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.locator('#theme').click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('with reduced motion nothing plays by itself', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${server.address}#scene/graze`);
  await ended(page);
  await expect(page.locator('#play')).toHaveAttribute('aria-label', 'Play');
  await expect(page.locator('#now')).toHaveAttribute('data-value', '0');
});

test('a phone has everything, and nothing sticks out', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${server.address}#scene/wobbling_egg`);
  await ended(page);
  await pause(page);
  for (const tab of ['plots', 'events', 'scene', 'result']) {
    await page.locator(`#tab-${tab}`).click();
    await expect(page.locator(`#${tab}`)).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), tab).toBeLessThanOrEqual(360);
  }
  for (const id of ['play', 'next', 'scrub', 'speed', 'slow', 'share', 'fit', 'follow'])
    await expect(page.locator(`#${id}`), id).toBeVisible();
  await page.locator('#next').click();
  await expect(page.locator('#now')).not.toHaveText('0 s');
});

// The program under test: started for a file of tests, asked for its own numbers.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, type Page } from '@playwright/test';

export const ROOT = resolve(import.meta.dirname, '../..');
export const PROGRAM = resolve(process.env['CAROM'] ?? join(ROOT, 'target/release/carom'));

/** A program that serves the page, and the address that it printed. */
export class Server {
  private constructor(
    readonly address: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(...paths: string[]): Promise<Server> {
    const child = spawn(PROGRAM, ['view', '--no-open', '--port', '0', ...paths], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const address = await new Promise<string>((found, failed) => {
      let text = '';
      child.stdout.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        const end = text.indexOf('\n');
        if (end >= 0) found(text.slice(0, end).trim());
      });
      child.on('error', failed);
      child.on('exit', (code) => failed(new Error(`carom view ended with ${code}`)));
    });
    return new Server(address, child);
  }

  stop(): void {
    this.process.removeAllListeners('exit');
    this.process.kill('SIGKILL');
  }
}

/** What `carom run --json` says of a scene. */
export interface RunDocument {
  events: Record<string, number | string | string[]>[];
  final: Record<string, { position: number[]; velocity: number[] }>;
  audit: Record<string, number>;
  stopped: string;
}

export function runJson(scene: string, ...options: string[]): RunDocument {
  const text = execFileSync(PROGRAM, ['run', scene, '--json', ...options], { maxBuffer: 1 << 28 });
  return JSON.parse(text.toString()) as RunDocument;
}

/** A file that lasts as long as the test. */
export function scratchFile(name: string, text: string): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'carom-'));
  const path = join(folder, name);
  writeFileSync(path, text);
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

/** Tests that fail on anything that the page writes to the console as an error, or throws. */
export const test = base.extend<{ problems: string[] }>({
  problems: [
    async ({ page }, use) => {
      const problems: string[] = [];
      listen(page, problems);
      await use(problems);
      if (problems.length > 0) throw new Error(`the page complained: ${problems.join('; ')}`);
    },
    { auto: true },
  ],
});

export function listen(page: Page, problems: string[]): void {
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // A refusal that the test asks for is logged by the browser itself.
    const asked = message.text().includes('status of 4');
    if (message.type() === 'error' && !asked) problems.push(message.text());
  });
}

/** Waits until what was done before has been drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The full digits behind a displayed value, once what was done before has been drawn. */
export async function value(page: Page, selector: string): Promise<number> {
  await drawn(page);
  const text = await page.locator(selector).first().getAttribute('data-value');
  return Number(text);
}

/** Waits until the run has ended and everything that it brought is on the page. */
export async function ended(page: Page): Promise<void> {
  await page.locator('#result [data-stopped]').waitFor({ state: 'attached', timeout: 60_000 });
  await page.locator('#progress').waitFor({ state: 'hidden' });
}

/** Stops the film where it is. */
export async function pause(page: Page): Promise<void> {
  const play = page.locator('#play');
  await drawn(page);
  if ((await play.getAttribute('aria-label')) === 'Pause') await play.click();
}

// The program under test: started for a file of tests, asked for its own numbers.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server as Files } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { test as base, type Page } from '@playwright/test';

export const ROOT = resolve(import.meta.dirname, '../..');
export const PROGRAM = resolve(process.env['CAROM'] ?? join(ROOT, 'target/release/carom'));

/** The static site, where that is what is tested instead of the program. */
export const SITE = process.env['SITE'] === undefined ? null : resolve(process.env['SITE']);

const KINDS: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** A server of plain files, as anyone might put the site on. */
async function serveFiles(folder: string): Promise<Files> {
  const files = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname));
    const place = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (path.includes('..') || statSync(place, { throwIfNoEntry: false })?.isFile() !== true) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': KINDS[extname(place)] ?? 'application/octet-stream' });
    response.end(readFileSync(place));
  });
  await new Promise<void>((done) => files.listen(0, '127.0.0.1', done));
  return files;
}

/** Who serves the page, and the address: the program, as it printed it, or a server of the site's files. */
export class Server {
  private constructor(
    readonly address: string,
    private readonly end: () => void,
  ) {}

  static async start(...paths: string[]): Promise<Server> {
    return SITE === null ? Server.program(paths) : Server.files(SITE, paths);
  }

  // A scene's file is in the address there.
  private static async files(site: string, [path]: string[]): Promise<Server> {
    const files = await serveFiles(site);
    const { port } = files.address() as AddressInfo;
    const data = path === undefined ? '' : deflateRawSync(readFileSync(path)).toString('base64url');
    const place = path === undefined ? '' : `#text/${data}`;
    return new Server(`http://127.0.0.1:${port}/play/${place}`, () => {
      files.closeAllConnections();
      files.close();
    });
  }

  private static async program(paths: string[]): Promise<Server> {
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
    return new Server(address, () => {
      child.removeAllListeners('exit');
      child.kill('SIGKILL');
    });
  }

  stop(): void {
    this.end();
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

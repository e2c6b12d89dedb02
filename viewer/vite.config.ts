import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const MODULES = join(import.meta.dirname, 'node_modules');

/** The licence of a package, as it came with it. */
function licence(name: string): string {
  const folder = join(MODULES, name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} came without its licence`);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

/** Puts the licences of everything that went into the page beside it. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const used = new Set<string>();
      for (const piece of Object.values(bundle)) {
        for (const id of piece.type === 'chunk' ? Object.keys(piece.modules) : []) {
          const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (name !== undefined && existsSync(join(MODULES, name))) used.add(name);
        }
      }
      const text = [...used]
        .sort()
        .map(licence)
        .join(`\n${'-'.repeat(80)}\n\n`)
        .replace(/&/g, '&amp;')
        .replace(/</g, '&lt;');
      const source = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Licences</title><pre>${text}</pre></html>\n`;
      this.emitFile({ type: 'asset', fileName: 'licences.html', source });
    },
  };
}

// The page is embedded in the program and served below a token, so every address in it is relative.
export default defineConfig({
  base: './',
  plugins: [licences()],
  build: {
    target: 'es2022',
    outDir: 'dist/page',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    // Names that stay when the contents change: the built page is part of the repository.
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  worker: { format: 'es', rolldownOptions: { output: { entryFileNames: 'assets/[name].js' } } },
  test: { include: ['src/**/*.test.ts'] },
});

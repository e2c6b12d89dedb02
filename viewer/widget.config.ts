import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const MODULES = join(import.meta.dirname, 'node_modules');

/** The licence of a package, as it came with it. */
function licence(name: string): string {
  const { version } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  return `${name} ${version}\n\n${readFileSync(join(MODULES, name, 'LICENSE'), 'utf8').trim()}`;
}

/** Puts the licences of everything that went into the module at its head, as it is one file. */
function licences(): Plugin {
  return {
    name: 'licences',
    enforce: 'post',
    generateBundle(_, bundle) {
      for (const piece of Object.values(bundle)) {
        if (piece.type !== 'chunk') continue;
        const names = Object.keys(piece.modules).map(
          (id) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1],
        );
        const used = [...new Set(names.filter((name) => name !== undefined))].sort();
        const texts = used.map(licence).join(`\n\n${'-'.repeat(80)}\n\n`);
        piece.code = `/*! Made from viewer/src/widget of carom by \`cargo xtask widget\`, with\n\n${texts}\n*/\n${piece.code}`;
      }
    },
  };
}

// One module with everything in it, for the Python package: `carom.view` sends it to notebooks.
export default defineConfig({
  publicDir: false,
  plugins: [licences()],
  build: {
    target: 'es2022',
    outDir: 'dist/widget',
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      input: 'src/widget/widget.ts',
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'widget.js' },
    },
  },
});

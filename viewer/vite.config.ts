import { defineConfig } from 'vitest/config';

// The page is embedded in the program and served below a token, so every address in it is relative.
export default defineConfig({
  base: './',
  build: { target: 'es2022', outDir: 'dist/page', assetsInlineLimit: 0, chunkSizeWarningLimit: 1500 },
  test: { include: ['src/**/*.test.ts'] },
});

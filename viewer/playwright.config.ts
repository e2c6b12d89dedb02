import { defineConfig } from '@playwright/test';

// Against the real program (CAROM: its path) in a real Chromium (CHROMIUM: its path), rendering in software.
export default defineConfig({
  testDir: 'tests',
  timeout: 90_000,
  expect: { timeout: 20_000 },
  workers: 1,
  reporter: 'list',
  use: {
    acceptDownloads: true,
    viewport: { width: 1040, height: 700 },
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--use-angle=swiftshader',
        '--enable-unsafe-swiftshader',
        '--ignore-gpu-blocklist',
      ],
    },
  },
});

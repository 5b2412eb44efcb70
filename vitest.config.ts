import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'server/src/**/*.test.ts',
      'wallet/src/**/*.test.ts',
      'sdk/src/**/*.test.ts',
      'demo/src/**/*.test.ts',
      'tests/**/*.test.ts',
    ],
    globalSetup: ['tests/setup/global-database.ts'],
    // Forks and not threads: the suite starts servers and sends signals, which threads of one process would share.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})

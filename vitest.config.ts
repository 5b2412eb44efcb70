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
    // How long a machine that is busy with other things may take. Tests wait for states, and a state that comes ends the
    // wait at once: these limits are reached only by something that hangs.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
})

import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/setup/longest-first.ts'

/** Arguments of Node.js for a thread that the service starts. */
const threadsRunTypeScript = ['--import', new URL('tests/setup/typescript-in-threads.js', import.meta.url).href]

const everywhere = {
  setupFiles: ['tests/setup/properties.ts'],
  // Forks and not threads: the suite starts servers and sends signals, which threads of one process would share.
  pool: 'forks' as const,
  execArgv: threadsRunTypeScript,
  // The limits are long enough for a busy machine. Tests wait for states, and a wait ends when its state comes, so that only a
  // test that hangs reaches a limit.
  testTimeout: 180_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 150_000, interval: 20 } },
  // A spy that a failed test leaves behind would count the calls of all later tests of the process.
  restoreMocks: true,
}

/** These replace modules or measure the memory of their process, so that each needs a process of its own. */
const alone = [
  'server/src/db/silence.test.ts',
  'server/src/http/slow-senders.test.ts',
  'server/src/modules/money/delivery/cut.test.ts',
  'server/src/modules/money/deposits/shed.test.ts',
  'server/src/modules/reports/exports/slow-readers.test.ts',
  'server/src/modules/reports/reports/oracle-of-many.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: ['tests/setup/global-threads.ts', 'tests/setup/global-database.ts'],
    // Two for each of the two cores that are meant. A worker and the processes of its tests compute for half of the time, and wait
    // for PostgreSQL, pages, blocks and timers in the other half.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...everywhere,
          name: 'shared',
          // Importing the same modules for every file anew took a fifth of the time of the suite.
          isolate: false,
          // Collecting garbage in the usual 16 MB of young objects took a seventh of it.
          execArgv: ['--max-semi-space-size=64', ...threadsRunTypeScript],
          include: [
            'server/src/**/*.test.ts',
            'wallet/src/**/*.test.ts',
            'sdk/src/**/*.test.ts',
            'sdk/scripts/**/*.test.js',
            'conformance/src/**/*.test.ts',
            'demo/src/**/*.test.ts',
            'console/src/**/*.test.ts',
            'console/test/**/*.test.ts',
            'tests/**/*.test.ts',
            'tools/**/*.test.js',
          ],
          exclude: process.env.PICTURES !== undefined ? alone : [...alone, 'console/test/pictures.test.ts'],
        },
      },
      { test: { ...everywhere, name: 'alone', include: alone } },
    ],
  },
})

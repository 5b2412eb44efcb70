import { defineConfig } from 'vitest/config'

/** Measurements are run by name (`npm run bench:policies`), never with the suite: they want the machine to themselves. */
export default defineConfig({
  test: { include: ['bench/*.ts'], exclude: ['bench/*.config.ts'], pool: 'forks', maxWorkers: 1, testTimeout: 300_000 },
})

import { vi } from 'vitest'

/** Runs the same reports and the same oracle with a limit that makes the operations count as many: PostgreSQL sums them. */
vi.mock('../../../lib/limits.ts', async (original) => ({
  ...(await original<object>()),
  reportedOperationsNamedMax: 0,
  // Some runs have fewer operations with a category or a later entry of the address book, and some have more.
  reportedOperationsAsideMax: 8,
}))
await import('./oracle.test.ts')

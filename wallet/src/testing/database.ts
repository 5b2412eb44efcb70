import { createEmptyDatabase, createWalletDatabase } from '../../../server/src/testing/database.ts'

export type TestDatabase = { url: string; drop(): Promise<void> }

/** The passphrase of the key store in the databases of the tests. */
export const testPassphrase = 'a passphrase for the tests'

export { createEmptyDatabase, createWalletDatabase as createTestDatabase }

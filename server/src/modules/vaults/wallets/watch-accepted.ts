import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { walletProbesAtOnce, watchedVaultsMax } from '../../../lib/limits.ts'
import { compareAccepted, forgetCompared, HaltedVaultError } from './compare-accepted.ts'
import { walletOfVault } from './wallet-settings.ts'

/**
 * Compares the books of each vault with what its wallet service accepted, also while there are no orders: after the start of a node, and
 * from time to time. Orders and new addresses make the same comparison.
 */
export async function watchAccepted(deps: Deps): Promise<void> {
  const vaults = await deps.db
    .selectFrom('vaults')
    .select('id')
    .where('locked_at', 'is not', null)
    .where('halted_at', 'is', null)
    .orderBy('id')
    .limit(watchedVaultsMax)
    .execute()
  const left = vaults.map(({ id }) => id)
  const compareInTurn = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await compareVault(deps, id)
  }
  await Promise.all(Array.from({ length: walletProbesAtOnce }, compareInTurn))
}

/** The database of each process at its last look. */
const seen = new WeakMap<Db, string>()

/** Compares all vaults at once when the database has another name than before, as after a failover or a restore. */
export async function noticeDatabase(deps: Deps): Promise<void> {
  const { rows } = await sql<{ database: string }>`select database_mark() as database`.execute(deps.db)
  const { database } = rows[0]!
  const before = seen.get(deps.db)
  if (before !== undefined && before !== database) {
    deps.log.warn('the database is another one than before; books and wallet services are compared')
    forgetCompared(deps)
    await watchAccepted(deps)
  }
  seen.set(deps.db, database)
}

/**
 * Compares the books of a vault with what its wallet service accepted, and logs the reason when it cannot. The lock of a vault does
 * it too: the names of both databases must be stored before the first address, so that a restore of both to that moment is noticed.
 */
export async function compareVault(deps: Deps, vaultId: string): Promise<void> {
  try {
    await compareAccepted(deps, vaultId, () => walletOfVault(deps, vaultId))
  } catch (error) {
    if (error instanceof HaltedVaultError) return
    deps.log.warn({ err: error, vaultId }, 'a wallet service did not say what it accepted')
  }
}

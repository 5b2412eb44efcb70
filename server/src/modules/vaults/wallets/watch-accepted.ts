import type { Deps } from '../../../deps.ts'
import { walletProbesAtOnce, watchedVaultsMax } from '../../../lib/limits.ts'
import { compareAccepted, HaltedVaultError } from './compare-accepted.ts'
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
    for (let id = left.shift(); id !== undefined; id = left.shift()) await compare(deps, id)
  }
  await Promise.all(Array.from({ length: walletProbesAtOnce }, compareInTurn))
}

async function compare(deps: Deps, vaultId: string): Promise<void> {
  try {
    await compareAccepted(deps, vaultId, () => walletOfVault(deps, vaultId))
  } catch (error) {
    if (error instanceof HaltedVaultError) return
    deps.log.warn({ err: error, vaultId }, 'a wallet service did not say what it accepted')
  }
}

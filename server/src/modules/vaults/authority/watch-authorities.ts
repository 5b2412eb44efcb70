import type { Deps } from '../../../deps.ts'
import { walletProbesAtOnce, watchedVaultsMax } from '../../../lib/limits.ts'
import { walletOfVault } from '../wallets/wallet-settings.ts'
import { askAuthority } from './authority.ts'

/**
 * Compares the authority of each protected vault with the one that was seen last, also while there are no orders. A
 * hand-over makes the same comparison. A wallet service that does not answer is handled elsewhere.
 */
export async function watchAuthorities(deps: Deps): Promise<void> {
  const vaults = await deps.db
    .selectFrom('vaults')
    .select('id')
    .where('protection', '<>', 'off')
    .where('locked_at', 'is not', null)
    .orderBy('id')
    .limit(watchedVaultsMax)
    .execute()
  const left = vaults.map(({ id }) => id)
  const askInTurn = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await ask(deps, id)
  }
  await Promise.all(Array.from({ length: walletProbesAtOnce }, askInTurn))
}

async function ask(deps: Deps, vaultId: string): Promise<void> {
  try {
    await askAuthority(deps, await walletOfVault(deps, vaultId), vaultId)
  } catch (error) {
    deps.log.warn({ err: error, vaultId }, 'the authority of a vault could not be read')
  }
}

import { isDeepStrictEqual } from 'node:util'
import { type ByMember, byMember } from '../../../access/caller.ts'
import { AnswerNeededError, askingOutside } from '../../../db/ask-outside.ts'
import type { Trx } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import { accountKeysMilliseconds } from '../../../lib/limits.ts'
import { audit } from '../../record/audit/record.ts'
import { findVault, lockVaultRow, type VaultWithStructure } from '../structure/queries.ts'
import {
  type Account,
  accountsOf,
  askAccountKeys,
  pinAccountKeys,
  recordOfKeys,
  type ShownKeys,
} from '../wallets/account-keys.ts'
import { confirmWallet, isSameWallet, type WalletOfVault, walletOf } from '../wallets/wallet-settings.ts'

/** The answer of a wallet service about the keys of these accounts: the shown keys, or null when it showed none. */
type KeyAnswer = { wallet: WalletOfVault; accounts: Account[]; shown: ShownKeys | null }

/** Thrown when the wallet service of a vault was not asked yet. It rolls back the transaction that locks the vault. */
class KeysNeededError extends AnswerNeededError<Omit<KeyAnswer, 'shown'>> {}

/**
 * Locks a vault. Its wallet service is asked for the keys of its accounts while no transaction is open.
 * @throws 502 for a key that the wallet service did not sign
 */
export function withAccountKeys<Result>(
  deps: Pick<Deps, 'config' | 'sealer' | 'db'>,
  lock: (answer: KeyAnswer | null) => Promise<Result>,
): Promise<Result> {
  return askingOutside(KeysNeededError, lock, async ({ wallet, accounts }) => {
    await confirmWallet(deps.db, async () => wallet)
    const deadline = AbortSignal.timeout(accountKeysMilliseconds)
    return lock({ wallet, accounts, shown: await askAccountKeys(walletOf(deps, wallet), accounts, deadline) })
  })
}

/**
 * Makes the structure final; from now on addresses may be created. A wallet service that shows its keys is bound to them.
 * @throws 409 when it is final already, or the vault changed while the wallet service was asked; KeysNeededError
 */
export async function lockVault(trx: Trx, by: ByMember, answer: KeyAnswer | null): Promise<VaultWithStructure> {
  const { id } = by.member.vault
  const vault = await lockVaultRow(trx, id)
  if (vault.locked_at !== null) throw conflict('vault_is_locked', 'The vault is already locked')
  const accounts = accountsOf((await findVault(trx, id))!)
  if (answer === null && accounts.length > 0) throw new KeysNeededError({ wallet: vault, accounts })
  if (answer !== null && !(isSameWallet(answer.wallet, vault) && isDeepStrictEqual(answer.accounts, accounts))) {
    throw conflict('changed_concurrently', 'The vault changed while its wallet service was asked; try again')
  }
  const shown = answer?.shown ?? null
  await trx
    .updateTable('vaults')
    .set({ locked_at: by.now, updated_at: by.now, wallet_key: shown?.walletKey })
    .where('id', '=', id)
    .execute()
  const details = shown === null ? undefined : await pinShownKeys(trx, id, shown, by.now)
  await audit(trx, byMember(by), 'vault.locked', { type: 'vault', id }, details)
  return (await findVault(trx, id))!
}

/** Pins the shown keys. @returns the details of the keys for the record */
export async function pinShownKeys(trx: Trx, vaultId: string, { walletKey, keys }: ShownKeys, now: Date) {
  return { walletKey, accountKeys: recordOfKeys(await pinAccountKeys(trx, vaultId, keys, now)) }
}

import { sql } from 'kysely'
import type { Db } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { walletChangesMax } from '../../../lib/limits.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import type { AcceptedEntry } from '../../registry/wallet-service/answers.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import {
  areBooksMoved,
  findWalletMark,
  forgetWalletMark,
  type HaltReason,
  listUnknown,
  lockWalletMark,
  noteListedPaths,
  setHalt,
  setWalletMark,
  type WalletMark,
} from './wallet-marks.ts'

export type HaltedVault = { id: string; code: string; reason: HaltReason }

export async function listHaltedVaults(db: Db): Promise<HaltedVault[]> {
  const { rows } = await sql<HaltedVault>`
    select id, code, halt_reason as reason from vaults where halted_at is not null order by code`.execute(db)
  return rows
}

/** Everything that a wallet service accepted since the last comparison, and the place behind the last entry. */
export type Difference = {
  mark: WalletMark
  cursor: string
  entries: number
  unknown: AcceptedEntry[]
  /** The derivation paths that were read. */
  listed: string[]
  /** The database of the wallet service. */
  walletDatabase: string | null
}

/**
 * Reads all entries that the books of a halted vault do not have. For a wallet service that went back, all entries are read.
 * @throws when the wallet service lists nothing
 */
export async function readDifference(db: Db, wallet: WalletClient, vaultId: string): Promise<Difference> {
  const mark = await findWalletMark(db, vaultId)
  const isAnew = mark.haltReason === 'wallet_behind' || mark.cursor === null
  let cursor = isAnew ? null : mark.cursor
  let entries = isAnew ? 0 : mark.entries
  const unknown: AcceptedEntry[] = []
  const listed: string[] = []
  for (;;) {
    const answer = await wallet.listAccepted(cursor)
    if (answer === null || answer === 'lost') throw new Error('The wallet service does not list what it accepted')
    cursor = answer.cursor
    entries += answer.entries.length
    listed.push(...answer.entries.flatMap((entry) => (entry.kind === 'address' ? [entry.derivationPath] : [])))
    unknown.push(
      ...(await listUnknown(db, vaultId, answer.entries, {
        isFirst: !mark.isComplete,
        isRestored: areBooksMoved(mark),
      })),
    )
    const { database: walletDatabase = null } = answer
    if (answer.entries.length < walletChangesMax) return { mark, cursor, entries, unknown, listed, walletDatabase }
  }
}

type Lifting = Omit<Difference, 'unknown'> & {
  operator: string
  recovered: Record<string, unknown>
  now: Date
}

/**
 * Ends the halt of a vault, whose comparison goes on behind the entries that were recovered. Returns false when the vault is no longer
 * halted, or its mark has moved.
 */
export async function liftHalt(
  db: Db,
  vaultId: string,
  { mark, cursor, entries, listed, walletDatabase, operator, recovered, now }: Lifting,
): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    if (mark.haltReason === null || !(await lockWalletMark(trx, vaultId, mark))) return false
    if (mark.haltReason === 'wallet_behind') await forgetWalletMark(trx, vaultId)
    await noteListedPaths(trx, vaultId, listed)
    await setWalletMark(trx, vaultId, { cursor, entries, isComplete: true, now, mark, walletDatabase })
    await setHalt(trx, vaultId, null)
    await announceVaultChange(trx, {
      vaultId,
      actorId: null,
      now,
      action: 'vault.halt_lifted',
      targetType: 'vault',
      targetId: vaultId,
      details: { reason: mark.haltReason, operator, ...recovered },
      words: { sentence: 'The vault is no longer halted', by: operator, after: recovered },
    })
    return true
  })
}

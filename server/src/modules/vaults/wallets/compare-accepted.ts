import type { Db } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { conflict } from '../../../lib/errors.ts'
import { walletChangesMax } from '../../../lib/limits.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import type { AcceptedEntry } from '../../registry/wallet-service/answers.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { WalletClient } from '../../registry/wallet-service/client.ts'
import {
  areBothMoved,
  burnPaths,
  findWalletMark,
  type HaltReason,
  listUnknown,
  lockWalletMark,
  noteListedPaths,
  setHalt,
  setWalletMark,
  type WalletMark,
} from './wallet-marks.ts'

/** The time for which a comparison permits orders and new addresses. */
export const walletComparedMilliseconds = 10_000
/** The largest number of unknown entries that a record of a halt shows. */
const unknownShownMax = 20

type Comparing = Pick<Deps, 'db' | 'log' | 'clock'>
type Connect = () => Promise<WalletClient>

/** The sentences that operators and members read about a halted vault. */
const haltSentences: Record<HaltReason, string> = {
  books_behind:
    'The vault is halted: its wallet service has accepted what the books do not have, as after a restore of the books',
  wallet_behind:
    'The vault is halted: its wallet service no longer has what it accepted before, as after a restore of its database',
}

export const haltedError = (reason: HaltReason) => conflict('vault_halted', haltSentences[reason])

/** The objection to a hand-over, which waits until the halt is lifted. */
export const haltObjection = (reason: HaltReason) => ({
  reason: 'vault_halted' as const,
  message: haltSentences[reason],
  waits: true as const,
})

/** Thrown while a vault is halted. */
export class HaltedVaultError extends Error {
  readonly reason: HaltReason
  constructor(reason: HaltReason) {
    super(haltSentences[reason])
    this.reason = reason
  }
}

/** The last comparison of each vault by this process, and the comparisons that run. */
const compared = new WeakMap<Db, Map<string, { until: number; running: Promise<void> | null }>>()

/**
 * Compares the books of a vault with what its wallet service accepted, unless this process did so a moment ago. An order and a new
 * address need it.
 *
 * @param connect opens the present wallet service of the vault
 * @throws HaltedVaultError, or the error of a wallet service that was compared before and does not answer now
 */
export async function assertCompared(deps: Comparing, vaultId: string, connect: Connect): Promise<void> {
  const vaults = compared.get(deps.db) ?? new Map()
  compared.set(deps.db, vaults)
  const known = vaults.get(vaultId)
  if (known?.running) return known.running
  if (known !== undefined && performance.now() < known.until) return
  const running = compareAccepted(deps, vaultId, connect).then(
    () => void vaults.set(vaultId, { until: performance.now() + walletComparedMilliseconds, running: null }),
    (error: unknown) => {
      vaults.delete(vaultId)
      throw error
    },
  )
  vaults.set(vaultId, { until: 0, running })
  return running
}

/** Lets every vault be compared again before its next order, because the service has another database than before. */
export function forgetCompared({ db }: Pick<Deps, 'db'>): void {
  compared.delete(db)
}

/**
 * Reads what the wallet service accepted since the last comparison. Halts the vault if the books lack an entry, or the wallet service
 * lacks the entries that were read before.
 *
 * A vault whose wallet service was never compared is not halted by silence: the service may not offer the list.
 * @throws as `assertCompared`
 */
export async function compareAccepted(deps: Comparing, vaultId: string, connect: Connect): Promise<void> {
  for (;;) {
    // The mark is read before the settings of the wallet service, so that it is never newer than these.
    const mark = await findWalletMark(deps.db, vaultId)
    if (mark.haltReason !== null) throw new HaltedVaultError(mark.haltReason)
    const answer = await listAccepted(mark, connect)
    if (answer === null) return
    if (answer === 'lost') {
      await halt(deps, vaultId, { mark, reason: 'wallet_behind', unknown: [] })
      continue
    }
    const { entries, cursor, database = null } = answer
    // The books are read after the answer, so that they have everything that was asked for before.
    const unknown = await listUnknown(deps.db, vaultId, entries, { isFirst: !mark.isComplete })
    const lost = mark.isComplete ? unknown : unknown.filter(({ kind }) => kind === 'transfer' || kind === 'transaction')
    const isEnd = entries.length < walletChangesMax
    if (lost.length > 0) await halt(deps, vaultId, { mark, reason: 'books_behind', unknown: lost })
    // The mark is older than the question, so the list has the addresses that were stored by then.
    else if (isEnd && lacksStored(mark, entries))
      await halt(deps, vaultId, { mark, reason: 'wallet_behind', unknown: [] })
    else {
      await advance(deps, vaultId, { mark, cursor, entries, unknown, walletDatabase: database })
      if (isEnd) return
    }
  }
}

function lacksStored({ notListed }: WalletMark, entries: AcceptedEntry[]): boolean {
  const listed = new Set(pathsOf(entries))
  return notListed.some((path) => !listed.has(path))
}

const pathsOf = (entries: AcceptedEntry[]): string[] =>
  entries.flatMap((entry) => (entry.kind === 'address' ? [entry.derivationPath] : []))

async function listAccepted(mark: WalletMark, connect: Connect) {
  try {
    const answer = await (await connect()).listAccepted(mark.cursor)
    if (answer !== null || !mark.isComplete) return answer
  } catch (error) {
    if (!mark.isComplete) return null
    throw error
  }
  throw new WalletServiceError('failed', 'The wallet service no longer lists what it accepted')
}

type Step = {
  mark: WalletMark
  cursor: string
  entries: AcceptedEntry[]
  unknown: AcceptedEntry[]
  walletDatabase: string | null
}

/**
 * Stores how far the entries were compared. A first comparison burns the paths of unknown addresses: an earlier version may have asked
 * for an address whose answer was lost. It does not halt for unknown events, of which an earlier version kept less.
 */
async function advance(
  { db, log, clock }: Comparing,
  vaultId: string,
  { mark, cursor, entries, unknown, walletDatabase }: Step,
): Promise<void> {
  const isSame = mark.booksDatabase === mark.database && mark.walletDatabase === walletDatabase
  if (entries.length === 0 && mark.isComplete && isSame) return
  const now = clock()
  const paths = pathsOf(unknown)
  if (unknown.length > 0)
    log.warn(
      { vaultId, unknown: unknown.slice(0, unknownShownMax) },
      'a first comparison found entries that the books lack',
    )
  if (areBothMoved(mark, walletDatabase))
    log.error({ vaultId }, 'books and wallet service both work with other databases: new addresses skip indices')
  await inTransaction(db, async (trx) => {
    if (!(await lockWalletMark(trx, vaultId, mark))) return
    await burnPaths(trx, vaultId, paths, now)
    await noteListedPaths(trx, vaultId, pathsOf(entries))
    const isComplete = mark.isComplete || entries.length < walletChangesMax
    const count = mark.entries + entries.length
    await setWalletMark(trx, vaultId, { cursor, entries: count, isComplete, now, mark, walletDatabase })
  })
}

type Halt = { mark: WalletMark; reason: HaltReason; unknown: AcceptedEntry[] }

/** Halts a vault and tells its administrators, unless another node has moved its mark since. */
async function halt({ db, log, clock }: Comparing, vaultId: string, { mark, reason, unknown }: Halt): Promise<void> {
  const now = clock()
  const shown = { reason, unknown: unknown.slice(0, unknownShownMax), unknownCount: unknown.length }
  await inTransaction(db, async (trx) => {
    if (!(await lockWalletMark(trx, vaultId, mark))) return
    await setHalt(trx, vaultId, { at: now, reason })
    const subject = { targetType: 'vault', targetId: vaultId } as const
    const words = {
      sentence: `${haltSentences[reason]}. Nothing is handed over and no address is made until "strongroom recover" has run`,
      by: 'the wallet service of this vault',
    }
    await announceVaultChange(trx, {
      vaultId,
      actorId: null,
      now,
      action: 'vault.halted',
      ...subject,
      details: shown,
      words,
    })
    log.error({ vaultId, ...shown }, haltSentences[reason])
  })
}

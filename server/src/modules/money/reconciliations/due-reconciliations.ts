import { setTimeout as pause } from 'node:timers/promises'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import {
  reconciliationAgainMinutes,
  reconciliationPauseMilliseconds,
  walletCallTimeoutMilliseconds,
} from '../../../lib/limits.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { type ChainBalance, unexplained, walkBalances } from './chain-balances.ts'
import { judge } from './judge.ts'
import { addVaults, finish, keepSeen, leave, listSeen, noteProgress, type Taken, takeDue } from './queries.ts'

const minuteMilliseconds = 60_000

/** Compares the due vaults with the chain, one after the other, until none is due or `signal` aborts. */
export async function runDueReconciliations(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, clock, config } = deps
  await addVaults(db, new Date(clock().getTime() + config.reconcileEveryHours * 60 * minuteMilliseconds))
  while (!signal.aborted) {
    const taken = await takeDue(db, clock())
    if (taken === null) return
    await reconcile(deps, taken, signal)
  }
}

async function reconcile(deps: Deps, taken: Taken, signal: AbortSignal): Promise<void> {
  const { db, clock, log, config } = deps
  const vaultId = taken.vault_id
  const later = (minutes: number) => new Date(clock().getTime() + minutes * minuteMilliseconds)
  let isComplete = true
  try {
    const after =
      taken.after_address_id === null ? null : { addressId: taken.after_address_id, tokenId: taken.after_token_id! }
    const deadline = () => AbortSignal.any([signal, AbortSignal.timeout(walletCallTimeoutMilliseconds)])
    for await (const { page, isSilent } of walkBalances(deps, vaultId, { after, deadline })) {
      if (signal.aborted) return await leave(db, taken, null)
      if (isSilent) return await leave(db, taken, later(reconciliationAgainMinutes))
      isComplete &&= page.every(({ onChain }) => onChain !== null)
      if (page.length > 0 && !(await inTransaction(db, (trx) => notePage(trx, taken, page, clock())))) return
      await pause(reconciliationPauseMilliseconds, undefined, { signal }).catch(() => undefined)
    }
    await inTransaction(db, (trx) =>
      finish(trx, taken, {
        isComplete,
        nextAt: later(config.reconcileEveryHours * 60),
        againAt: later(reconciliationAgainMinutes),
        now: clock(),
      }),
    )
  } catch (error) {
    log.error({ err: error, vaultId }, 'a vault could not be reconciled')
    await leave(db, taken, later(reconciliationAgainMinutes))
  }
}

type News = { balance: ChainBalance; difference: bigint }

/** Stores the differences of a page and announces certain new ones, in one transaction. Returns false when another node has the vault. */
async function notePage(trx: Trx, taken: Taken, page: ChainBalance[], now: Date): Promise<boolean> {
  if (!(await noteProgress(trx, taken, page.at(-1)!, now))) return false
  const vaultId = taken.vault_id
  const seen = await listSeen(trx, vaultId, [...new Set(page.map(({ addressId }) => addressId))])
  const news: News[] = []
  for (const balance of page) {
    if (balance.onChain === null) continue
    const before = seen.get(`${balance.addressId} ${balance.tokenId}`) ?? null
    const difference = unexplained(balance, balance.onChain)
    if (before === null && difference === 0n) continue
    const { keep, announce } = judge(before, difference, now)
    await keepSeen(trx, vaultId, balance, keep)
    if (announce !== null) news.push({ balance, difference: announce })
  }
  if (news.length > 0) await announceNews(trx, vaultId, news, now)
  return true
}

/** The number of differences that a mail lists; the audit record holds all of a page. */
const listedMax = 10

async function announceNews(trx: Trx, vaultId: string, news: News[], now: Date): Promise<void> {
  const lines = news.slice(0, listedMax).map(({ balance, difference }): [string, string] => {
    const amount = formatDecimal(difference < 0n ? -difference : difference, balance.decimals)
    const words = difference < 0n ? 'missing on chain' : 'on chain and not in the books'
    return [`${balance.code} of ${balance.address} on ${balance.network}`, `${amount} ${words}`]
  })
  if (news.length > listedMax) lines.push(['others', `${news.length - listedMax}, see the audit record`])
  await announceVaultChange(trx, {
    vaultId,
    actorId: null,
    action: 'reconciliation.differs',
    targetType: 'vault',
    targetId: vaultId,
    details: {
      differences: news.map(({ balance, difference }) => ({
        addressId: balance.addressId,
        tokenId: balance.tokenId,
        inBooks: balance.held.toString(),
        onChain: balance.onChain!.toString(),
        difference: difference.toString(),
      })),
    },
    words: {
      sentence: 'The books of the vault differ from the chain',
      after: Object.fromEntries(lines),
    },
    now,
  })
}

import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { AppError } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orderScreeningMilliseconds, orderScreeningsAtOnce } from '../../../lib/limits.ts'
import { formatDecimal, usdValueOf } from '../../../lib/money.ts'
import { listCandidates } from '../../rules/policies/queries.ts'
import type { SelectorType } from '../../rules/policies/selectors.ts'
import { loadOrder, type Order } from '../transfers/load-order.ts'
import type { OrderBody } from '../transfers/payload.ts'
import { type Question, type Screener, screenerOf } from './client.ts'

/** A score as policies read it; undefined: it was not asked for, or there is no answer. */
export type Score = string | undefined

/**
 * The score of an order that is about to be placed or previewed, before its transaction. The screening is asked only about what
 * the caller may order, and only where a policy reads the score. An order that is wrong has none: placing it says why.
 */
export async function scoreOrder(deps: Deps, body: OrderBody, by: ByMember): Promise<Score> {
  const [score] = await scoreOrders(deps, by, async () => {
    const { member, now } = by
    const loading = { scope: visibleScopeOf(member), initiator: member, spends: true, now }
    return [(await loadOrder(deps.db, body, loading)).order]
  })
  return score
}

/** The scores of the orders that `load` reads, in their order; as many as were answered in time. */
export async function scoreOrders(
  deps: Deps,
  { member, now }: ByMember,
  load: () => Promise<Order[]>,
): Promise<readonly Score[]> {
  const screener = screenerOf(deps)
  if (screener === null || !(await isScoreRead(deps, { member, now }))) return []
  const orders = await load().catch((error: unknown) => {
    if (error instanceof AppError) return []
    throw error
  })
  const deadline = AbortSignal.timeout(orderScreeningMilliseconds)
  const scores: Score[] = orders.map(() => undefined)
  const left = orders.entries()
  const askOneByOne = async () => {
    for (const [i, order] of left) {
      if (deadline.aborted) return
      scores[i] = await scoreOf(deps, screener, toQuestion(order, member.vault.id, now), deadline)
    }
  }
  await Promise.all(Array.from({ length: orderScreeningsAtOnce }, askOneByOne))
  return scores
}

/** Whether a policy that may decide on transfers of the member looks at the score. */
async function isScoreRead({ db }: Deps, { member }: ByMember): Promise<boolean> {
  const selector: SelectorType = 'riskScore'
  const policies = await listCandidates(db, member.vault.id, 'transfer', member.groupIds)
  return policies.some(({ rules }) =>
    rules.some(({ selectors }) => selectors.some(({ selectorType }) => selectorType === selector)),
  )
}

async function scoreOf({ log }: Deps, screener: Screener, question: Question, deadline: AbortSignal): Promise<Score> {
  try {
    return String((await screener.ask(question, deadline)).score)
  } catch (error) {
    log.warn({ err: error }, 'an order has no risk score')
    return undefined
  }
}

function toQuestion({ source, to, amount }: Order, vaultId: string, now: Date): Question {
  return {
    id: newId(now),
    subject: { type: 'order', id: null },
    vaultId,
    network: source.network_slug,
    asset: source.token_code,
    contractAddress: source.contract_address,
    amount: amount.toString(),
    amountDecimal: formatDecimal(amount, source.decimals),
    usdValue: source.usd_rate === null ? null : usdValueOf(amount, source.decimals, source.usd_rate),
    fromAddress: source.address,
    toAddress: to.address,
    txHash: null,
  }
}

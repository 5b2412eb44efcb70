import { sql } from 'kysely'
import {
  type AddressScope,
  isAddressInScope,
  isTransferAllowed,
  visibleScopeOf,
} from '../../../access/address-scope.ts'
import type { ByMember } from '../../../access/caller.ts'
import { type Db, prepared } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { AppError } from '../../../lib/errors.ts'
import { defaultFeeLevel } from '../../../lib/fee-levels.ts'
import { newId } from '../../../lib/ids.ts'
import {
  feeEstimateAgeMilliseconds,
  feeEstimatesKeptMax,
  orderEstimateMilliseconds,
  orderScreeningMilliseconds,
  orderScreeningsAtOnce,
} from '../../../lib/limits.ts'
import { formatDecimal, parseDecimal, usdValueOf } from '../../../lib/money.ts'
import { hasOutputs } from '../../../lib/onchain-address.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import type { FeeQuestion } from '../../registry/wallet-service/client.ts'
import { listCandidates } from '../../rules/decisions/candidates.ts'
import type { SelectorType } from '../../rules/selectors/selectors.ts'
import type { KeyElsewhere } from '../../rules/signatures/take.ts'
import { findKeyElsewhere } from '../../vaults/authority/authority.ts'
import { walletOfVault } from '../../vaults/wallets/wallet-settings.ts'
import { type Screener, type Question as ScreeningQuestion, screenerOf } from '../screening/screener.ts'
import { isTokenOf } from './gather.ts'
import { loadOrder, type Order } from './load-order.ts'
import type { Lacking } from './objections.ts'
import type { OrderBody } from './schema.ts'

/** The coin of the network of an address, with the available balance of the address, in raw units. */
export type CoinAccount = { id: string; code: string; decimals: number; available: string }

/** The fee that the wallet service expects, in raw units of the coin, and the account of the address in that coin. */
type Gas = { fee: bigint; coin: CoinAccount }

/** A kept estimate for orders with the same fee. `fee` is null when the wallet service gave no estimate. */
type Known = { fee: bigint | null; at: number }

type Payer = Pick<Order['source'], 'network_slug' | 'network_type' | 'address' | 'contract_address'>

type Question = CoinAccount &
  Payer & {
    token_id: string
    token_decimals: number
    token_available: string
  }

/** The estimates of wallet services, which the process keeps for some seconds. */
export type FeeEstimates = Map<string, Known>

/** The answers of other services about an order, before its transaction. */
export type Answers = {
  /** The part of the fee that the address cannot pay; null when it can, or when the fee is not known. */
  lacking: Lacking | null
  riskScore: Score
  keyElsewhere: KeyElsewhere
}

/** Asks the wallet service for the fee, the screening for the score, and the authority for the key of a signed order. */
export async function askServices(
  deps: Deps,
  estimates: FeeEstimates,
  body: OrderBody,
  by: ByMember,
): Promise<Answers> {
  return {
    lacking: await findLacking(deps, estimates, body, by),
    riskScore: await scoreOrder(deps, body, by),
    keyElsewhere: await findKeyElsewhere(deps, by.member, body.signed?.vote),
  }
}

/**
 * Returns the part of the fee that the address cannot pay; null when it can pay the fee, when the fee is not known, and where gas is
 * not checked. The wallet service is asked when no estimate is kept, and again before an order is refused. So orders that can pay
 * share an estimate for some seconds: orders of the same token, and where the fee depends on the outputs of an address, also of the
 * same address. Without an estimate no order is refused, and the wallet service is not asked again in these seconds.
 */
async function findLacking(
  deps: Deps,
  estimates: FeeEstimates,
  body: OrderBody,
  { member, now }: ByMember,
): Promise<Lacking | null> {
  if (!deps.config.checksGas) return null
  const scope = visibleScopeOf(member)
  const question = await findQuestion(deps.db, scope, body)
  const amount = question === null ? null : parseDecimal(body.amount, question.token_decimals)
  // The order is refused later, for these faults.
  if (question === null || amount === null || BigInt(question.token_available) < amount) return null
  const order = { source: question, amount }
  const canPay = (fee: bigint) => lackingOf(order, { fee, coin: question }) === null
  const { toAddress, feeLevel } = body
  const feeQuestion = toFeeQuestion({ source: question, to: { address: toAddress }, amount, feeLevel })
  const feeKind = feeKindOf(question)
  const expecting = { vaultId: scope.vaultId, feeKind, asked: feeQuestion, now, suffices: canPay }
  const fee = await expectFee(deps, estimates, expecting)
  return fee === null ? null : lackingOf(order, { fee, coin: question })
}

/**
 * Returns a text that is the same for orders of a vault with the same fee: orders of the same token, and where the fee depends on the
 * outputs of an address, also of the same address.
 */
export const feeKindOf = ({ network_slug, network_type, contract_address, address }: Payer): string =>
  [network_slug, contract_address ?? '', hasOutputs(network_type) ? address : ''].join(' ')

/** `suffices` returns true if the order can pay a kept fee, so that the wallet service is not asked again. */
type Expecting = {
  vaultId: string
  feeKind: string
  asked: FeeQuestion
  now: Date
  suffices: (fee: bigint) => boolean
}

/** Returns the fee that the wallet service expects; null when it gives no estimate. */
export async function expectFee(
  deps: Deps,
  estimates: FeeEstimates,
  { vaultId, feeKind, asked: question, now, suffices }: Expecting,
): Promise<bigint | null> {
  const key = [vaultId, feeKind, question.feeLevel ?? defaultFeeLevel].join(' ')
  const before = estimates.get(key)
  const isFresh = before !== undefined && now.getTime() - before.at < feeEstimateAgeMilliseconds
  if (isFresh && (before.fee === null || suffices(before.fee))) return before.fee
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const deadline = AbortSignal.timeout(orderEstimateMilliseconds)
    const fee = BigInt((await wallet.estimateFee(question, deadline)).fee)
    remember(estimates, key, { fee, at: now.getTime() })
    return fee
  } catch (error) {
    deps.log.debug({ err: error }, 'no fee estimate for an order')
    // A refusal may be about this order alone.
    const isRefusal = error instanceof WalletServiceError && error.kind === 'refused'
    if (!isRefusal) remember(estimates, key, { fee: null, at: now.getTime() })
    return null
  }
}

function remember(estimates: FeeEstimates, key: string, known: Known): void {
  if (estimates.size >= feeEstimatesKeptMax) estimates.clear()
  estimates.set(key, known)
}

type Asking = { source: Payer; to: Pick<Order['to'], 'address'> } & Pick<Order, 'amount' | 'feeLevel'>

/** Returns the question to the wallet service about the fee of an order. */
export function toFeeQuestion({ source, to, amount, feeLevel }: Asking): FeeQuestion {
  return {
    network: source.network_slug,
    fromAddress: source.address,
    toAddress: to.address,
    contractAddress: source.contract_address,
    amount: amount.toString(),
    ...(feeLevel === undefined ? {} : { feeLevel }),
  }
}

type Paying = { source: { token_id: string }; amount: bigint }

/** Returns the part of the fee that the address cannot pay. An amount in the same coin is paid first. */
export function lackingOf({ source, amount }: Paying, { fee, coin }: Gas): Lacking | null {
  const rest = BigInt(coin.available) - (coin.id === source.token_id ? amount : 0n)
  return fee > rest ? { missing: fee - (rest > 0n ? rest : 0n), coin } : null
}

/** Reads the parts of the question to the wallet service. Returns null when the order is refused for another reason. */
async function findQuestion(db: Db, scope: AddressScope, body: OrderBody): Promise<Question | null> {
  const { rows } = await sql<Question>`${prepared}
    select c.id, c.code, c.decimals, coalesce(g.balance, 0)::text as available, n.slug as network_slug, n.type as network_type,
      a.address,
      t.contract_address, t.id as token_id, t.decimals as token_decimals,
      coalesce(l.balance, 0)::text as token_available
    from addresses a
    join networks n on n.id = a.network_id
    join tokens c on c.network_id = a.network_id and c.contract_key = ''
    join tokens t on t.network_id = a.network_id and ${isTokenOf(body)}
    left join ledger_accounts g on g.vault_id = a.vault_id and g.address_id = a.id and g.token_id = c.id
      and g.purpose = 'available'
    left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id
      and l.purpose = 'available'
    where a.id = ${body.fromAddressId} and ${isAddressInScope(scope, 'a')} and ${isTransferAllowed(scope, 'a')}`.execute(
    db,
  )
  return rows[0] ?? null
}

/** Returns the available balance of each address in the coin of its network. A network without a registered coin has no entry. */
export async function listCoins(db: Db, vaultId: string, addressIds: string[]): Promise<Map<string, CoinAccount>> {
  const { rows } = await sql<CoinAccount & { address_id: string }>`${prepared}
    select a.id as address_id, t.id, t.code, t.decimals, coalesce(l.balance, 0)::text as available
    from addresses a
    join tokens t on t.network_id = a.network_id and t.contract_key = ''
    left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id
      and l.purpose = 'available'
    where a.vault_id = ${vaultId} and a.id = any(${[...new Set(addressIds)]})`.execute(db)
  return new Map(rows.map((row) => [row.address_id, row]))
}

/** A score as policies read it; undefined when it was not asked for or not answered. */
export type Score = string | undefined

/**
 * Returns the score of an order before its transaction. The screening is asked only about an order that the caller may place, and
 * only where a policy reads the score. A faulty order has no score, because it is refused later.
 */
export async function scoreOrder(deps: Deps, body: OrderBody, by: ByMember): Promise<Score> {
  const [score] = await scoreOrders(deps, by, async () => {
    const { member, now } = by
    const loading = { scope: visibleScopeOf(member), initiator: member, spends: true, now }
    return [(await loadOrder(deps.db, body, loading)).order]
  })
  return score
}

/** Returns the scores of the orders that `load` reads, in their order. A score that was not answered in time is undefined. */
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

/** Returns true if a policy that may decide on transfers of the member reads the score. */
async function isScoreRead({ db }: Deps, { member }: ByMember): Promise<boolean> {
  const policies = await listCandidates(db, member.vault.id, 'transfer', member.groupIds)
  return policies.some(({ rules }) =>
    rules.some(({ selectors }) => selectors.some(({ selectorType }) => selectorType === scoreSelector)),
  )
}

const scoreSelector: SelectorType = 'riskScore'

async function scoreOf(
  { log }: Deps,
  screener: Screener,
  question: ScreeningQuestion,
  deadline: AbortSignal,
): Promise<Score> {
  try {
    return String((await screener.ask(question, deadline)).score)
  } catch (error) {
    log.warn({ err: error }, 'an order has no risk score')
    return undefined
  }
}

function toQuestion({ source, to, amount }: Order, vaultId: string, now: Date): ScreeningQuestion {
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

import { sql } from 'kysely'
import { type AddressScope, isAddressInScope, isTransferAllowed } from '../../../access/address-scope.ts'
import { type Db, prepared } from '../../../db/client.ts'
import type { Deps } from '../../../deps.ts'
import { type AppError, conflict } from '../../../lib/errors.ts'
import { defaultFeeLevel } from '../../../lib/fee-levels.ts'
import { feeEstimateAgeMilliseconds, feeEstimatesKeptMax, orderEstimateMilliseconds } from '../../../lib/limits.ts'
import { formatDecimal, parseDecimal } from '../../../lib/money.ts'
import { type FeeQuestion, WalletServiceError } from '../../registry/wallet-service/client.ts'
import { walletOfVault } from '../../vaults/vaults/wallet-settings.ts'
import type { OrderBody } from './payload.ts'
import type { CoinAccount } from './queries.ts'

/** The fee that the wallet service expects, in raw units of the coin, and what the address has of that. */
export type Gas = { fee: bigint; coin: CoinAccount }

/** What is known of the fees of a token in a vault; null: the wallet service did not say. */
type Known = { fee: bigint | null; at: number }

type Question = CoinAccount & {
  network: string
  address: string
  contract: string | null
  token_id: string
  token_decimals: number
  token_available: string
}

/** What wallet services said of fees, kept by the process for some seconds. */
export type FeeEstimates = Map<string, Known>

/**
 * The estimate for an order that it cannot pay now, looked up before its transaction; null: it can, or nobody knows. The
 * wallet service is asked when nothing is known of the fees of the token, and again before an order is refused: orders of
 * addresses that have enough of the coin share one estimate for some seconds. What it does not say refuses nothing, and is
 * not asked again for as long. Where gas is not checked, nothing is refused.
 */
export async function findUnpayable(
  db: Db,
  scope: AddressScope,
  { deps, estimates, body, now }: { deps: Deps; estimates: FeeEstimates; body: OrderBody; now: Date },
): Promise<Gas | null> {
  if (!deps.config.checksGas) return null
  const question = await findQuestion(db, scope, body)
  const amount = question === null ? null : parseDecimal(body.amount, question.token_decimals)
  // What is wrong with the order is said by the order.
  if (question === null || amount === null || BigInt(question.token_available) < amount) return null
  const canPay = (fee: bigint) => missingGas({ fee, coin: question }, question.token_id, amount) === 0n
  const asked = toFeeQuestion(question, body, amount)
  const fee = await expectFee(deps, estimates, { vaultId: scope.vaultId, asked, now, suffices: canPay })
  return fee === null || canPay(fee) ? null : { fee, coin: question }
}

/** `suffices`: whether a fee that is known of the token refuses nothing, so that the wallet service need not be asked again. */
type Expecting = { vaultId: string; asked: FeeQuestion; now: Date; suffices: (fee: bigint) => boolean }

/** The fee that the wallet service expects; null: it does not say. */
export async function expectFee(
  deps: Deps,
  estimates: FeeEstimates,
  { vaultId, asked, now, suffices }: Expecting,
): Promise<bigint | null> {
  const key = [vaultId, asked.network, asked.contractAddress ?? '', asked.feeLevel ?? defaultFeeLevel].join(' ')
  const before = estimates.get(key)
  const isFresh = before !== undefined && now.getTime() - before.at < feeEstimateAgeMilliseconds
  if (isFresh && (before.fee === null || suffices(before.fee))) return before.fee
  try {
    const wallet = await walletOfVault(deps, vaultId)
    const deadline = AbortSignal.timeout(orderEstimateMilliseconds)
    const fee = BigInt((await wallet.estimateFee(asked, deadline)).fee)
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

function toFeeQuestion({ network, address, contract }: Question, body: OrderBody, amount: bigint): FeeQuestion {
  return {
    network,
    fromAddress: address,
    toAddress: body.toAddress,
    contractAddress: contract,
    amount: amount.toString(),
    ...(body.feeLevel === undefined ? {} : { feeLevel: body.feeLevel }),
  }
}

/** How much of the coin an address lacks for the fee, after the amount where that is of the coin too; in raw units. */
export function missingGas({ fee, coin }: Gas, tokenId: string, amount: bigint): bigint {
  const rest = BigInt(coin.available) - (coin.id === tokenId ? amount : 0n)
  return fee > rest ? fee - (rest > 0n ? rest : 0n) : 0n
}

export function sentenceOfMissing(missing: bigint, { code, decimals }: Pick<CoinAccount, 'code' | 'decimals'>): string {
  return `The address lacks ${formatDecimal(missing, decimals)} ${code} for the network fee of the transfer`
}

export function insufficientGas(gas: Gas, tokenId: string, amount: bigint): AppError {
  return conflict('insufficient_gas', 'insufficient gas', sentenceOfMissing(missingGas(gas, tokenId, amount), gas.coin))
}

/** What the wallet service is asked, of an address that the caller may spend from; null: the order is refused otherwise. */
async function findQuestion(db: Db, scope: AddressScope, body: OrderBody): Promise<Question | null> {
  const { rows } = await sql<Question>`${prepared}
    select c.id, c.code, c.decimals, coalesce(g.balance, 0)::text as available, n.slug as network, a.address,
      t.contract_address as contract, t.id as token_id, t.decimals as token_decimals,
      coalesce(l.balance, 0)::text as token_available
    from addresses a
    join networks n on n.id = a.network_id
    join tokens c on c.network_id = a.network_id and c.contract_key = ''
    join tokens t on t.network_id = a.network_id and ${
      body.tokenId !== undefined
        ? sql`t.id = ${body.tokenId}`
        : body.token !== undefined
          ? sql`t.code = ${body.token}`
          : sql`t.id = a.token_id`
    }
    left join ledger_accounts g on g.vault_id = a.vault_id and g.address_id = a.id and g.token_id = c.id
      and g.purpose = 'available'
    left join ledger_accounts l on l.vault_id = a.vault_id and l.address_id = a.id and l.token_id = t.id
      and l.purpose = 'available'
    where a.id = ${body.fromAddressId} and ${isAddressInScope(scope, 'a')} and ${isTransferAllowed(scope, 'a')}`.execute(
    db,
  )
  return rows[0] ?? null
}

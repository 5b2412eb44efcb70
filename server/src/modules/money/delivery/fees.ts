import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Deps } from '../../../deps.ts'
import { formatDecimal } from '../../../lib/money.ts'
import { parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { feeNoted } from '../../operations/feed/operation-rows.ts'
import { announceVaultChange } from '../../record/notifications/announce.ts'
import { newestRate, type RateSnapshot } from '../../registry/rates/queries.ts'
import { postEntries, posting } from '../ledger/postings.ts'
import { type LockedTransfer, lockTransfer } from '../transfers/queries.ts'

const feesMax = 100

type Payer = Pick<LockedTransfer, 'vault_id' | 'network_id' | 'network_type'> & { feePaidBy: string }

/**
 * Returns the addresses of the vault that paid these fees, in their order; null for a payer outside of the vault, whose fee is
 * not booked.
 */
export async function findPayers(trx: Trx, payers: Payer[]): Promise<(string | null)[]> {
  if (payers.length === 0) return []
  const keys = payers.map(({ feePaidBy, network_type }) => parseOnchainAddress(feePaidBy, network_type)?.key ?? null)
  const { rows } = await sql<{ network_id: string; address_key: string; id: string }>`
    select a.network_id, a.address_key, a.id from addresses a
    where a.vault_id = ${payers[0]!.vault_id} and a.address_key = any(${keys.filter((key) => key !== null)}::text[])`.execute(
    trx,
  )
  return payers.map(({ network_id }, at) => {
    const found = rows.find((row) => row.network_id === network_id && row.address_key === keys[at])
    return found?.id ?? null
  })
}

/** Posts the fees that the balance could not cover when their transfers ended and that it covers now. */
export async function postOutstandingFees(deps: Deps): Promise<void> {
  // Only fees that can be posted are selected, so that the others cannot fill the batch.
  const { rows } = await sql<{ vault_id: string; id: string }>`
    select t.vault_id, t.id from transfers t
    join operations o on o.vault_id = t.vault_id and o.id = t.id
    join ledger_accounts l on l.vault_id = t.vault_id and l.address_id = coalesce(t.fee_address_id, o.address_id)
      and l.token_id = t.fee_token_id
      and l.purpose = 'available' and l.balance >= t.fee
    where t.fee_owed order by t.id limit ${feesMax}`.execute(deps.db)
  for (const { vault_id: vaultId, id } of rows) {
    try {
      await postFee(deps, vaultId, id)
    } catch (error) {
      deps.log.error({ err: error, vaultId, transferId: id }, 'fee not posted')
    }
  }
}

async function postFee({ db, clock }: Deps, vaultId: string, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const transfer = await lockTransfer(trx, vaultId, id)
    if (transfer === null || transfer.fee === null || !transfer.fee_owed) return
    const now = clock()
    const payerId = transfer.fee_address_id ?? transfer.address_id
    const coin = await lockAccounts(trx, transfer, payerId, now)
    const amount = BigInt(transfer.fee)
    if (coin === null || coin.available < amount) return
    const subject = { vaultId, tokenId: coin.id, addressId: payerId, operationId: id, amount }
    await postEntries(trx, [posting('fee', subject)], now, [
      feeNoted({ vaultId, now }, id, { ...coin, amount }),
      sql`update transfers set fee_owed = false where vault_id = ${vaultId} and id = ${id}`,
    ])
  })
}

/** The coin of the network with its USD rate, and the available balance of the payer, under lock; null when the coin is not registered. */
export type LockedCoin = (Coin & { rate: RateSnapshot | null; available: bigint }) | null

type Coin = { id: string; code: string; decimals: number }
type LockedAccounts = {
  coins: Record<string, Coin & { rate: (Omit<RateSnapshot, 'asOf'> & { asOf: string }) | null }>
  accounts: { addressId: string; tokenId: string; purpose: string; balance: string }[]
}
type Accounts = Pick<LockedTransfer, 'vault_id' | 'address_id' | 'token_id' | 'network_id'>

/**
 * SQL: locks the accounts that the end of transfers of one vault changes, in the order in which every posting locks them, so
 * that a concurrent reservation waits instead of deadlocking. The SQL is a column of another statement; `coinOf` reads its value.
 */
export function lockedAccounts(
  transfers: [Accounts, ...Accounts[]],
  payerIds: Iterable<string>,
  now: Date,
): RawBuilder<LockedAccounts> {
  const addressIds = [...new Set([...transfers.map(({ address_id }) => address_id), ...payerIds])]
  const column = (name: keyof Accounts) => [...new Set(transfers.map((transfer) => transfer[name]))]
  const isCoin = sql`t.network_id = any(${column('network_id')}::text[]) and t.contract_key = ''`
  return sql`json_build_object(
    'coins', (
      select coalesce(json_object_agg(t.network_id, json_build_object('id', t.id, 'code', t.code, 'decimals', t.decimals,
        'rate', case when r.usd_rate is not null then json_build_object(
          'usdRate', r.usd_rate::text, 'asOf', r.usd_rate_as_of, 'source', r.usd_rate_source) end)), '{}')
      from tokens t ${newestRate('t.id', now)} where ${isCoin}),
    'accounts', (
      select coalesce(json_agg(json_build_object(
        'addressId', address_id, 'tokenId', token_id, 'purpose', purpose, 'balance', balance::text)), '[]')
      from (
        select address_id, token_id, purpose, balance from ledger_accounts
        where vault_id = ${transfers[0].vault_id} and address_id = any(${addressIds}::text[])
          and (token_id = any(${column('token_id')}::text[]) or token_id in (select t.id from tokens t where ${isCoin}))
        order by address_id, token_id, purpose for update) locked))`
}

/** Locks the accounts of a transfer and of the address that pays its fee. Returns the coin in which the fee is paid. */
export async function lockAccounts(
  trx: Trx,
  transfer: LockedTransfer,
  payerId: string,
  now: Date,
): Promise<LockedCoin> {
  const accounts = lockedAccounts([transfer], [payerId], now)
  const { rows } = await sql<{ locked: LockedAccounts }>`select ${accounts} as locked`.execute(trx)
  return coinOf(rows[0]!.locked, transfer, payerId)
}

export function coinOf({ coins, accounts }: LockedAccounts, { network_id }: Accounts, payerId: string): LockedCoin {
  const coin = coins[network_id]
  if (coin === undefined) return null
  const account = accounts.find(
    ({ addressId, tokenId, purpose }) => addressId === payerId && tokenId === coin.id && purpose === 'available',
  )
  const rate = coin.rate === null ? null : { ...coin.rate, asOf: new Date(coin.rate.asOf) }
  return { ...coin, rate, available: BigInt(account?.balance ?? '0') }
}

/**
 * Reports a wallet service that paid a higher fee than permitted. The whole fee is booked, because the coins are gone; the
 * administrators get a mail, because the service may do so again (threat T63).
 */
export async function raiseFeeAlarm(
  trx: Trx,
  { vault_id: vaultId, id }: LockedTransfer,
  { fee, maxFee, coin }: { fee: bigint; maxFee: bigint; coin: { code: string; decimals: number } | null },
  now: Date,
): Promise<void> {
  const inWords = (amount: bigint) =>
    coin === null ? amount.toString() : `${formatDecimal(amount, coin.decimals)} ${coin.code}`
  await announceVaultChange(trx, {
    vaultId,
    actorId: null,
    action: 'transfer.fee_above_limit',
    targetType: 'transfer',
    targetId: id,
    details: { fee: fee.toString(), maxFee: maxFee.toString() },
    words: {
      sentence: `The wallet service paid a higher network fee for the transfer ${id} than it was permitted`,
      after: { permitted: inWords(maxFee), paid: inWords(fee) },
    },
    now,
  })
}

import type pg from 'pg'
import { isAddressEqual, zeroAddress } from 'viem'
import { readAddress, readPath } from '../addresses.ts'
import { badField, notFound, WalletError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import { amountMax } from '../limits.ts'
import type { TransferOrder } from '../protocol.ts'
import type { PresentedRow } from './transfer-row.ts'

/** Accepts an order once per (client, id): the same order again returns its state, another order under the id is a 409. */
export async function orderTransfer(
  pool: pg.Pool,
  keyring: Keyring,
  clientId: string,
  order: TransferOrder,
): Promise<PresentedRow> {
  const { address } = await keyring.account(clientId, readPath(order))
  const fromAddress = readAddress('fromAddress', order.fromAddress)
  if (!isAddressEqual(address, fromAddress)) throw badField('fromAddress', 'is not the address of the derivation path')
  const toAddress = readRecipient(order.toAddress)
  const contractAddress = order.contractAddress === null ? null : readAddress('contractAddress', order.contractAddress)
  const amount = readAmount(order.amount)
  if (amount === 0n) throw badField('amount', 'must be above zero')
  if (order.maxFee !== undefined) readAmount(order.maxFee, 'maxFee')

  await pool.query(
    `insert into wallet.transfers
       (client_id, id, network, coin_type, derivation_path, from_address, to_address, contract_address, amount, fee_level, max_fee)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (client_id, id) do nothing`,
    [
      clientId,
      order.id,
      order.network,
      order.coinType,
      order.derivationPath,
      fromAddress,
      toAddress,
      contractAddress,
      amount.toString(),
      order.feeLevel ?? null,
      order.maxFee ?? null,
    ],
  )
  const row = await getTransfer(pool, clientId, order.id)
  const same =
    row.network === order.network &&
    row.derivation_path === order.derivationPath &&
    row.from_address === fromAddress &&
    row.to_address === toAddress &&
    row.contract_address === contractAddress &&
    BigInt(row.amount) === amount &&
    row.fee_level === (order.feeLevel ?? null) &&
    row.max_fee === (order.maxFee ?? null)
  if (!same)
    throw new WalletError(409, 'This id belongs to another order', `transfer ${order.id} was ordered with other fields`)
  return row
}

/** What is in no block waits for every lower nonce of its address. */
export async function getTransfer(pool: pg.Pool, clientId: string, id: string): Promise<PresentedRow> {
  const { rows } = await pool.query<PresentedRow>(
    `select t.*,
       array(select v.tx_hash from wallet.transactions v
         where v.client_id = t.client_id and v.id = t.id order by v.number) as tx_hashes,
       case when t.status in ('queued', 'broadcast') and t.block_number is null then (
         select b.id from wallet.transfers b
         where b.client_id = t.client_id and b.network = t.network and b.from_address = t.from_address
           and b.nonce < t.nonce and b.status in ('queued', 'broadcast') and b.block_number is null
         order by b.nonce limit 1) end as waits_for
     from wallet.transfers t where t.client_id = $1 and t.id = $2`,
    [clientId, id],
  )
  if (!rows[0]) throw notFound('Transfer')
  return rows[0]
}

export function readAmount(value: string, field = 'amount'): bigint {
  const amount = BigInt(value)
  if (amount > amountMax) throw badField(field, 'must be at most 2^256-1')
  return amount
}

export function readRecipient(value: string) {
  const toAddress = readAddress('toAddress', value)
  if (isAddressEqual(toAddress, zeroAddress)) throw badField('toAddress', 'must not be the zero address')
  return toAddress
}

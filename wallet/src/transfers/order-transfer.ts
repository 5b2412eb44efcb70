import type pg from 'pg'
import { isAddressEqual, zeroAddress } from 'viem'
import { readAddress, readPath } from '../addresses.ts'
import { badField, notFound, WalletError } from '../errors.ts'
import type { Keyring } from '../keys/keyring.ts'
import { amountMax } from '../limits.ts'
import type { TransferOrder } from '../protocol.ts'
import type { TransferRow } from './transfer-row.ts'

/** Accepts an order once per (client, id): the same order again returns its state, another order under the id is a 409. */
export async function orderTransfer(
  pool: pg.Pool,
  keyring: Keyring,
  clientId: string,
  order: TransferOrder,
): Promise<TransferRow> {
  const { address } = await keyring.account(clientId, readPath(order))
  const fromAddress = readAddress('fromAddress', order.fromAddress)
  if (!isAddressEqual(address, fromAddress)) throw badField('fromAddress', 'is not the address of the derivation path')
  const toAddress = readRecipient(order.toAddress)
  const contractAddress = order.contractAddress === null ? null : readAddress('contractAddress', order.contractAddress)
  const amount = readAmount(order.amount)
  if (amount === 0n) throw badField('amount', 'must be above zero')

  await pool.query(
    `insert into wallet.transfers
       (client_id, id, network, coin_type, derivation_path, from_address, to_address, contract_address, amount)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (client_id, id) do nothing`,
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
    ],
  )
  const row = await getTransfer(pool, clientId, order.id)
  const same =
    row.network === order.network &&
    row.derivation_path === order.derivationPath &&
    row.from_address === fromAddress &&
    row.to_address === toAddress &&
    row.contract_address === contractAddress &&
    BigInt(row.amount) === amount
  if (!same)
    throw new WalletError(409, 'This id belongs to another order', `transfer ${order.id} was ordered with other fields`)
  return row
}

export async function getTransfer(pool: pg.Pool, clientId: string, id: string): Promise<TransferRow> {
  const { rows } = await pool.query<TransferRow>('select * from wallet.transfers where client_id = $1 and id = $2', [
    clientId,
    id,
  ])
  if (!rows[0]) throw notFound('Transfer')
  return rows[0]
}

export function readAmount(value: string): bigint {
  const amount = BigInt(value)
  if (amount > amountMax) throw badField('amount', 'must be at most 2^256-1')
  return amount
}

export function readRecipient(value: string) {
  const toAddress = readAddress('toAddress', value)
  if (isAddressEqual(toAddress, zeroAddress)) throw badField('toAddress', 'must not be the zero address')
  return toAddress
}

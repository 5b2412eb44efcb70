import type pg from 'pg'
import { type Address, getAddress, isAddress } from 'viem'
import { badField, notFound } from './errors.ts'
import { type ParsedPath, parseDerivationPath } from './keys/derivation-path.ts'
import type { Keyring } from './keys/keyring.ts'

type AddressOrder = { network: string; coinType: number; derivationPath: string }

/** Derives the address of the path and watches it from now on; the same path always gives the same address. */
export async function deriveAddress(
  pool: pg.Pool,
  keyring: Keyring,
  clientId: string,
  order: AddressOrder,
): Promise<Address> {
  const { address } = await keyring.account(clientId, readPath(order))
  await pool.query(
    `insert into wallet.addresses (client_id, network, derivation_path, address) values ($1, $2, $3, $4)
     on conflict (client_id, network, derivation_path) do nothing`,
    [clientId, order.network, order.derivationPath, address],
  )
  return address
}

/** Refuses a path that does not parse or names another coin type than the order does. */
export function readPath({ derivationPath, coinType }: { derivationPath: string; coinType: number }): ParsedPath {
  const path = parseDerivationPath(derivationPath)
  if ('fault' in path) throw badField('derivationPath', path.fault)
  if (path.coinType !== coinType)
    throw badField('derivationPath', `has the coin type ${path.coinType}, not ${coinType}`)
  return path
}

/** Parses an address in EIP-55 form; a single case is accepted, a wrong checksum is refused as a typing error. */
export function readAddress(field: string, value: string): Address {
  const digits = value.slice(2)
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!oneCase && !isAddress(value)) throw badField(field, 'has a wrong EIP-55 checksum')
  return getAddress(value.toLowerCase())
}

/** A client may query its own addresses only. */
export async function assertOwnAddress(
  pool: pg.Pool,
  clientId: string,
  network: string,
  address: Address,
): Promise<void> {
  const { rowCount } = await pool.query(
    'select from wallet.addresses where client_id = $1 and network = $2 and address = $3',
    [clientId, network, address],
  )
  if (rowCount !== 1) throw notFound('Address')
}

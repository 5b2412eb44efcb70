import type pg from 'pg'
import type { Chain } from './chains/chain.ts'
import { badField, notFound } from './errors.ts'
import { type ParsedPath, parseDerivationPath } from './keys/derivation-path.ts'
import type { Keyring } from './keys/keyring.ts'

type AddressOrder = { coinType: number; derivationPath: string }
type Parts = { pool: pg.Pool; keyring: Keyring; chain: Chain }

/** Derives the address of a path, and watches the address from now on. The same path always gives the same address. */
export async function deriveAddress(
  { pool, keyring, chain }: Parts,
  clientId: string,
  order: AddressOrder,
): Promise<string> {
  const { address } = await chain.openKey(keyring, clientId, readPath(order, chain))
  await pool.query(
    `insert into wallet.addresses (client_id, network, derivation_path, address) values ($1, $2, $3, $4)
     on conflict (client_id, network, derivation_path) do nothing`,
    [clientId, chain.network, order.derivationPath, address],
  )
  return address
}

/** Parses a path. Refuses a path whose coin type differs from the coin type of the order or of the network. */
export function readPath(
  { derivationPath, coinType }: AddressOrder,
  chain?: Pick<Chain, 'network' | 'coinType'>,
): ParsedPath {
  const expected = chain?.coinType ?? coinType
  if (coinType !== expected) throw badField('coinType', `must be ${expected}, that of ${chain?.network}`)
  const path = parseDerivationPath(derivationPath)
  if ('fault' in path) throw badField('derivationPath', path.fault)
  if (path.coinType !== coinType)
    throw badField('derivationPath', `has the coin type ${path.coinType}, not ${coinType}`)
  return path
}

/** Throws a 404 for an address that does not belong to the client. */
export async function assertOwnAddress(
  pool: pg.Pool,
  clientId: string,
  network: string,
  address: string,
): Promise<void> {
  const { rowCount } = await pool.query(
    'select from wallet.addresses where client_id = $1 and network = $2 and address = $3',
    [clientId, network, address],
  )
  if (rowCount !== 1) throw notFound('Address')
}

import type pg from 'pg'
import { parseDerivationPath } from '../../keys/derivation-path.ts'
import type { Keyring } from '../../keys/keyring.ts'
import { descriptorOf, toBip84Path } from './paths.ts'

/** `last`: the highest index that was derived; null for the descriptor of one address. */
type Descriptor = { text: string; last: number | null }

/** Lists the output descriptors with which a standard wallet finds the addresses of a client on a network. */
export async function listDescriptors(
  { pool, keyring }: { pool: pg.Pool; keyring: Keyring },
  { clientId, network }: { clientId: string; network: string },
): Promise<Descriptor[]> {
  const { rows } = await pool.query<{ derivation_path: string }>(
    'select derivation_path from wallet.addresses where client_id = $1 and network = $2 order by created_at, derivation_path',
    [clientId, network],
  )
  const found = new Map<string, Descriptor>()
  for (const { derivation_path } of rows) {
    const path = parseDerivationPath(derivation_path)
    if ('fault' in path) throw new Error(`a stored path ${path.fault}`)
    const account = toBip84Path({ ...path, indexes: path.indexes.slice(0, 1) })
    const text = descriptorOf(await keyring.xpub(clientId, account), path)
    const index = path.indexes.length === 1 ? null : path.indexes.at(-1)!
    const known = found.get(text)?.last ?? -1
    found.set(text, { text, last: index === null ? null : Math.max(index, known) })
  }
  return [...found.values()]
}

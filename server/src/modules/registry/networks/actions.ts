import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { newId } from '../../../lib/ids.ts'
import { audit } from '../../record/audit/record.ts'
import { networkTypeOf } from './coin-types.ts'
import { findNetworkByCoinType, type NetworkRow } from './queries.ts'

type NetworkInput = { coinType: number; code: string; slug: string; name: string; description: string | null }

/**
 * The network of this coin type, which is added to the registry if it is missing. A known one stays unchanged, because
 * other vaults use it. Returns null when the slug belongs to another coin type.
 */
export async function registerNetwork(
  trx: Trx,
  { coinType, code, slug, name, description }: NetworkInput,
  by: ByCaller,
): Promise<NetworkRow | null> {
  const { now } = by
  const inserted = await trx
    .insertInto('networks')
    .values({
      id: newId(now),
      coin_type: coinType,
      code,
      slug,
      name,
      description,
      type: networkTypeOf(coinType),
      created_at: now,
      updated_at: now,
    })
    .onConflict((clash) => clash.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (inserted === undefined) return findNetworkByCoinType(trx, coinType)
  const details = { coinType, code, slug, name }
  await audit(trx, byPlatform(by), 'network.created', { type: 'network', id: inserted.id }, details)
  return inserted as NetworkRow
}

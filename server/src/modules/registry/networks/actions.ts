import { type ByCaller, byPlatform } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { badRequest } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit, changedFields, insertAuditRecords } from '../../record/audit/record.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { networkTypeOf } from './coin-types.ts'
import { faultOfExplorer } from './explorer-template.ts'
import { findNetwork, listVaultIdsOnNetwork, lockNetwork, type NetworkRow } from './queries.ts'
import type { NetworkUpdate } from './schema.ts'

type NetworkInput = { coinType: number; code: string; slug: string; name: string; description: string | null }

/**
 * Returns the network of this coin type, and adds it to the registry if it is missing. A known network stays unchanged,
 * because other vaults use it. Returns null when the slug belongs to another coin type.
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
  if (inserted === undefined) return findNetwork(trx, { coin_type: coinType })
  const details = { coinType, code, slug, name }
  await audit(trx, byPlatform(by), 'network.created', { type: 'network', id: inserted.id }, details)
  return inserted as NetworkRow
}

/**
 * Sets or clears the logo and the links to block explorers. The identity of a network never changes.
 * @throws 400 for a template that is not a safe link, 404
 */
export async function updateNetwork(
  trx: Trx,
  id: string,
  body: NetworkUpdate,
  { isDemo, ...by }: ByCaller & { isDemo: boolean },
): Promise<NetworkRow> {
  const network = orNotFound(await lockNetwork(trx, id), 'Network')
  for (const [field, placeholder] of explorers) {
    const template = body[field]
    const fault = template == null ? null : faultOfExplorer(template, placeholder, { isDemo })
    if (fault !== null) throw badRequest(field, fault)
  }
  const { logo_uri, explorer_tx_url, explorer_address_url } = network
  const set = {
    logo_uri: body.logoUri === undefined ? logo_uri : body.logoUri,
    explorer_tx_url: body.explorerTxUrl === undefined ? explorer_tx_url : body.explorerTxUrl,
    explorer_address_url: body.explorerAddressUrl === undefined ? explorer_address_url : body.explorerAddressUrl,
    updated_at: by.now,
  }
  await trx.updateTable('networks').set(set).where('id', '=', id).execute()
  const shown = (row: Pick<NetworkRow, 'explorer_tx_url' | 'explorer_address_url'>) => ({
    explorerTxUrl: row.explorer_tx_url,
    explorerAddressUrl: row.explorer_address_url,
  })
  const changes = changedFields(shown(network), shown(set))
  const event = { actorId: by.caller.userId, action: 'network.updated', targetType: 'network', targetId: id }
  const details = { changes: { ...body } }
  const vaultIds = await listVaultIdsOnNetwork(trx, id)
  if (changes === null) await insertAuditRecords(trx, { ...event, details, now: by.now }, vaultIds)
  else {
    const words = { sentence: `The network ${quote(network.name)} was updated`, ...changes }
    await announceRegistryChange(trx, { ...event, details, now: by.now, words }, vaultIds)
  }
  return { ...network, ...set }
}

const explorers = [
  ['explorerTxUrl', '{hash}'],
  ['explorerAddressUrl', '{address}'],
] as const

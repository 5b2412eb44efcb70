import type { Static } from 'typebox'
import type { ByCaller } from '../../../access/caller.ts'
import type { Trx } from '../../../db/client.ts'
import { onViolation } from '../../../db/transaction.ts'
import { badRequest, conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { formatDecimal, parseDecimal } from '../../../lib/money.ts'
import { parseContract } from '../../../lib/onchain-address.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { changedFields, insertAuditRecords } from '../../record/audit/record.ts'
import { announceRegistryChange, quote } from '../../record/notifications/announce.ts'
import { findNetwork, type NetworkRow } from '../networks/queries.ts'
import { holdPlatformChange } from '../platform-changes/actions.ts'
import type { PlatformChangeRow } from '../platform-changes/queries.ts'
import { findToken, listVaultIdsUsingToken, lockToken, type TokenRow } from './queries.ts'
import type { TokenCreation, TokenUpdate } from './schema.ts'
import { isUsedUnderGovernance, withholdToken } from './withheld.ts'

/**
 * Registers a token on its network.
 * @throws 400 for an unknown network or a contract that is not an address of the network; 409 when another token of the network
 *   has the code or the contract
 */
export async function createToken(
  trx: Trx,
  body: Static<typeof TokenCreation>,
  { caller, now }: ByCaller,
): Promise<TokenRow> {
  const network = await getNetworkNamed(trx, body)
  const contract = body.contractAddress === null ? null : parseContract(body.contractAddress, network.type)
  if (contract === null && body.contractAddress !== null) {
    throw badRequest('contractAddress', `is not an address of the network ${network.slug}`)
  }
  const id = newId(now)
  await trx
    .insertInto('tokens')
    .values({
      id,
      network_id: network.id,
      code: body.code,
      symbol: body.symbol,
      name: body.name,
      contract_address: contract?.address ?? null,
      contract_key: contract?.key ?? '',
      decimals: body.decimals,
      logo_uri: body.logoUri ?? null,
      enabled: body.enabled ?? true,
      dust_limit: rawDustLimit(body.dustLimit ?? null, body.decimals),
      created_at: now,
      updated_at: now,
    })
    .execute()
    .catch(
      onViolation('tokens_network_id_code_key', () =>
        conflict('already_exists', `The network ${network.slug} already has a token with the code ${body.code}`),
      ),
    )
    .catch(
      onViolation('tokens_network_id_contract_key_key', () =>
        conflict('already_exists', `The network ${network.slug} already has a token with this contract`),
      ),
    )
  const { code, decimals, enabled = true, dustLimit = null } = body
  const contractAddress = contract?.address ?? null
  const { symbol, name } = body
  const details = { network: network.slug, code, symbol, name, contractAddress, decimals, enabled, dustLimit }
  const words = { sentence: `The token ${quote(body.name)} was registered`, after: details }
  const event = { actorId: caller.userId, action: 'token.created', targetType: 'token', targetId: id, details, now }
  await announceRegistryChange(trx, { ...event, words }, [])
  await withholdToken(trx, id, now)
  return (await findToken(trx, id))!
}

/** Changes the name, symbol, logo, dust limit or kill switch of a token. Its code, contract and decimals never change. */
export async function updateToken(
  trx: Trx,
  id: string,
  body: Static<typeof TokenUpdate>,
  { caller, now }: ByCaller,
): Promise<TokenRow> {
  const token = orNotFound(await lockToken(trx, id), 'Token')
  const { symbol, name, logo_uri: logoUri, enabled, decimals, dust_limit } = token
  const dustLimit = dust_limit === null ? null : formatDecimal(dust_limit, decimals)
  const before = { symbol, name, logoUri, enabled, dustLimit }
  const after = { ...before, ...body }
  await trx
    .updateTable('tokens')
    .set({
      symbol: after.symbol,
      name: after.name,
      logo_uri: after.logoUri,
      enabled: after.enabled,
      dust_limit: rawDustLimit(after.dustLimit, decimals),
      updated_at: now,
    })
    .where('id', '=', id)
    .execute()
  if (after.enabled && !enabled) await withholdToken(trx, id, now)
  const event = {
    actorId: caller.userId,
    action: 'token.updated',
    targetType: 'token',
    targetId: id,
    details: { changes: { ...body } },
    now,
  }
  const vaultIds = await listVaultIdsUsingToken(trx, id)
  const changes = changedFields(before, after)
  if (changes === null) await insertAuditRecords(trx, event, vaultIds)
  else {
    const sentence = `The token ${quote(token.code)} on ${token.network_slug} was updated`
    await announceRegistryChange(trx, { ...event, words: { sentence, ...changes } }, vaultIds)
  }
  return (await findToken(trx, id))!
}

/**
 * Updates a token as `updateToken` does. If a vault with governance uses the token, a change of its symbol, name or
 * dust limit is held for another platform administrator. Disabling a token takes effect at once, for an emergency.
 */
export async function askToUpdateToken(
  trx: Trx,
  id: string,
  body: Static<typeof TokenUpdate>,
  by: ByCaller,
): Promise<{ token: TokenRow } | { held: PlatformChangeRow }> {
  const token = orNotFound(await lockToken(trx, id), 'Token')
  const dustLimit = token.dust_limit === null ? null : formatDecimal(token.dust_limit, token.decimals)
  const isSame =
    (body.symbol ?? token.symbol) === token.symbol &&
    (body.name ?? token.name) === token.name &&
    (body.dustLimit === undefined ||
      rawDustLimit(body.dustLimit, token.decimals) === rawDustLimit(dustLimit, token.decimals))
  if (isSame || !(await isUsedUnderGovernance(trx, id))) return { token: await updateToken(trx, id, body, by) }
  return { held: await holdPlatformChange(trx, { action: 'token_update', targetId: id, payload: body }, by) }
}

function rawDustLimit(limit: string | null, decimals: number): string | null {
  if (limit === null) return null
  const raw = parseDecimal(limit, decimals)
  if (raw === null) throw badRequest('dustLimit', `must fit a token of ${decimals} decimals`)
  if (raw === 0n) throw badRequest('dustLimit', 'must be greater than 0; use null for no limit')
  return raw.toString()
}

/** @throws 400 unless exactly one of the two fields is present and names a network of the registry */
async function getNetworkNamed(
  trx: Trx,
  { networkId: id, network: slug }: { networkId?: string; network?: string },
): Promise<NetworkRow> {
  if ((id === undefined) === (slug === undefined)) {
    throw badRequest('network', 'exactly one of network and networkId is required')
  }
  const network = await findNetwork(trx, id === undefined ? { slug: slug! } : { id })
  if (network === null) {
    throw badRequest(id === undefined ? 'network' : 'networkId', 'is not a network of the registry')
  }
  return network
}

import type { Db, Trx } from '../../../db/client.ts'
import { conflict, type FieldFault, faulty } from '../../../lib/errors.ts'
import { type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { listTakenAddresses } from './queries.ts'

type AddressDraft = { network: string; address: string; label?: string | null }

/** A free address for a counterparty, in the form in which it is stored. */
export type PlannedAddress = {
  networkId: string
  network: string
  address: string
  key: string
  label: string | null
}

type Options = {
  /** The path of the drafts in the payload. */
  field: string
  /** The ids of counterparty addresses that the same change removes. */
  removedIds?: string[]
}

/**
 * Reads addresses for their networks and checks that they are free: an address has one owner in a vault.
 *
 * @throws 400 naming every address that its network does not have, 409 when one belongs to another counterparty or to
 *   the vault itself
 */
export async function planAddresses(
  db: Db | Trx,
  vaultId: string,
  drafts: AddressDraft[],
  { field, removedIds = [] }: Options,
): Promise<PlannedAddress[]> {
  if (drafts.length === 0) return []
  const slugs = [...new Set(drafts.map(({ network }) => network))]
  const networks = await db.selectFrom('networks').select(['id', 'slug', 'type']).where('slug', 'in', slugs).execute()
  const outcomes = drafts.map((draft, i) => {
    const network = networks.find(({ slug }) => slug === draft.network)
    if (network === undefined) return fault(`${field}.${i}.network`, 'is not a network of the registry')
    const onchain = parseOnchainAddress(draft.address, network.type as NetworkType)
    if (onchain === null) {
      return fault(`${field}.${i}.address`, `is not a valid address of the network ${network.slug}`)
    }
    return { networkId: network.id, network: network.slug, ...onchain, label: draft.label ?? null }
  })
  const faults = outcomes.filter((outcome): outcome is FieldFault => 'field' in outcome)
  if (faults.length > 0) throw faulty(faults)
  const planned = outcomes as PlannedAddress[]
  const repeated = planned.findIndex((address, i) => planned.findIndex((other) => isSame(address, other)) < i)
  if (repeated >= 0) throw faulty([fault(`${field}.${repeated}.address`, 'is repeated')])

  for (const taken of await listTakenAddresses(db, vaultId, planned)) {
    const { address, network } = planned.find(
      ({ networkId, key }) => networkId === taken.network_id && key === taken.address_key,
    )!
    if (taken.counterparty_address_id === null)
      throw conflict('already_exists', `${address} on ${network} is an address of this vault`)
    if (removedIds.includes(taken.counterparty_address_id)) continue
    throw conflict('already_exists', `${address} on ${network} belongs to the counterparty ${taken.name}`)
  }
  return planned
}

function fault(field: string, message: string): FieldFault {
  return { field, message }
}

function isSame(a: PlannedAddress, b: PlannedAddress): boolean {
  return a.networkId === b.networkId && a.key === b.key
}

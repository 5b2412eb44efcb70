import type { Static } from 'typebox'
import type { AddressScope } from '../../../access/address-scope.ts'
import type { Db } from '../../../db/client.ts'
import { isMistyped, type NetworkType, parseOnchainAddress } from '../../../lib/onchain-address.ts'
import { listKnown } from './queries.ts'
import type { CheckedRecipient, RecipientQuestion } from './schema.ts'

type Recipients = Static<typeof RecipientQuestion>['recipients']

type Read = { onchain: { key: string; address: string; networkId: string } } | { fault: CheckedRecipient['fault'] }

/**
 * Compares addresses with everything that the viewer knows, in the order of the question: one check for a payment, for the rows of
 * a payout and for an import into the address book.
 */
export async function checkRecipients(
  db: Db,
  scope: AddressScope,
  recipients: Recipients,
): Promise<CheckedRecipient[]> {
  const slugs = [...new Set(recipients.map(({ network }) => network))]
  const networks = await db.selectFrom('networks').select(['id', 'slug', 'type']).where('slug', 'in', slugs).execute()
  const read = recipients.map(({ network: slug, address }): Read => {
    const network = networks.find((known) => known.slug === slug)
    if (network === undefined) return { fault: 'unknown_network' }
    const type = network.type as NetworkType
    const onchain = parseOnchainAddress(address, type)
    if (onchain !== null) return { onchain: { ...onchain, networkId: network.id } }
    return { fault: isMistyped(address, type) ? 'wrong_checksum' : 'not_an_address' }
  })
  const found = await listKnown(
    db,
    scope,
    read.flatMap((entry) => ('onchain' in entry ? [entry.onchain] : [])),
  )
  let next = 0
  return read.map((entry) =>
    'onchain' in entry
      ? { address: entry.onchain.address, fault: null, ...found[next++]! }
      : { address: null, fault: entry.fault, known: null, isFirstPayment: true, lookAlikes: [] },
  )
}

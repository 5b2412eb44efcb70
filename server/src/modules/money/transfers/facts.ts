import { formatDecimal } from '../../../lib/money.ts'
import type { AddressOwner } from '../../address-book/counterparties/queries.ts'
import type { Facts } from '../../rules/policies/facts.ts'
import type { Initiator } from '../../rules/policies/queries.ts'
import type { Order } from './plan-order.ts'

/** All facts of an order that policies may read. */
export function factsOf(
  { source, to, amount }: Order,
  { initiator, category, now }: { initiator: Initiator; category: string | null; now: Date },
): Facts {
  return {
    now,
    initiatorId: initiator.userId,
    initiatorGroupIds: initiator.groupIds,
    token: { id: source.token_id, code: source.token_code },
    amount: formatDecimal(amount, source.decimals),
    ...(source.usd_rate === null ? {} : { usdRate: source.usd_rate }),
    available: formatDecimal(source.available ?? '0', source.decimals),
    networkSlug: source.network_slug,
    sourceAddressId: source.address_id,
    sourceAddress: source.address,
    addressGroupIds: source.folder_ids,
    routeVariants: source.route_variants,
    destination: { address: to.address, key: to.key, networkType: source.network_type },
    ...recipientFacts(source.to_address_id !== null, source.counterparty),
    category,
  }
}

/** The entry of the address book for the destination. */
export function recipientFacts(
  isInternal: boolean,
  owner: AddressOwner | null,
): Pick<Facts, 'destinationType' | 'counterparty'> {
  const destinationType = isInternal ? 'internal' : owner === null ? 'unknown' : 'counterparty'
  if (owner === null) return { destinationType, counterparty: null }
  const { id, kind, createdAt, groupIds } = owner
  return { destinationType, counterparty: { id, kind, createdAt, groupIds } }
}

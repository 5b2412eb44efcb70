import { type RawBuilder, sql } from 'kysely'
import { type AddressScope, allVisible, isAddressInScope } from '../../../access/address-scope.ts'

/** The kinds of network fees: of a payment, a payment whose transaction replaced another, a cancellation on chain, or a failure. */
export const feeKinds = ['payment', 'replacement', 'cancellation', 'failure'] as const
export type FeeKind = (typeof feeKinds)[number]

/** The conditions on booked fees; a condition that is null is not applied. */
export type FeeFilter = {
  feePayerIds: string[] | null
  feeKinds: FeeKind[] | null
}

/** SQL: the kind of the booked fee of the operation `o`, whose transfer is `t`. */
export const feeKind = sql<FeeKind>`case
  when o.status = 'confirmed' then case when t.replaced_tx_hashes = '{}' then 'payment' else 'replacement' end
  when t.failure_reason ~ '^(RELEASED: )?CANCELLED' then 'cancellation' else 'failure' end`

/**
 * SQL: the id of the address of the vault that paid the fee of the operation `o`, whose transfer is `t`; null if
 * another address than the sender paid and the viewer may not see it.
 */
export function feePayer(scope: AddressScope): RawBuilder<unknown> {
  if (scope.viewer.readsAll) return sql`coalesce(t.fee_address_id, o.address_id)`
  return sql`case when t.fee_address_id is null then o.address_id else (
    select r.id from addresses r where r.id = t.fee_address_id and ${isAddressInScope(allVisible(scope), 'r')}) end`
}

/** SQL condition: the operation `o` has a booked fee that meets the conditions. */
export function hasFee(scope: AddressScope, { feePayerIds, feeKinds: kinds }: FeeFilter): RawBuilder<boolean> {
  const ofPayers = feePayerIds === null ? sql`true` : sql`${feePayer(scope)} = any(${feePayerIds}::text[])`
  const ofKinds = kinds === null ? sql`true` : sql`${feeKind} = any(${kinds}::text[])`
  return sql<boolean>`(o.fee_booked_at is not null and exists (
    select from transfers t where t.vault_id = o.vault_id and t.id = o.id and ${ofPayers} and ${ofKinds}))`
}

import { type RawBuilder, sql } from 'kysely'
import { hasCategoryRight } from '../assignments/visibility.ts'
import { type FeedCondition, typeOf } from './feed-path.ts'
import type { Walk } from './feed-walk.ts'

/** SQL: the conditions that the walk checks on a row `w` of its window, which has `checkedColumns`. */
export const checksOf = (walk: Walk) =>
  sql.join(
    walk.path.conditions.map((condition) => conditions[condition](walk)),
    sql` and `,
  )

/** The columns of a row that the conditions read. */
export const checkedColumns = (alias: string) =>
  sql.join(
    ['vault_id', 'type', 'status', 'address_id', 'owner_id', 'initiator_id', 'token_id', 'flow_type', 'tx_hash']
      .concat('counterparty_id', 'counterparty_address_id', 'payment_purpose')
      .map((column) => sql.ref(`${alias}.${column}`)),
  )

/** The conditions that the walk checks row by row; `w` is the row. */
const conditions: Record<FeedCondition, (walk: Walk) => RawBuilder<unknown>> = {
  person: ({ scope }) => sql`${scope.ownerId} in (w.owner_id, w.initiator_id)`,
  // The snapshot still names users who have since left the group that made them voters.
  awaiting: ({ filters }) => sql`w.status = 'awaiting_approval' and w.initiator_id <> ${filters.awaitingApprovalOf}
    and exists (select from approval_voters v
      where v.vault_id = w.vault_id and v.subject_id = w.id and v.user_id = ${filters.awaitingApprovalOf}
        and v.decision is null)
    and exists (select from entitled_voters e
      where e.vault_id = w.vault_id and e.subject_id = w.id and e.user_id = ${filters.awaitingApprovalOf})`,
  type: ({ resolved }) => sql`w.type = ${typeOf(resolved)}`,
  status: ({ resolved }) => sql`w.status = ${resolved.status}`,
  flowType: ({ resolved }) => sql`w.flow_type = ${resolved.flowType}`,
  token: ({ resolved }) => sql`w.token_id = any(${resolved.tokenIds}::text[])`,
  address: ({ resolved }) => sql`w.address_id = any(${resolved.addressIds}::text[])`,
  counterparty: ({ resolved }) => sql`w.counterparty_id = any(${resolved.counterpartyIds}::text[])`,
  counterpartyAddress: ({ resolved }) => sql`w.counterparty_address_id = ${resolved.counterpartyAddressId}`,
  category: ({ scope, resolved }) => sql`exists (
    select from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = w.vault_id and a.operation_id = w.id and a.category_id = any(${resolved.categoryIds}::text[])
      and ${hasCategoryRight(scope, 'view', 'c', 'w')})`,
  purpose: ({ resolved }) => sql`w.payment_purpose = ${resolved.paymentPurpose}`,
  policy: ({ resolved }) => sql`exists (
    select from transfers t
    where t.vault_id = w.vault_id and t.id = w.id and t.decision_policy_id = ${resolved.decisionPolicyId})`,
  hash: ({ resolved }) => sql`w.tx_hash = ${resolved.txHash}`,
  period: ({ resolved }) => sql`w.created_at >= coalesce(${resolved.from}::timestamptz, '-infinity')
    and w.created_at <= coalesce(${resolved.to}::timestamptz, 'infinity')`,
}

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
  type: ({ wants }) => sql`w.type = ${typeOf(wants)}`,
  status: ({ wants }) => sql`w.status = ${wants.status}`,
  flowType: ({ wants }) => sql`w.flow_type = ${wants.flowType}`,
  token: ({ wants }) => sql`w.token_id = any(${wants.tokenIds}::text[])`,
  address: ({ wants }) => sql`w.address_id = any(${wants.addressIds}::text[])`,
  counterparty: ({ wants }) => sql`w.counterparty_id = any(${wants.counterpartyIds}::text[])`,
  counterpartyAddress: ({ wants }) => sql`w.counterparty_address_id = ${wants.counterpartyAddressId}`,
  category: ({ scope, wants }) => sql`exists (
    select from category_assignments a
    join operation_categories c on c.vault_id = a.vault_id and c.id = a.category_id
    where a.vault_id = w.vault_id and a.operation_id = w.id and a.category_id = any(${wants.categoryIds}::text[])
      and ${hasCategoryRight(scope, 'view', 'c', 'w')})`,
  purpose: ({ wants }) => sql`w.payment_purpose = ${wants.paymentPurpose}`,
  policy: ({ wants }) => sql`exists (
    select from transfers t
    where t.vault_id = w.vault_id and t.id = w.id and t.decision_policy_id = ${wants.decisionPolicyId})`,
  hash: ({ wants }) => sql`w.tx_hash = ${wants.txHash}`,
  period: ({ wants }) => sql`w.created_at >= coalesce(${wants.from}::timestamptz, '-infinity')
    and w.created_at <= coalesce(${wants.to}::timestamptz, 'infinity')`,
}

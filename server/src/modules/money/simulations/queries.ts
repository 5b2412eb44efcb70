import { sql } from 'kysely'
import { type AddressScope, isOperationInScope } from '../../../access/address-scope.ts'
import { isAdministrators } from '../../../access/memberships.ts'
import type { Db } from '../../../db/client.ts'
import type { Paging } from '../../../lib/cursor.ts'
import type { Decision, Facts } from '../../rules/policies/decision.ts'

/** A transfer with the decision that was recorded when it was ordered. */
export type DecidedTransfer = {
  id: string
  created_at: Date
  effect: Decision['effect']
  decision_policy: Decision['decisionPolicy']
  requirements: Decision['requirements'] | null
  /** `now` is an ISO timestamp. */
  facts: (Omit<Facts, 'now'> & { now: string }) | null
}

/** Transfers in scope that were ordered in the interval (both bounds inclusive), the newest first. */
export async function listDecidedTransfers(
  db: Db,
  scope: AddressScope,
  { from, to }: { from: Date; to: Date },
  { after, limit }: Paging,
): Promise<DecidedTransfer[]> {
  const { rows } = await sql<DecidedTransfer>`
    select o.id, o.created_at, t.decision ->> 'effect' as effect, t.decision -> 'decisionPolicy' as decision_policy,
      t.decision -> 'requirements' as requirements, t.decision -> 'facts' as facts
    from operations o join transfers t on t.vault_id = o.vault_id and t.id = o.id
    where ${isOperationInScope(scope, 'o')} and o.type = 'transfer' and o.created_at between ${from} and ${to}
      ${after === null ? sql`` : sql`and (o.created_at, o.id) < (${after.createdAt}, ${after.id})`}
    order by o.created_at desc, o.id desc limit ${limit}`.execute(db)
  return rows
}

/** The groups of the vault, and that of its administrators. */
export async function listGroupIds(db: Db, vaultId: string): Promise<{ all: string[]; administrators: string }> {
  const { rows } = await sql<{ id: string; isAdministrators: boolean }>`
    select g.id, ${isAdministrators('g')} as "isAdministrators" from policy_groups g where g.vault_id = ${vaultId}`.execute(
    db,
  )
  return { all: rows.map(({ id }) => id), administrators: rows.find((row) => row.isAdministrators)!.id }
}

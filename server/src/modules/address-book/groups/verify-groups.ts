import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows, ofTarget, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Stored = { id: string; code: string; name: string; archived: boolean; members: string[] }
type Details = { code: string; name: string; counterpartyId: string; changes?: { after?: RecordedRow } | null }

/** Compares the groups of the address book of a vault and their members with the record. */
export async function verifyGroups(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select g.id, g.code, g.name, g.archived_at is not null as archived,
      array(select m.counterparty_id from counterparty_group_memberships m
        where m.vault_id = g.vault_id and m.group_id = g.id) as members
    from counterparty_groups g where g.vault_id = ${vaultId} order by g.id`.execute(trx)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'counterparty_group',
    actions: ['created', 'updated', 'member_added', 'member_removed', 'archived'].map(
      (verb) => `counterparty_group.${verb}`,
    ),
    take: ofTarget((before, { action, details }) => after(before ?? {}, action, details as Details)),
    rows: rows.map(({ id, members, ...row }) => ({ id, row: { ...row, members: members.toSorted() } })),
  })
}

function after(before: RecordedRow, action: string, { code, name, counterpartyId, changes }: Details): RecordedRow {
  const members = (before.members ?? []) as string[]
  if (action === 'counterparty_group.created') return { code, name, archived: false, members: [] }
  if (action === 'counterparty_group.archived') return { ...before, archived: true }
  if (action === 'counterparty_group.updated') return { ...before, name: changes?.after?.name ?? before.name }
  if (action === 'counterparty_group.member_added') return { ...before, members: [...members, counterpartyId].sort() }
  return { ...before, members: members.filter((id) => id !== counterpartyId) }
}

import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { ReplayedRecord } from '../../record/audit/queries.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { grantsInWords } from '../grants/queries.ts'
import { grantActions, takeGrant } from '../grants/recorded-grants.ts'

type Stored = { id: string; name: string; manager: string; addresses: string[]; grants: object }

/** Compares the folders of a vault with the record: their managers, addresses and grants. */
export async function verifyFolders(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select f.id, f.name, f.created_by_id as manager, ${grantsInWords('address_group', 'f')} as grants,
      array(select m.address_id from address_group_members m where m.vault_id = f.vault_id and m.group_id = f.id) as addresses
    from address_groups f where f.vault_id = ${vaultId} order by f.id`.execute(trx)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'address_group',
    actions: [
      ...['created', 'updated', 'member_added', 'member_removed'].map((verb) => `address_group.${verb}`),
      ...grantActions('address_group'),
      'address_group.deleted',
    ],
    take,
    rows: rows.map(({ id, addresses, ...row }) => ({ id, row: { ...row, addresses: addresses.toSorted() } })),
  })
}

function take(recorded: Map<string, RecordedRow>, record: ReplayedRecord): void {
  const { action, actorId, targetId, details } = record
  const before = recorded.get(targetId)
  const inIt = (before?.addresses ?? []) as string[]
  const { name, addressId, changes } = details as { name?: string; addressId: string; changes?: Changes }
  if (action === 'address_group.created') recorded.set(targetId, { name, manager: actorId, addresses: [], grants: {} })
  else if (action === 'address_group.deleted') recorded.delete(targetId)
  else if (before === undefined || grantActions('address_group').includes(action)) takeGrant(recorded, record)
  else if (action === 'address_group.updated') before.name = changes?.after?.name ?? before.name
  else if (action === 'address_group.member_added') before.addresses = [...inIt, addressId].sort()
  else before.addresses = inIt.filter((id) => id !== addressId)
}

type Changes = { after?: { name?: string } }

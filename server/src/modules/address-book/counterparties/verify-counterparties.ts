import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows, ofTarget, type RecordedRow } from '../../record/audit/compare-rows.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Stored = { id: string; name: string; kind: string; archived: boolean; addresses: string[]; keys: string[] }
type Audited = { network: string; address: string }
type Change = {
  changes?: { after?: RecordedRow } | null
  addedAddresses?: Audited[]
  removedAddresses?: Audited[]
}

const toText = ({ network, address }: Audited): string => `${network} ${address}`

/** Compares the counterparties of a vault with the record: their addresses, their types and their archiving. */
export async function verifyCounterparties(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select c.id, c.name, c.kind, c.archived_at is not null as archived,
      array(select n.slug || ' ' || a.address from counterparty_addresses a join networks n on n.id = a.network_id
        where a.vault_id = c.vault_id and a.counterparty_id = c.id) as addresses,
      array(select a.address || ' ' || a.address_key from counterparty_addresses a
        where a.vault_id = c.vault_id and a.counterparty_id = c.id and lower(a.address) <> lower(a.address_key)) as keys
    from counterparties c where c.vault_id = ${vaultId} order by c.id`.execute(trx)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'counterparty',
    actions: ['counterparty.created', 'counterparty.updated', 'counterparty.archived'],
    take: ofTarget((before, { action, details }) => after(before ?? {}, action, details)),
    rows: rows.map(({ id, keys, addresses, ...row }) => ({
      id,
      row: { ...row, addresses: addresses.toSorted(), 'keys of addresses': keys },
    })),
  })
}

function after(before: RecordedRow, action: string, details: Record<string, unknown>): RecordedRow {
  if (action === 'counterparty.archived') return { ...before, archived: true }
  if (action === 'counterparty.created') {
    const addresses = ((details.addresses ?? []) as Audited[]).map(toText).toSorted()
    return { name: details.name, kind: details.kind, archived: false, addresses, 'keys of addresses': [] }
  }
  const { changes, addedAddresses = [], removedAddresses = [] } = details as Change
  const { name = before.name, kind = before.kind } = changes?.after ?? {}
  const removed = removedAddresses.map(toText)
  const kept = (before.addresses as string[]).filter((address) => !removed.includes(address))
  return { ...before, name, kind, addresses: [...kept, ...addedAddresses.map(toText)].toSorted() }
}

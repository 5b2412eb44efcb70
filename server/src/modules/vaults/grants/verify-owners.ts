import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows } from '../../record/audit/compare-rows.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { grantsInWords } from './queries.ts'
import { grantActions, takeGrant } from './recorded-grants.ts'

type Stored = { id: string; owner: string; network: string; address: string; path: string; grants: object }

/** Compares the owners and grants of the addresses of a vault with the record. The owner of an address is the user who created it. */
export async function verifyOwners(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select a.id, a.owner_id as owner, n.slug as network, a.address, a.derivation_path as path,
      ${grantsInWords('address', 'a')} as grants
    from addresses a join networks n on n.id = a.network_id where a.vault_id = ${vaultId} order by a.id`.execute(trx)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'address',
    actions: ['address.created', ...grantActions('address')],
    take(recorded, record) {
      const { action, actorId, targetId, details } = record
      if (action !== 'address.created') return takeGrant(recorded, record)
      const { network, address, derivationPath } = details
      const owner = actorId ?? undefined
      recorded.set(targetId, {
        ...{ owner, network, 'on-chain address': address, 'derivation path': derivationPath, grants: {} },
      })
    },
    rows: rows.map(({ id, address, path, ...row }) => ({
      id,
      row: { ...row, 'on-chain address': address, 'derivation path': path },
    })),
  })
}

import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows } from '../../record/audit/compare-rows.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Stored = { id: string; owner: string; network: string; address: string; path: string; key: string }

/** Compares the addresses of a vault, and whose they are, with the record: the owner is who created it. */
export async function verifyOwners(trx: Trx, vaultId: string): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select a.id, a.owner_id as owner, n.slug as network, a.address, a.derivation_path as path, a.address_key as key
    from addresses a join networks n on n.id = a.network_id where a.vault_id = ${vaultId} order by a.id`.execute(trx)
  return compareRows(trx, {
    chain: vaultId,
    targetType: 'address',
    actions: ['address.created'],
    apply: (_before, { actorId, details }) => ({
      owner: actorId ?? undefined,
      network: details.network,
      'on-chain address': details.address,
      'derivation path': details.derivationPath,
    }),
    rows: rows.map(({ id, owner, network, address, path }) => ({
      id,
      row: { owner, network, 'on-chain address': address, 'derivation path': path },
    })),
  })
}

import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows, ofTarget } from '../../record/audit/compare-rows.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'
import { isTypeOf, networkTypeOf } from './coin-types.ts'

type Stored = {
  id: string
  coinType: number
  code: string
  slug: string
  name: string
  type: string
  explorerTxUrl: string | null
  explorerAddressUrl: string | null
}

/** Compares the networks and their links with the audit records. */
export async function verifyNetworks(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select id, coin_type as "coinType", code, slug, name, type, explorer_tx_url as "explorerTxUrl",
      explorer_address_url as "explorerAddressUrl"
    from networks order by id`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'network',
    actions: ['network.created', 'network.updated'],
    take: ofTarget((before, { action, details }) => {
      if (action === 'network.created') {
        const { coinType, code, slug, name } = details
        const type = networkTypeOf(Number(coinType))
        return { coinType, code, slug, name, type, explorerTxUrl: null, explorerAddressUrl: null }
      }
      const { logoUri: _, ...changes } = details.changes as Record<string, unknown>
      return { ...before, ...changes }
    }),
    rows: rows.map(({ id, ...row }) => ({
      id,
      row: isTypeOf(row.coinType, row.type) ? { ...row, type: networkTypeOf(row.coinType) } : row,
    })),
  })
}

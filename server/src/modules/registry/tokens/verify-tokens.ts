import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { compareRows } from '../../record/audit/compare-rows.ts'
import { platformChain } from '../../record/audit/record.ts'
import type { SubjectReport } from '../../record/audit/verify-subjects.ts'

type Stored = {
  id: string
  network: string
  code: string
  contract: string | null
  key: string
  decimals: number
  enabled: boolean
}

/** Compares what decides which coins a token is, and how many its amounts are, with the record. */
export async function verifyTokens(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select t.id, n.slug as network, t.code, t.contract_address as contract, t.contract_key as key, t.decimals, t.enabled
    from tokens t join networks n on n.id = t.network_id order by t.id`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'token',
    actions: ['token.created', 'token.updated'],
    apply(before, { action, details }) {
      if (action === 'token.created') {
        const { network, code, contractAddress: contract, decimals, enabled } = details as Record<string, unknown>
        return { network, code, contract, decimals, enabled, 'key of the contract': 'of its contract' }
      }
      const { enabled = before?.enabled } = details.changes as { enabled?: unknown }
      return { ...before, enabled }
    },
    rows: rows.map(({ id, key, ...row }) => ({ id, row: { ...row, 'key of the contract': keyInWords(row, key) } })),
  })
}

/** The key is what events are matched with; it follows from the address. */
const keyInWords = ({ contract }: Pick<Stored, 'contract'>, key: string): string =>
  (contract ?? '').toLowerCase() === key.toLowerCase() ? 'of its contract' : key

import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { parseDecimal } from '../../../lib/money.ts'
import { compareRows, ofTarget } from '../../record/audit/compare-rows.ts'
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
  symbol: string
  name: string
  dust: string | null
}

/** Compares the tokens, except their logos, with the audit records. */
export async function verifyTokens(trx: Trx): Promise<SubjectReport> {
  const { rows } = await sql<Stored>`
    select t.id, n.slug as network, t.code, t.contract_address as contract, t.contract_key as key, t.decimals, t.enabled,
      t.symbol, t.name, t.dust_limit::text as dust
    from tokens t join networks n on n.id = t.network_id order by t.id`.execute(trx)
  return compareRows(trx, {
    chain: platformChain,
    targetType: 'token',
    actions: ['token.created', 'token.updated'],
    take: ofTarget((before, { action, details }) => {
      const { dustLimit, ...recorded } = (action === 'token.created' ? details : details.changes) as Recorded
      const decimals = recorded.decimals ?? (before?.decimals as number)
      const dust = dustLimit == null ? dustLimit : parseDecimal(dustLimit, decimals)?.toString()
      if (action === 'token.updated')
        return { ...before, ...withoutLogo(recorded), ...(dust === undefined ? {} : { dust }) }
      const { contractAddress: contract, ...rest } = recorded
      return { ...rest, contract, dust, 'key of the contract': 'of its contract' }
    }),
    rows: rows.map(({ id, key, ...row }) => ({ id, row: { ...row, 'key of the contract': keyInWords(row, key) } })),
  })
}

/** The fields of an audit record. Fields that an older record lacks are not compared. */
type Recorded = {
  contractAddress?: string | null
  decimals?: number
  dustLimit?: string | null
  logoUri?: string | null
  [more: string]: unknown
}

/** Removes the logo, which no decision depends on. */
const withoutLogo = ({ logoUri: _, ...rest }: Recorded) => rest

/** Returns the key of a contract as a text to compare. Events are matched to tokens by the key, which is computed from the contract. */
const keyInWords = ({ contract }: Pick<Stored, 'contract'>, key: string): string =>
  (contract ?? '').toLowerCase() === key.toLowerCase() ? 'of its contract' : key

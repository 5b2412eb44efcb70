import { sql } from 'kysely'
import type { Trx } from '../../../db/client.ts'
import { auditVerifyPageSubjectsMax, differencesNamedMax } from '../../../lib/limits.ts'
import { parseDecimal } from '../../../lib/money.ts'
import type { SubjectDifference, SubjectReport } from '../../record/audit/verify-subjects.ts'
import { parseStoredEvent } from './parse-event.ts'
import { findEventTargets } from './queries.ts'

/**
 * Compares every deposit with the events that the wallet service sent about it. Their bodies are kept as received, and the role
 * of the service cannot change them.
 */
export async function verifyDeposits(trx: Trx, now: Date): Promise<SubjectReport> {
  const differences: SubjectDifference[] = []
  for (const { vaultId, id } of await listUnreported(trx))
    differences.push({ vaultId, targetType: 'deposit', targetId: id, detail: 'no wallet event credits it' })
  const corrections = await listCorrections(trx)
  let checked = 0
  for (let after = ''; ; ) {
    const page = await listCredits(trx, after)
    const targets = await findEventTargets(
      trx,
      page.flatMap(({ event }) => (event === null ? [] : [event])),
      now,
    )
    for (const { vaultId, depositId, event, ...stored } of page) {
      const target = event === null ? null : targets.shift()!
      const name = (detail: string) => differences.push({ vaultId, targetType: 'deposit', targetId: depositId, detail })
      if (stored.amount === null) name('a wallet event credits it, and it is gone')
      else if (event === null || target?.token == null || target.address === null) name(unlike('not of a deposit here'))
      else {
        const { token, address } = target
        const amount = parseDecimal(event.amountDecimal, token.decimals)?.toString()
        if (address.vaultId !== vaultId || address.id !== stored.addressId) name(unlike('for another address'))
        if (token.id !== stored.tokenId) name(unlike('of another token'))
        if (event.txHash !== stored.txHash || event.index !== stored.index) name(unlike('of another transaction'))
        const correction = corrections.get(depositId)
        const expected = amount !== undefined && amount === correction?.before ? correction.amount : amount
        if (expected !== stored.amount) name(unlike(`of ${event.amountDecimal}`))
      }
    }
    checked += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < auditVerifyPageSubjectsMax) return { checked, differences }
    after = last.eventId
  }
}

const unlike = (finding: string) => `the wallet event that credits it is ${finding}`

/**
 * Lists the deposits in the books that no event credits, in one statement, because events have no index by deposit. A deposit that
 * the chain lost before it was credited is not in the books.
 */
async function listUnreported(trx: Trx): Promise<{ vaultId: string; id: string }[]> {
  const { rows } = await sql<{ vaultId: string; id: string }>`
    select d.vault_id as "vaultId", d.id from deposits d
    where exists (select from operations o where o.vault_id = d.vault_id and o.id = d.id) and not exists (
      select from wallet_events e where e.vault_id = d.vault_id and e.deposit_id = d.id and e.outcome = 'credited')
    order by d.id limit ${differencesNamedMax}`.execute(trx)
  return rows
}

/** The amounts of a deposit before and after two people corrected it, in raw units. */
type Correction = { before: string; amount: string }

/** Returns the corrections by the id of the deposit, from the audit records, which are append-only. */
async function listCorrections(trx: Trx): Promise<Map<string, Correction>> {
  const { rows } = await sql<{ content: string }>`
    select content from audit_records where action = 'wallet_event.credited' and target_type = 'wallet_event'`.execute(
    trx,
  )
  const details = rows.map(({ content }) => JSON.parse(content).details as Correction & { depositId: string })
  return new Map(details.map(({ depositId, before, amount }) => [depositId, { before, amount }]))
}

type Credited = {
  eventId: string
  body: string
  network: string
  vaultId: string
  depositId: string
  addressId: string | null
  tokenId: string | null
  txHash: string | null
  index: number | null
  /** The amount in raw units; null when there is no such deposit. */
  amount: string | null
}

async function listCredits(trx: Trx, after: string) {
  const { rows } = await sql<Credited>`
    select e.id as "eventId", e.body, e.network, e.vault_id as "vaultId", e.deposit_id as "depositId", d.address_id as "addressId",
      d.token_id as "tokenId", d.tx_hash as "txHash", d.tx_index as index, o.amount::text as amount
    from wallet_events e
    left join deposits d on d.vault_id = e.vault_id and d.id = e.deposit_id
    left join operations o on o.vault_id = d.vault_id and o.id = d.id
    where e.outcome = 'credited' and e.deposit_id is not null and e.id > ${after}
    order by e.id limit ${auditVerifyPageSubjectsMax}`.execute(trx)
  return rows.map((row) => ({ ...row, event: parseStoredEvent(row) }))
}

import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../lib/ids.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

/**
 * Each constraint of the books is dropped for a row that it refuses. The row is refused only by this constraint, and passes
 * without it, so no other constraint hides its absence.
 */
let bench: TransferBench

type Row = Record<string, unknown>
/** Tables of the books, with a row for each of their constraints that it refuses. */
let refused: Record<string, Record<string, Row[]>>

beforeAll(async () => {
  bench = await createTransferBench()
  refused = await rowsByConstraint()
})
afterAll(() => bench?.close())

async function rowsByConstraint(): Promise<typeof refused> {
  const from = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  await bench.order(from.id, '50')
  return { ...(await rowsOfAccounts(from.id)), ...(await rowsOfOthers(from.id)) }
}

async function rowsOfAccounts(addressId: string): Promise<typeof refused> {
  const { vault, sql } = bench
  const accounts = await sql('select * from ledger_accounts where address_id = $1', [addressId])
  const account = (tokenId: string, purpose: string) =>
    accounts.find((row: Row) => row.token_id === tokenId && row.purpose === purpose)
  const available = account(vault.tokens.usdt.id, 'available')
  const [reserved] = await sql(`select * from ledger_entries where kind = 'reserve' limit 1`)
  const now = new Date()
  const vaultId = vault.id

  const entry = (part: Row): Row => {
    const { sequence: _, ...present } = reserved
    return { ...present, operation_id: newId(now), ...part }
  }
  const deposit = (part: Row): Row =>
    entry({ kind: 'deposit', debit_account: null, debit_balance: null, credit_account: available.number, ...part })
  const other = (part: Row): Row => ({
    ...{ vault_id: vaultId, id: newId(now), token_id: 'token', address_id: newId(now), purpose: 'available' },
    ...{ balance: 0, created_at: now, ...part },
  })
  const nowhere = 99_999_999
  return {
    ledger_entries: {
      ledger_entries_amount_check: [entry({ amount: 0 }), entry({ amount: -5 })],
      ledger_entries_credit_balance_check: [entry({ credit_balance: -1 })],
      ledger_entries_credit_max: [deposit({ credit_balance: String(2n ** 256n) })],
      ledger_entries_debit_balance_check: [entry({ debit_balance: -1 })],
      ledger_entries_kind_check: [entry({ kind: 'gift' })],
      ledger_entries_once: [entry({ operation_id: reserved.operation_id })],
      ledger_entries_pkey: [entry({ sequence: reserved.sequence })],
      ledger_entries_running_balances: [entry({ debit_balance: null }), deposit({ debit_balance: 1 })],
      ledger_entries_sides_of_kind: [
        entry({ kind: 'deposit' }),
        entry({ credit_account: null, credit_balance: null }),
        deposit({ kind: 'settle' }),
      ],
      ledger_entries_two_sides: [entry({ credit_account: reserved.debit_account })],
      ledger_entries_vault_id_token_id_credit_account_fkey: [
        entry({ credit_account: nowhere }),
        entry({ credit_account: account(vault.tokens.eth.id, 'available').number }),
      ],
      ledger_entries_vault_id_token_id_debit_account_fkey: [
        entry({ debit_account: nowhere }),
        entry({ debit_account: account(vault.tokens.eth.id, 'available').number }),
      ],
    },
    ledger_accounts: {
      ledger_accounts_balance_not_negative: [other({ balance: -1 })],
      ledger_accounts_check: [other({ purpose: 'external' }), other({ address_id: '', balance: null })],
      ledger_accounts_check1: [other({ balance: null }), other({ address_id: '', purpose: 'external' })],
      ledger_accounts_exposure: [other({ exposure: -1 }), other({ exposure: 1, purpose: 'reserved' })],
      ledger_accounts_pkey: [other({ id: available.id })],
      ledger_accounts_purpose_check: [other({ purpose: 'petty cash' })],
      ledger_accounts_vault_id_address_id_token_id_purpose_key: [
        other({ address_id: addressId, token_id: available.token_id }),
      ],
      ledger_accounts_vault_id_token_id_number_key: [other({ token_id: available.token_id, number: available.number })],
    },
  }
}

async function rowsOfOthers(addressId: string): Promise<typeof refused> {
  const now = new Date()
  const adjustment = (part: Row): Row => ({
    ...{
      vault_id: bench.vault.id,
      id: 'adjustment',
      address_id: addressId,
      token_id: 'token',
      amount: 1,
      reason: 'Test',
    },
    ...{ created_by_id: bench.owner.userId, created_at: now, ...part },
  })
  const seal = (part: Row): Row => ({
    ...{ chain: 'a-chain', sequence: 1, format: 2, previous_hash: bytes(32), record_ids: ['1'] },
    ...{ record_hashes: [bytes(32)], root: bytes(32), hash: bytes(32), public_key: bytes(32), signature: bytes(64) },
    ...{ sealed_at: now, ...part },
  })
  await insert(bench.sql, 'adjustments', adjustment({}))
  await insert(bench.sql, 'ledger_seals', seal({}))
  return {
    adjustments: {
      adjustments_amount_check: [adjustment({ id: 'another', amount: 0 })],
      adjustments_pkey: [adjustment({})],
    },
    ledger_seals: {
      ledger_seals_check: [seal({ sequence: 2, record_hashes: [] })],
      ledger_seals_format_check: [seal({ sequence: 2, format: 1 })],
      ledger_seals_pkey: [seal({})],
      ledger_seals_public_key_check: [seal({ sequence: 2, public_key: bytes(31) })],
      ledger_seals_root_check: [seal({ sequence: 2, root: bytes(0) })],
      ledger_seals_sequence_check: [seal({ sequence: 0 })],
      ledger_seals_signature_check: [seal({ sequence: 2, signature: bytes(63) })],
    },
  }
}

const bytes = (length: number) => Buffer.alloc(length, 1)

async function insert(query: TransferBench['sql'], table: string, row: Row): Promise<void> {
  const names = Object.keys(row)
  const places = names.map((_, i) => `$${i + 1}`)
  const text = `insert into ${table} (${names.join(', ')}) overriding system value values (${places.join(', ')})`
  await query(text, Object.values(row))
}

/** Constraints other than not null, and unique indexes, which refuse as constraints do. */
async function constraintsOf(table: string): Promise<string[]> {
  const rows: { name: string }[] = await bench.sql(
    `select conname as name from pg_constraint where conrelid = $1::regclass and contype in ('c', 'f', 'p', 'u', 'x')
     union
     select indexrelid::regclass::text from pg_index where indrelid = $1::regclass and indisunique`,
    [table],
  )
  return rows.map(({ name }) => name).sort()
}

/** Returns the constraint that refuses the row while this one is kept or dropped; null when none does. The insert is rolled back. */
async function refusing(table: string, row: Row, dropped: string | null): Promise<string | null> {
  return bench.rolledBack(async (query) => {
    if (dropped === 'ledger_entries_once') await query(`drop index ${dropped}`)
    else if (dropped !== null) await query(`alter table ${table} drop constraint ${dropped} cascade`)
    return insert(query, table, row).then(
      () => null,
      (error: { constraint?: string; message: string }) => error.constraint ?? error.message,
    )
  })
}

it.each(['ledger_entries', 'ledger_accounts', 'adjustments', 'ledger_seals'])(
  'T2 T8 each constraint of %s refuses a row that no other constraint refuses',
  async (table) => {
    const rows = refused[table]!
    expect(Object.keys(rows)).toEqual(await constraintsOf(table))
    for (const [constraint, bad] of Object.entries(rows)) {
      for (const row of bad) {
        expect(await refusing(table, row, null), JSON.stringify(row)).toBe(constraint)
        expect(await refusing(table, row, constraint), `${constraint} ${JSON.stringify(row)}`).toBeNull()
      }
    }
  },
)

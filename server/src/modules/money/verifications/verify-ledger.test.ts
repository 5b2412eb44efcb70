import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { campaignOf } from '../../../testing/campaign.ts'
import { databaseOf } from '../../../testing/one-transaction.ts'
import { createRandom } from '../../../testing/random.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyLedger } from './verify-ledger.ts'

/** The number of edits that are tried. */
const { runs, seed } = campaignOf('EDIT', { runs: 70, seed: 1 })

let bench: TransferBench

/** A ledger with every kind of entry and every status. */
beforeAll(async () => {
  bench = await createTransferBench()
  const { wallet, admin } = bench.vault
  const [first, second] = [
    await bench.fundedAddress({ usdt: '1000', eth: '1' }),
    await bench.fundedAddress({ usdt: '500', eth: '1' }),
  ]
  const ordered = async (addressId: string, amount: string) => (await bench.order(addressId, amount)).body.id as string
  const confirmed = await ordered(first.id, '10')
  const failed = await ordered(first.id, '20')
  const rejected = await ordered(first.id, '200')
  const cancelled = await ordered(second.id, '30')
  await bench.act(bench.firstApprover, rejected, 'reject')
  await bench.act(bench.owner, cancelled, 'cancel')
  await bench.deliver()
  wallet.confirm(confirmed)
  wallet.fail(failed, 'REVERTED', '500')
  await bench.deliver()
  await ordered(second.id, '300')
  await ordered(second.id, '5')
  for (const amount of ['3', '-1.5']) {
    const body = { addressId: first.id, tokenId: bench.vault.tokens.usdt.id, amount, reason: 'Correction' }
    expect((await admin.post('/vaults/main-vault/adjustments', body)).status).toBe(201)
  }
})
afterAll(() => bench.close())

describe('verifyLedger', () => {
  it('T5 finds nothing in a sound ledger, and reports its counts', async () => {
    const report = await verifyLedger(bench.test.deps.db)
    expect(report.differences).toEqual([])
    expect(report.checked).toEqual({
      accounts: await bench.count('ledger_accounts'),
      entries: await bench.count('ledger_entries'),
      operations: await bench.count('operations'),
    })
    expect(report.checked.entries).toBeGreaterThan(15)
    const kinds = await bench.sql('select array_agg(distinct kind order by kind) as kinds from ledger_entries')
    expect(kinds[0].kinds).toEqual(['adjust', 'deposit', 'fee', 'release', 'reserve', 'settle'])
  })

  it.each([
    [
      'a cached balance',
      'update ledger_accounts set balance = balance + 1 where number = (select min(number) from ledger_accounts where balance > 0)',
      'cached balance',
    ],
    ['a total', 'update ledger_totals set available = available + 1', 'total of a vault'],
    ['a reserved total', 'update ledger_totals set reserved = reserved - 1', 'total of a vault'],
    ['a removed total', 'delete from ledger_totals', 'total of a vault'],
    ['an entry that waits no longer', 'delete from ledger_unsealed', 'total of a vault'],
    ['an amount', `update ledger_entries set amount = amount + 1 where kind = 'settle'`, 'entries of an operation'],
    ['the amount of a fee', `update ledger_entries set amount = amount + 1 where kind = 'fee'`, 'fee of a transfer'],
    [
      'the amount of an adjustment entry',
      `update ledger_entries set amount = amount + 1 where kind = 'adjust'`,
      'adjustment without its entry',
    ],
    [
      'a running balance',
      `update ledger_entries set debit_balance = debit_balance + 1 where kind = 'reserve'`,
      'running balance',
    ],
    [
      'the time of an entry',
      `update ledger_entries set created_at = created_at - interval '1 day' where kind = 'settle'`,
      'time of an entry',
    ],
    [
      'the time of an account',
      `update ledger_accounts set last_entry_at = last_entry_at + interval '1 ms' where purpose = 'reserved'`,
      'time of an entry',
    ],
    [
      'the account of an entry',
      `update ledger_entries e set credit_account = a.number from ledger_accounts a where e.kind = 'release' and ` +
        `a.token_id = e.token_id and a.purpose = 'available' and a.number <> e.credit_account`,
      'cached balance',
    ],
    [
      'swapped accounts',
      'update ledger_entries set debit_account = credit_account, credit_account = debit_account, debit_balance = ' +
        `credit_balance, credit_balance = debit_balance where kind = 'reserve'`,
      'account of an entry',
    ],
    ['a kind', `update ledger_entries set kind = 'fee' where kind = 'settle'`, 'entries of an operation'],
    [
      'a deposit that is called an adjustment',
      `update ledger_entries set kind = 'adjust' where sequence = (select min(sequence) from ledger_entries where kind = 'deposit')`,
      'entry without its operation',
    ],
    [
      'an operation id',
      `update ledger_entries set operation_id = 'c000000000000000000000000' where kind = 'settle'`,
      'entry without its operation',
    ],
    ['a removed entry', `delete from ledger_entries where kind = 'settle'`, 'entries of an operation'],
    [
      'a removed entry of an adjustment',
      `delete from ledger_entries where kind = 'adjust'`,
      'adjustment without its entry',
    ],
    ['a removed fee', `delete from ledger_entries where kind = 'fee'`, 'fee of a transfer'],
    [
      'an entry twice',
      `insert into ledger_entries (vault_id, kind, token_id, operation_id, credit_account, amount, credit_balance, created_at)
      select vault_id, kind, token_id, 'c000000000000000000000000', credit_account, amount, credit_balance,
        created_at from ledger_entries where kind = 'deposit'`,
      'entry without its operation',
    ],
    [
      'another vault',
      `update ledger_entries set vault_id = 'c000000000000000000000000' where kind = 'settle'`,
      'account of an entry',
    ],
    [
      'a status',
      `update operations set status = 'failed' where type = 'transfer' and status = 'confirmed'`,
      'entries of an operation',
    ],
    [
      'a status that hides an open reservation',
      `update operations set status = 'cancelled' where status = 'awaiting_approval'`,
      'entries of an operation',
    ],
    ['the amount of an operation', 'update operations set amount = amount + 1', 'entries of an operation'],
    [
      'the token of an operation',
      `update operations set token_id = (select id from tokens where code = 'ETH') where type = 'transfer'`,
      'entries of an operation',
    ],
    [
      'the address of an operation',
      `update operations o set address_id = (select id from addresses where id <> o.address_id limit 1)`,
      'entries of an operation',
    ],
    ['a removed deposit record', 'delete from deposits', 'operation without its record'],
    ['a removed transfer record', 'delete from transfers', 'operation without its record'],
    ['a removed operation', `delete from operations where type = 'deposit'`, 'entry without its operation'],
    ['the amount of an adjustment', 'update adjustments set amount = amount + 1', 'adjustment without its entry'],
    [
      'a fee that was not posted but is called so',
      `delete from ledger_entries where kind = 'fee'`,
      'fee of a transfer',
    ],
    ['a removed address', 'delete from addresses', 'reference to nothing'],
    ['a negative balance', 'update ledger_accounts set balance = -1 where balance is not null', 'negative balance'],
    ['a removed hash', 'delete from transfer_hashes', 'place of a transfer'],
    [
      'the hash of another transfer',
      `update transfer_hashes set id = 'c000000000000000000000000'`,
      'place of a transfer',
    ],
    ['an unconfirmed transfer that is not listed', 'delete from unconfirmed_transfers', 'place of a transfer'],
    ['the status of a listed transfer', `update unconfirmed_transfers set status = 'failed'`, 'place of a transfer'],
    ['a removed account', `delete from ledger_accounts where purpose = 'reserved'`, 'account of an entry'],
  ])('T5 T9 names %s', async (_what, statement, kind) => {
    const kinds = await differencesAfter(statement)
    expect(kinds).toContain(kind)
  })

  it('T9 reports each of many random edits of one value of one entry', async () => {
    const entries = await bench.sql(
      'select sequence, debit_account, credit_account from ledger_entries order by sequence',
    )
    const random = createRandom(seed)
    const missed: string[] = []
    for (let round = 0; round < runs; round += 1) {
      const entry = entries[random.below(entries.length)]
      const side =
        entry.debit_account === null ? 'credit' : entry.credit_account === null || round % 2 === 0 ? 'debit' : 'credit'
      const edits = [
        `amount = amount + ${1 + random.below(999)}`,
        `${side}_balance = ${side}_balance + ${1 + random.below(999)}`,
        `${side}_account = (select number from ledger_accounts where number <> ${entry[`${side}_account`]} and balance ` +
          `is not null order by number offset ${random.below(3)} limit 1)`,
        `operation_id = (select id from operations where id <> operation_id order by id offset ${random.below(5)} limit 1)`,
        `kind = case kind when 'deposit' then 'adjust' when 'adjust' then 'fee' else 'deposit' end`,
        `token_id = (select id from tokens t where t.id <> token_id limit 1)`,
        `created_at = created_at + interval '1 day'`,
      ]
      const edit = edits[round % edits.length]!
      const statement = `update ledger_entries set ${edit} where sequence = ${entry.sequence}`
      if ((await differencesAfter(statement)).length === 0) missed.push(statement)
    }
    expect(missed, `seed ${seed}`).toEqual([])
  })

  it('T5 verifies one vault alone on request', async () => {
    const statement = 'update ledger_accounts set balance = balance + 1 where balance is not null'
    expect(await differencesAfter(statement, 'c000000000000000000000000')).toEqual([])
    expect(await differencesAfter(statement, bench.vault.id)).toEqual(['cached balance', 'total of a vault'])
  })

  it('reads only rows of the vault that is verified', async () => {
    const scans = await bench.rolledBack(async (query) => {
      const found: Scan[] = []
      const explained: typeof query = async (text, values) => {
        if (!text.includes('select')) return query(text, values)
        const [row] = await query(`explain (format json) ${text}`, values)
        found.push(...scansOf(row['QUERY PLAN'][0].Plan))
        return query(text, values)
      }
      await verifyLedger(databaseOf(explained), bench.vault.id)
      return found
    })
    const ofVaults = new Set(
      (await bench.sql(`select table_name as name from information_schema.columns where column_name = 'vault_id'`)).map(
        ({ name }) => name as string,
      ),
    )
    const read = scans.filter(({ table }) => ofVaults.has(table))
    expect(read.length).toBeGreaterThan(40)
    expect(read.filter(({ conditions }) => !conditions.includes('vault_id'))).toEqual([])
  })
})

type Scan = { table: string; conditions: string }

/** Returns the scans of a plan with their conditions. */
function scansOf(node: Record<string, unknown>): Scan[] {
  const { 'Relation Name': table, Plans: below = [] } = node as { 'Relation Name'?: string; Plans?: (typeof node)[] }
  const conditions = ['Index Cond', 'Recheck Cond', 'Filter'].map((name) => node[name] ?? '').join(' ')
  return [...(table === undefined ? [] : [{ table, conditions }]), ...below.flatMap(scansOf)]
}

/** Returns the types of differences that the verifier finds after `statement`, which runs without any constraint. */
async function differencesAfter(statement: string, vaultId: string | null = null): Promise<string[]> {
  return bench.rolledBack(async (query) => {
    await query(dropConstraints)
    await query('set local session_replication_role = replica')
    await query(statement)
    const { differences } = await verifyLedger(databaseOf(query), vaultId)
    return [...new Set(differences.map(({ kind }) => kind))]
  })
}

const dropConstraints = `do $$ declare c record; begin
  for c in select conrelid::regclass as tbl, conname from pg_constraint
    where contype = 'c' and conrelid::regclass::text in ('ledger_entries', 'ledger_accounts', 'operations', 'transfers', 'adjustments')
  loop execute format('alter table %s drop constraint %I', c.tbl, c.conname); end loop;
  drop index ledger_entries_once;
end $$`

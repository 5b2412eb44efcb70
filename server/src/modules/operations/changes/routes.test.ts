import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../jobs/housekeeping.ts'
import { changeCursorMinutesMax, changeLogHours, changeWaitersPerCallerMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import { createTestApp, type Person } from '../../../testing/app.ts'
import { addMember, createVaultFixture, type VaultFixture } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let stranger: Person
let rival: VaultFixture
let address: Address

beforeAll(async () => {
  bench = await createTransferBench({ RATE_LIMIT_PER_MINUTE: '0' })
  stranger = await addMember(bench.test, bench.vault, 'stranger@example.org')
  rival = await createVaultFixture(bench.test, { code: 'rival-vault', adminEmail: 'rival@example.org' })
  address = await bench.fundedAddress({ usdt: '100000' })
})
afterAll(async () => {
  await bench.close()
  await rival.wallet.close()
})

const ask = (by: Person, after: string, wait = 0) => by.get(`/changes?wait=${wait}&after=${encodeURIComponent(after)}`)
async function present(by: Person): Promise<string> {
  const { status, body } = await by.get('/changes')
  expect([status, body.items, body.reset]).toEqual([200, [], false])
  return body.nextCursor
}
const waiting = async () => (await bench.order(address.id, '200')).body.id as string
const ofVault = (kind: string, id: string) => ({ vault: bench.vault.code, kind, id })

describe('GET /changes', () => {
  it('names each change once', async () => {
    const cursor = await present(bench.owner)
    const id = await waiting()
    const first = await ask(bench.owner, cursor)
    expect([first.status, first.body.items, first.body.reset]).toEqual([200, [ofVault('transfer', id)], false])
    expect((await ask(bench.owner, first.body.nextCursor)).body.items).toEqual([])
    await bench.act(bench.firstApprover, id, 'approve')
    const voted = await ask(bench.owner, first.body.nextCursor)
    expect(voted.body.items).toEqual([ofVault('transfer', id)])
    // An old cursor still returns every change after it.
    expect((await ask(bench.owner, cursor)).body.items).toEqual([ofVault('transfer', id)])
  })

  it('T39 names a transfer, a deposit and an address only to callers who may see it, and gives no hint to others', async () => {
    const people = [bench.owner, bench.firstApprover, bench.vault.admin, stranger, rival.admin]
    const cursors = await Promise.all(people.map(present))
    const id = await waiting()
    const made = await bench.fundedAddress()
    const seen = await Promise.all(people.map(async (person, i) => (await ask(person, cursors[i]!)).body))
    const [owner, approver, admin, other, foreign] = seen.map(({ items }) => items)
    expect(owner).toEqual(expect.arrayContaining([ofVault('transfer', id), ofVault('address', made.id)]))
    expect(owner!.filter(({ kind }) => kind === 'deposit')).toHaveLength(1)
    expect(approver).toEqual([ofVault('transfer', id)])
    expect(admin).toHaveLength(owner!.length)
    expect([other, foreign]).toEqual([[], []])
    // All cursors have one length, and none equals another.
    expect(new Set(seen.map(({ nextCursor }) => nextCursor.length)).size).toBe(1)
    expect(new Set(seen.map(({ nextCursor }) => nextCursor)).size).toBe(people.length)
  })

  it('names a payout to its initiator, its voters, administrators and auditors, and again after each vote', async () => {
    const auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
    const people = [bench.owner, bench.firstApprover, bench.vault.admin, auditor, stranger, rival.admin]
    const cursors = await Promise.all(people.map(present))
    const rows = ['150', '50'].map((amount) => ({
      externalId: `salary ${amount}`,
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount,
    }))
    const base = `/vaults/${bench.vault.code}/payouts` as const
    const { id } = (await bench.owner.post(base, { rows })).body
    const transfers = (await bench.owner.get(`${base}/${id}/rows`)).body.items
    const all = [id, ...transfers.map(({ transferId }) => transferId)].sort()
    const seen = await Promise.all(people.map(async (person, i) => (await ask(person, cursors[i]!)).body))
    const idsOf = (items: { id: string }[]) => items.map((item) => item.id).sort()
    for (const i of [0, 2, 3]) expect(idsOf(seen[i]!.items)).toEqual(all)
    expect(seen[1]!.items).toEqual([ofVault('payout', id)])
    expect([seen[4]!.items, seen[5]!.items]).toEqual([[], []])
    expect((await bench.firstApprover.post(`${base}/${id}/approve`)).status).toBe(200)
    for (const i of [0, 1])
      expect((await ask(people[i]!, seen[i]!.nextCursor)).body.items).toEqual([ofVault('payout', id)])
  })

  it('reports changes of rules to members only, and changes of tokens to everybody', async () => {
    const cursors = [await present(stranger), await present(rival.admin)]
    const policy = await bench.policy({ code: 'a-rule', effect: 'block', blockReason: 'x', enabled: false })
    await bench.vault.admin.patch(`/tokens/${bench.vault.tokens.eth.id}`, { name: 'Ether' })
    const token = { vault: null, kind: 'token', id: bench.vault.tokens.eth.id }
    expect((await ask(stranger, cursors[0]!)).body.items).toEqual(
      expect.arrayContaining([ofVault('policy', policy.id), token]),
    )
    expect((await ask(rival.admin, cursors[1]!)).body.items).toEqual([token])
  })

  it('omits no change when transactions commit in another order than they began', async () => {
    const [early, late] = [new pg.Client(bench.test.databaseUrl), new pg.Client(bench.test.databaseUrl)]
    await Promise.all([early.connect(), late.connect()])
    try {
      const rename = (client: pg.Client, id: string) =>
        client.query('update policy_groups set name = name where id = $1', [id])
      const { administrators, everyone } = bench.vault.groups
      const start = await present(stranger)
      await early.query('begin')
      await rename(early, administrators)
      // A later transaction commits first, and the reader passes it while the earlier one is open.
      await rename(late, everyone)
      const first = (await ask(stranger, start)).body
      expect(first.items).toEqual([ofVault('group', everyone)])
      // The next transaction begins after that read, while the early one is still open.
      await late.query('begin')
      await rename(late, bench.approversId)
      await early.query('commit')
      const second = (await ask(stranger, first.nextCursor)).body
      expect(second.items).toEqual([ofVault('group', administrators)])
      await late.query('commit')
      const third = (await ask(stranger, second.nextCursor)).body
      expect(third.items).toEqual([ofVault('group', bench.approversId)])
      expect((await ask(stranger, third.nextCursor)).body.items).toEqual([])
    } finally {
      await Promise.all([early.end(), late.end()])
    }
  })

  it('waits for a change that the caller may see, and holds no transaction while it waits', async () => {
    const answers = [bench.owner, bench.firstApprover].map(async (by) => ask(by, await present(by), 25))
    const idle = ask(stranger, await present(stranger), 1)
    await untilListening()
    const open = await bench.sql(
      `select count(*)::int as count from pg_stat_activity where datname = current_database()
         and application_name like 'strongroom%' and state like 'idle in transaction%'`,
    )
    expect(open[0].count).toBe(0)
    const id = await waiting()
    for (const answer of await Promise.all(answers)) expect(answer.body.items).toEqual([ofVault('transfer', id)])
    const { body } = await idle
    expect([body.items, body.reset]).toEqual([[], false])
  })

  it('polls when the listening connection is lost, and then listens again', async () => {
    const answer = ask(stranger, await present(stranger), 25)
    const pid = await untilListening()
    await bench.sql('select pg_terminate_backend($1)', [pid])
    // No node makes this change, so no node sends a notification.
    await bench.sql('update policy_groups set name = name where id = $1', [bench.approversId])
    expect((await answer).body.items).toEqual([ofVault('group', bench.approversId)])
    const next = ask(stranger, await present(stranger), 25)
    expect(await untilListening()).not.toBe(pid)
    await bench.vault.admin.patch(`/policy-groups/${bench.approversId}`, { name: 'Approvers' })
    expect((await next).body.items).toEqual([ofVault('group', bench.approversId)])
  })

  it(`lets ${changeWaitersPerCallerMax} requests of one caller wait`, async () => {
    const cursor = await present(stranger)
    const all = Array.from({ length: changeWaitersPerCallerMax + 1 }, () => ask(stranger, cursor, 25))
    const refused = await Promise.race(all)
    expect([refused.status, refused.body.reason, refused.headers['retry-after']]).toEqual([
      429,
      'too_many_at_once',
      '5',
    ])
    expect((await ask(stranger, cursor)).status).toBe(200)
    await bench.vault.admin.patch(`/policy-groups/${bench.approversId}`, { name: 'Voters' })
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array.from({ length: changeWaitersPerCallerMax }, () => 200), 429])
  })

  it('restarts a reader whose cursor is too old, and refuses an invalid cursor', async () => {
    const cursor = await present(stranger)
    bench.test.clock.advance(changeCursorMinutesMax * 60_000 + 60_000)
    const { body } = await ask(stranger, cursor, 25)
    expect([body.items, body.reset]).toEqual([[], true])
    expect((await ask(stranger, body.nextCursor)).body).toMatchObject({ items: [], reset: false })
    const broken = `${body.nextCursor.slice(0, -4)}AAAA`
    for (const wrong of ['x', broken]) {
      const answer = await ask(stranger, wrong)
      expect([answer.status, answer.body.reason]).toEqual([400, 'invalid_cursor'])
    }
    expect((await stranger.get('/changes?wait=26')).status).toBe(400)
    expect((await bench.test.anonymous.get('/changes')).status).toBe(401)
  })

  it('restarts a reader after a restore or a promotion, whose transactions have the numbers of others', async () => {
    const cursor = await present(stranger)
    const [{ definition }] = await bench.sql(`select pg_get_functiondef('database_mark'::regproc) as definition`)
    await bench.sql(`create or replace function database_mark() returns text language sql as $$ select 'promoted' $$`)
    const { body } = await ask(stranger, cursor, 25)
    expect([body.items, body.reset]).toEqual([[], true])
    expect((await ask(stranger, body.nextCursor)).body).toMatchObject({ items: [], reset: false })
    await bench.sql(definition)
    expect((await ask(stranger, cursor)).body).toMatchObject({ items: [], reset: false })
  })

  it('keeps the log for a day, longer than any cursor', async () => {
    expect(changeLogHours * 60).toBeGreaterThan(changeCursorMinutesMax)
    const now = bench.test.clock.now()
    await bench.sql('update changes set changed_at = $1', [new Date(now.getTime() - (changeLogHours + 1) * 3_600_000)])
    await bench.sql("insert into changes (vault_id, kind, id, changed_at) values ('v', 'policy', 'kept', $1)", [now])
    await deleteExpiredRows(bench.test.deps)
    expect(await bench.sql('select id from changes')).toEqual([{ id: 'kept' }])
  })
})

it('answers all waiting readers when the node stops', async () => {
  const test = await createTestApp()
  const person = await test.signIn('someone@example.org')
  const { nextCursor } = (await person.get('/changes')).body
  const answer = ask(person, nextCursor, 25)
  await expect.poll(() => listenersOf(test.databaseUrl)).toHaveLength(1)
  await test.close()
  expect((await answer).body).toMatchObject({ items: [], reset: false })
})

async function listenersOf(url: string): Promise<number[]> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'strongroom-changes'
       and query like 'listen%'`,
  )
  await client.end()
  return rows.map(({ pid }) => pid)
}

/** Returns the process id of the listening connection. */
async function untilListening(): Promise<number> {
  await expect.poll(() => listenersOf(bench.test.databaseUrl)).toHaveLength(1)
  return (await listenersOf(bench.test.databaseUrl))[0]!
}

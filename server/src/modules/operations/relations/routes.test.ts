import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { relationsPerOperationMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { addMember, deposit, ensureGroup, profileOf, usdtContract } from '../../../testing/fixtures.ts'
import { untilSessionsWait } from '../../../testing/lock-waits.ts'
import { patiently } from '../../../testing/patiently.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
/** Owns an address with many operations; most of the relations are between them. */
let owner: Person
let admin: Person
/** A member without operations. */
let bystander: Person
let address: Address
let usdt: string
let eth: string

type End = { type: 'transfer' | 'deposit'; id: string }

beforeAll(async () => {
  bench = await createTransferBench()
  owner = bench.owner
  admin = bench.vault.admin
  bystander = await addMember(bench.test, bench.vault, 'bystander@example.org')
  address = await bench.fundedAddress({ usdt: '100000' })
  usdt = bench.vault.tokens.usdt.id
  eth = bench.vault.tokens.eth.id
})
afterAll(() => bench.close())

const base = '/vaults/main-vault/operation-relations'

async function depositOf(amount: string, asset: string | null = usdtContract, to = address): Promise<End> {
  const { body } = await deposit(bench.test, { address: to.address, asset, amount })
  return { type: 'deposit', id: body.depositId }
}

async function transferOf(amount: string, by = owner, from = address): Promise<End> {
  const { status, body } = await patiently(() => bench.order(from.id, amount, {}, by))
  expect(status, JSON.stringify(body)).toBe(201)
  return { type: 'transfer', id: body.id }
}

const bodyOf = (source: End, target: End, more: Record<string, unknown> = {}) => ({
  sourceOperationType: source.type,
  sourceOperationId: source.id,
  targetOperationType: target.type,
  targetOperationId: target.id,
  relationType: 'refund',
  ...more,
})
const relate = (source: End, target: End, more: Record<string, unknown> = {}, by = owner) =>
  by.post(base, bodyOf(source, target, more))

async function related(source: End, target: End, more: Record<string, unknown> = {}, by = owner) {
  const { status, body } = await relate(source, target, more, by)
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

const list = async (query: string, by = owner): Promise<string[]> => {
  const { status, body } = await by.get(`${base}?${query}`)
  expect([query, status, body.nextCursor]).toEqual([query, 200, null])
  return body.items.map((item) => item.id)
}
/** The ids on each page, until the cursor is null. */
async function pagesOf(query: string, by: Person): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await by.get(`${base}?${query}${cursor}`)
    expect([query, status]).toEqual([query, 200])
    pages.push(body.items.map((item) => item.id))
    if (body.nextCursor === null) return pages
    cursor = `&cursor=${body.nextCursor}`
  }
}
const relationsOf = (end: End, by = owner) => by.get(`/vaults/main-vault/operations/${end.type}/${end.id}/relations`)
const rolesOf = async (end: End, by = owner): Promise<[string, string][]> => {
  const { status, body } = await relationsOf(end, by)
  expect(status).toBe(200)
  return body.items.map((item) => [item.id, item.role])
}

describe('relations', () => {
  it('are made, listed, read from both ends and deleted, each change in the audit log', async () => {
    const [payment, refund] = [await depositOf('10'), await transferOf('4')]
    const body = await related(refund, payment, { relatedAmountRaw: '4000000', tokenId: usdt, comment: 'Paid twice' })
    expect(body).toEqual({
      id: expect.stringMatching(/^c[0-9a-z]{24}$/),
      vaultId: bench.vault.id,
      sourceOperationType: 'transfer',
      sourceOperationId: refund.id,
      targetOperationType: 'deposit',
      targetOperationId: payment.id,
      relationType: 'refund',
      relatedAmountRaw: '4000000',
      tokenId: usdt,
      comment: 'Paid twice',
      createdById: owner.userId,
      createdBy: profileOf(owner),
      createdAt: expect.any(String),
    })
    expect((await owner.get(`${base}?sourceOperationId=${refund.id}`)).body).toEqual({
      items: [body],
      nextCursor: null,
    })
    expect((await relationsOf(refund)).body).toEqual({ items: [{ ...body, role: 'source' }] })
    expect((await relationsOf(payment)).body).toEqual({ items: [{ ...body, role: 'target' }] })
    expect((await owner.delete(`${base}/${body.id}`)).status).toBe(204)
    expect((await relationsOf(payment)).body).toEqual({ items: [] })
    expect((await owner.delete(`${base}/${body.id}`)).body.message).toBe('Operation relation not found')
    const { body: log } = await admin.get(`/vaults/main-vault/audit-log?target=${body.id}`)
    expect(log.items.map((item) => [item.action, item.actorId])).toEqual([
      ['relation.deleted', owner.userId],
      ['relation.created', owner.userId],
    ])
    expect(log.items[1]!.details).toEqual({
      relationType: 'refund',
      sourceOperationType: 'transfer',
      sourceOperationId: refund.id,
      targetOperationType: 'deposit',
      targetOperationId: payment.id,
      relatedAmountRaw: '4000000',
      tokenId: usdt,
      createdById: owner.userId,
    })
  })

  it('omit absent fields, and find the token of both operations', async () => {
    const [payment, refund, coin] = [await depositOf('10'), await transferOf('4'), await depositOf('1', null)]
    expect(await related(refund, payment)).toMatchObject({ relatedAmountRaw: null, tokenId: usdt, comment: null })
    expect(await related(refund, payment, { relationType: 'correction', comment: null })).toMatchObject({
      tokenId: usdt,
      comment: null,
    })
    expect(await related(refund, coin)).toMatchObject({ relatedAmountRaw: null, tokenId: null })
  })

  it('let one operation be source and target', async () => {
    const [first, second, third] = [await depositOf('10'), await depositOf('10'), await depositOf('10')]
    const early = await related(second, first, { relationType: 'replacement' })
    const late = await related(third, second, { relationType: 'replacement' })
    expect(await rolesOf(second)).toEqual([
      [late.id, 'target'],
      [early.id, 'source'],
    ])
  })

  it('are made once for an Idempotency-Key', async () => {
    const [payment, refund] = [await depositOf('10'), await transferOf('4')]
    const headers = { 'idempotency-key': 'relate-once' }
    const first = await owner.post(base, bodyOf(refund, payment), headers)
    const second = await owner.post(base, bodyOf(refund, payment), headers)
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
  })
})

describe('the list', () => {
  it('filters by type, ends, token and time, and pages newest first', async () => {
    const person = await addMember(bench.test, bench.vault, 'bookkeeper@example.org', ['treasury'])
    const ownAddress = await bench.fundedAddress({ usdt: '100', eth: '1' }, person)
    const [a, b, c] = [
      await depositOf('10', usdtContract, ownAddress),
      await depositOf('10', usdtContract, ownAddress),
      await depositOf('1', null, ownAddress),
    ]
    const refund = await related(a, b, {}, person)
    const reversal = await related(c, b, { relationType: 'reversal' }, person)
    const correction = await related(a, b, { relationType: 'correction' }, person)
    const replacement = await related(b, c, { relationType: 'replacement' }, person)
    const days = [
      '2026-01-30T23:59:59.999Z',
      '2026-01-31T00:00:00Z',
      '2026-01-31T23:59:59.999Z',
      '2026-02-01T00:00:00Z',
    ]
    for (const [index, { id }] of [refund, reversal, correction, replacement].entries()) {
      await bench.sql(
        `with r as (update operation_relations set created_at = $2 where id = $1)
         update operation_relation_readers set relation_created_at = $2 where relation_id = $1`,
        [id, days[index]],
      )
    }
    const all = [replacement.id, correction.id, reversal.id, refund.id]
    for (const by of [person, admin]) {
      // The administrator's list includes what the rest of this file creates, so every query names an end or the days.
      const within = by === admin ? '&from=2026-01-01&to=2026-02-28' : ''
      const found = (query: string) => list(`${query}${within}`, by)
      expect(await found('limit=100')).toEqual(all)
      expect(await found('relationType=refund')).toEqual([refund.id])
      expect(await found('relationType=reversal')).toEqual([reversal.id])
      expect(await found('relationType=correction')).toEqual([correction.id])
      expect(await found('relationType=replacement')).toEqual([replacement.id])
      expect(await found(`sourceOperationId=${a.id}`)).toEqual([correction.id, refund.id])
      expect(await found(`targetOperationId=${b.id}`)).toEqual([correction.id, reversal.id, refund.id])
      expect(await found(`sourceOperationId=${c.id}&targetOperationId=${b.id}`)).toEqual([reversal.id])
      expect(await found(`sourceOperationId=${a.id}&relationType=refund`)).toEqual([refund.id])
      expect(await found(`tokenId=${usdt}`)).toEqual([correction.id, refund.id])
      expect(await found('tokenId=nothing')).toEqual([])
      expect(await found('targetOperationId=nothing')).toEqual([])
      expect(await list('from=2026-01-31&to=2026-01-31', by)).toEqual([correction.id, reversal.id])
      expect(await list('from=2026-01-31T00:00:00.001Z&to=2026-02-01', by)).toEqual([replacement.id, correction.id])
      expect(await list('to=2026-01-30', by)).toEqual([refund.id])
      expect(await pagesOf('limit=3&to=2026-02-28', by)).toEqual([all.slice(0, 3), all.slice(3)])
      const { nextCursor } = (await by.get(`${base}?limit=1&to=2026-02-28`)).body
      for (const query of ['', 'to=2026-02-27', 'to=2026-02-28&relationType=refund', `tokenId=${usdt}`]) {
        const { status, body } = await by.get(`${base}?${query}&cursor=${nextCursor}`)
        expect([query, status, body.details?.[0]?.field]).toEqual([query, 400, 'cursor'])
      }
    }
  })

  it('pages rows of one millisecond without gaps or repeats', async () => {
    const person = await addMember(bench.test, bench.vault, 'controller@example.org', ['treasury'])
    const ownAddress = await bench.fundedAddress({ usdt: '0' }, person)
    const target = await depositOf('10', usdtContract, ownAddress)
    const ids = []
    for (let i = 0; i < 5; i += 1)
      ids.push((await related(await depositOf('1', usdtContract, ownAddress), target, {}, person)).id)
    for (const statement of [
      `update operation_relation_readers set relation_created_at = '2026-03-01' where relation_id = any($1)`,
      `update operation_relations set created_at = '2026-03-01' where id = any($1)`,
    ]) {
      await bench.sql(statement, [ids])
    }
    const newestFirst = [...ids].sort().reverse()
    const pages = [newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4)]
    expect(await pagesOf('limit=2', person)).toEqual(pages)
  })

  it.each([
    ['relationType=refunds', 'relationType'],
    ['from=yesterday', 'from'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['cursor=x', 'cursor'],
    ['limit=101', 'limit'],
    ['sourceId=x', 'sourceId'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await owner.get(`${base}?${query}`)
    expect([status, body.details[0]!.field]).toEqual([400, field])
  })
})

describe('amounts', () => {
  it('of refunds and reversals together never exceed the target', async () => {
    const payment = await depositOf('10')
    const give = (amount: string, more = {}) => transferOf(amount).then((refund) => relate(refund, payment, more))
    expect((await give('4')).status).toBe(201)
    expect((await give('5', { relatedAmountRaw: '3000000', relationType: 'reversal' })).status).toBe(201)
    const tooMuch = await give('5', { relatedAmountRaw: '3000001' })
    expect([tooMuch.status, tooMuch.body.message]).toEqual([
      409,
      'Refunds and reversals together would be above the amount of the target',
    ])
    expect((await give('5')).status).toBe(409)
    expect((await give('5', { relationType: 'correction', relatedAmountRaw: '99000000' })).status).toBe(201)
    const last = await give('5', { relatedAmountRaw: '3000000' })
    expect(last.status).toBe(201)
    expect((await give('0.000001')).status).toBe(409)
    expect((await owner.delete(`${base}/${last.body.id}`)).status).toBe(204)
    expect((await give('3')).status).toBe(201)
  })

  it('stay within the source', async () => {
    const [payment, refund] = [await depositOf('10'), await transferOf('4')]
    const { status, body } = await relate(refund, payment, { relatedAmountRaw: '4000001' })
    expect([status, body.message]).toEqual([409, 'The related amount is above the amount of the source'])
  })

  it.each(['0', '-1', '1.5', '1e3', '', '007', '0x1', (2n ** 256n).toString(), 4000000, '9'.repeat(79)])(
    'T7 refuses the raw amount %j',
    async (relatedAmountRaw) => {
      const [payment, refund] = [{ type: 'deposit', id: 'x' } as const, { type: 'transfer', id: 'y' } as const]
      const { status, body } = await relate(refund, payment, { relatedAmountRaw })
      expect([status, body.details[0]!.field]).toEqual([400, 'relatedAmountRaw'])
    },
  )

  it('need the same token on both sides, and a named token must be that token', async () => {
    const [payment, coin, refund] = [await depositOf('10'), await depositOf('1', null), await transferOf('1')]
    for (const [target, more] of [
      [coin, { relatedAmountRaw: '1' }],
      [coin, { tokenId: eth }],
      [coin, { tokenId: usdt }],
      [payment, { tokenId: eth }],
      [payment, { tokenId: 'nothing' }],
    ] as const) {
      const { status, body } = await relate(refund, target, more)
      expect([more, status, body.details[0]!.field]).toEqual([more, 400, 'tokenId'])
    }
  })

  it('of a refund in another token do not count', async () => {
    const [payment, coin] = [await depositOf('10'), await depositOf('1', null)]
    await related(coin, payment)
    await related(await transferOf('10'), payment)
    expect((await relate(await transferOf('1'), payment)).status).toBe(409)
  })

  it('of a failed source no longer count, and the source cannot refund anything afterwards', async () => {
    const payment = await depositOf('10')
    const failing = await transferOf('10')
    await related(failing, payment)
    const second = await transferOf('10')
    expect((await relate(second, payment)).status).toBe(409)
    await bench.deliver()
    bench.vault.wallet.fail(failing.id, 'REVERTED: no')
    await bench.deliver()
    expect((await bench.read(failing.id)).status).toBe('failed')
    await related(second, payment)
    const other = await depositOf('10')
    const { status, body } = await relate(failing, other)
    expect([status, body.message]).toEqual([409, 'The source is failed; such an operation refunds or reverses nothing'])
    await related(second, failing, { relationType: 'replacement' })
  })

  it('do not wait: a refund may still await approval, but its target may not', async () => {
    const payment = await depositOf('500')
    const waiting = await transferOf('200')
    expect((await bench.read(waiting.id)).status).toBe('awaiting_approval')
    await related(waiting, payment)
    const { status, body } = await relate(payment, waiting, { relationType: 'reversal' })
    expect([status, body.message]).toEqual([
      409,
      'The target is awaiting_approval; only a confirmed operation can be refunded or reversed',
    ])
  })

  it('T1 50 refunds and reversals at once never exceed the target', async () => {
    const payment = await depositOf('10')
    const refunds = await Promise.all(Array.from({ length: 50 }, () => transferOf('1')))
    const answers = await Promise.all(
      refunds.map((refund, i) =>
        patiently(() => relate(refund, payment, { relationType: i % 2 === 0 ? 'refund' : 'reversal' })),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(10)
    expect(statuses.filter((status) => status === 409)).toHaveLength(40)
    expect(await rolesOf(payment)).toHaveLength(10)
  })

  it('leave the operations free to move while a relation is being made', async () => {
    const [payment, refund] = [await depositOf('10'), await transferOf('1')]
    await bench.rolledBack(async (query) => {
      await query(`select pg_advisory_xact_lock(hashtextextended('relations of ' || $1 || ' ' || $2, 3))`, [
        bench.vault.id,
        payment.id,
      ])
      const waiting = relate(refund, payment)
      await untilSessionsWait(bench.test.deps.db)
      expect((await bench.act(owner, refund.id, 'cancel')).status).toBe(200)
      await query('rollback')
      expect((await waiting).status).toBe(201)
    })
  })
})

describe('a relation is refused', () => {
  it('between an operation and itself', async () => {
    const payment = await depositOf('10')
    const { status, body } = await relate(payment, payment, { relationType: 'correction' })
    expect([status, body.details[0]!.field]).toEqual([400, 'targetOperationId'])
  })

  it('of a pair that already has one of this type, also at once', async () => {
    const [payment, refund] = [await depositOf('10'), await transferOf('1')]
    const answers = await Promise.all(Array.from({ length: 8 }, () => relate(refund, payment)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expect((await relate(refund, payment)).body.message).toBe('The operations already have this refund')
    await related(refund, payment, { relationType: 'reversal' })
  })

  it('that closes a circle of one type, also at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [first, other] = [await depositOf('10'), await depositOf('10')]
      const answers = await Promise.all([
        relate(first, other, { relationType: 'correction' }),
        relate(other, first, { relationType: 'correction' }),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
      await related(other, first, { relationType: 'replacement' })
    }
  })

  it('beyond the number that an operation may have', async () => {
    const [payment, refund, last] = [await depositOf('10'), await transferOf('1'), await transferOf('1')]
    // Arbitrary rows, because only their number matters here.
    await bench.sql(
      `insert into operations (vault_id, id, type, status, address_id, owner_id, network_id, token_id, amount, flow_type,
         created_at, updated_at)
       select vault_id, id || '-' || n, type, status, address_id, owner_id, network_id, token_id, amount, flow_type,
         created_at, updated_at
       from operations, generate_series(1, $2::int) n where id = $1`,
      [payment.id, relationsPerOperationMax - 1],
    )
    await bench.sql(
      `insert into operation_relations (vault_id, id, source_operation_type, source_operation_id, source_address_id,
         target_operation_type, target_operation_id, relation_type, created_by_id, created_at)
       select vault_id, id, type, id, address_id, type, $1, 'correction', owner_id, created_at
       from operations where id like $1 || '-%'`,
      [payment.id],
    )
    await related(refund, payment)
    const { status, body } = await relate(last, payment)
    expect([status, body.message]).toEqual([409, 'An operation has at most 500 relations'])
    expect((await relate(payment, last, { relationType: 'correction' })).status).toBe(409)
    await bench.sql('delete from operation_relations where target_operation_id = $1', [payment.id])
    await bench.sql(`delete from operations where id like $1 || '-%'`, [payment.id])
  })
})

describe('permissions', () => {
  let stranger: Person
  let foreign: Address
  const notThere = (noun: string) => ({
    error: 'Not Found',
    message: `${noun} not found`,
    code: 404,
    reason: 'not_found',
    requestId: expect.any(String),
  })

  beforeAll(async () => {
    stranger = await addMember(bench.test, bench.vault, 'stranger@example.org', ['treasury'])
    foreign = await bench.fundedAddress({ usdt: '1000' }, stranger)
  })
  const share = async (subjectId: string) => {
    const answer = await bench.sql(
      `insert into address_grants (vault_id, id, address_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
       values ($1, 'c' || substr(md5(random()::text), 1, 24), $2, 'user', $3, true, false, $4, now()) returning id`,
      [bench.vault.id, foreign.id, subjectId, stranger.userId],
    )
    return answer[0].id as string
  }

  it('T39 a missing operation and a hidden operation give the same 404', async () => {
    const mine = await depositOf('10')
    const hidden = await depositOf('10', usdtContract, foreign)
    const wrongType: End = { type: 'transfer', id: mine.id }
    for (const unseen of [hidden, { type: 'deposit', id: 'nothing' } as const, wrongType]) {
      const other = unseen === wrongType ? await depositOf('1') : mine
      const source = await relate(unseen, other)
      expect([source.status, source.body]).toEqual([404, notThere('Source operation')])
      const target = await relate(other, unseen)
      expect([target.status, target.body]).toEqual([404, notThere('Target operation')])
      const list = await relationsOf(unseen)
      expect([list.status, list.body]).toEqual([404, notThere('Operation')])
    }
    expect((await relate({ type: 'deposit', id: 'x' }, { type: 'deposit', id: 'y' }, {}, bystander)).status).toBe(404)
    expect(await list(`targetOperationId=${hidden.id}`)).toEqual([])
  })

  it('T39 operations of another vault do not exist, also for an administrator', async () => {
    const other = await bench.test.deps.db
      .insertInto('vaults')
      .values({
        id: 'cothervault000000000000000',
        code: 'other-vault',
        name: 'Other vault',
        wallet_service_url: 'http://127.0.0.1:1',
        created_at: new Date(),
        updated_at: new Date(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const [mine, elsewhere] = [await depositOf('1'), await depositOf('1')]
    await bench.sql('update operations set vault_id = $1 where id = $2', [other.id, elsewhere.id])
    expect((await relate(mine, elsewhere, {}, admin)).body).toEqual(notThere('Target operation'))
    expect((await relate(elsewhere, mine, {}, admin)).body).toEqual(notThere('Source operation'))
    expect((await owner.get('/vaults/other-vault/operation-relations')).status).toBe(403)
    await bench.sql('update operations set vault_id = $1 where id = $2', [bench.vault.id, elsewhere.id])
  })

  it('let the owner or initiator of one of the operations, and administrators, relate them', async () => {
    const [first, second] = [await depositOf('10', usdtContract, foreign), await depositOf('10', usdtContract, foreign)]
    const mine = await depositOf('10')
    const grant = await share(owner.userId)
    const { status, body } = await relate(first, second)
    expect([status, body.message]).toEqual([
      403,
      'Only the owner or initiator of one of the operations and administrators may relate them',
    ])
    const relatedAmountRaw = '1000000'
    const asSource = await related(mine, first, { relatedAmountRaw })
    const asTarget = await related(second, mine, { relatedAmountRaw })
    const byAdmin = await related(first, second, { relatedAmountRaw }, admin)
    expect(byAdmin.createdById).toBe(admin.userId)
    // The initiator of a transfer from a shared address owns neither end.
    const ordered = await transferOf('1', stranger, foreign)
    await bench.sql('update operations set initiator_id = $1 where id = $2', [owner.userId, ordered.id])
    const asInitiator = await related(ordered, first)
    expect((await list('limit=100&from=2026-06-01')).slice(0, 4)).toEqual([
      asInitiator.id,
      byAdmin.id,
      asTarget.id,
      asSource.id,
    ])
    expect(await rolesOf(first)).toEqual([
      [asInitiator.id, 'target'],
      [byAdmin.id, 'source'],
      [asSource.id, 'target'],
    ])
    // Without the grant, only relations between their own operations remain.
    await bench.sql('delete from address_grants where id = $1', [grant])
    expect((await relationsOf(first)).status).toBe(404)
    expect(await rolesOf(mine)).toEqual([])
    const left = await list('limit=100&from=2026-06-01')
    for (const gone of [asSource, asTarget, byAdmin, asInitiator]) expect(left).not.toContain(gone.id)
    expect(await rolesOf(ordered)).toEqual([])
    // They created the relation, but may no longer see it.
    expect((await owner.delete(`${base}/${asSource.id}`)).body).toEqual(notThere('Operation relation'))
    // The owner of the other end never saw the relation either.
    expect(await list('limit=100', stranger)).toEqual([asInitiator.id, byAdmin.id])
  })

  it('T39 a relation whose other end is hidden is in no answer', async () => {
    const [mine, hidden] = [await depositOf('10'), await depositOf('10', usdtContract, foreign)]
    const there = await related(mine, hidden, {}, admin)
    const back = await related(hidden, mine, { relationType: 'correction' }, admin)
    for (const person of [owner, stranger]) {
      expect(await list(`sourceOperationId=${mine.id}`, person)).toEqual([])
      expect(await list(`sourceOperationId=${hidden.id}`, person)).toEqual([])
      const all = await list('limit=100&from=2026-06-01', person)
      expect(all.filter((id) => id === there.id || id === back.id)).toEqual([])
      for (const { id } of [there, back]) {
        expect((await person.delete(`${base}/${id}`)).body).toEqual(notThere('Operation relation'))
      }
    }
    expect(await rolesOf(mine)).toEqual([])
    expect(await rolesOf(hidden, stranger)).toEqual([])
    expect(await rolesOf(mine, admin)).toEqual([
      [back.id, 'target'],
      [there.id, 'source'],
    ])
  })

  it('show an approver of a transfer its relations to other transfers that they approve', async () => {
    const approver = bench.firstApprover
    const [first, second] = [await transferOf('200'), await transferOf('300')]
    const payment = await depositOf('1000')
    const shown = await related(second, first, { relationType: 'replacement' })
    const hidden = await related(second, payment)
    expect(await list('limit=100', approver)).toEqual([shown.id])
    expect(await list(`sourceOperationId=${second.id}`, approver)).toEqual([shown.id])
    expect(await rolesOf(second, approver)).toEqual([[shown.id, 'source']])
    expect((await relationsOf(payment, approver)).status).toBe(404)
    expect((await relate(first, second, { relationType: 'correction' }, approver)).status).toBe(403)
    expect((await approver.delete(`${base}/${shown.id}`)).status).toBe(403)
    expect(await list(`sourceOperationId=${second.id}`)).toEqual([hidden.id, shown.id])
  })

  it('show a relation of a shared folder once, also when another grant shares it', async () => {
    const group = await ensureGroup(bench.vault, 'readers')
    const reader = await addMember(bench.test, bench.vault, 'reader@example.org', ['readers'])
    const [first, second] = [await depositOf('10', usdtContract, foreign), await depositOf('10', usdtContract, foreign)]
    const relation = await related(first, second, {}, stranger)
    expect(await list('limit=100', reader)).toEqual([])
    await bench.sql(
      `insert into address_groups (vault_id, id, name, created_by_id, created_at, updated_at)
       values ($1, 'cfolder000000000000000000', 'Shared', $2, now(), now())`,
      [bench.vault.id, stranger.userId],
    )
    await bench.sql(
      `insert into address_group_members (vault_id, group_id, address_id, created_at) values ($1, 'cfolder000000000000000000', $2, now())`,
      [bench.vault.id, foreign.id],
    )
    await bench.sql(
      `insert into address_group_grants (vault_id, id, group_id, subject_type, subject_id, can_view, can_transfer, grantor_id, created_at)
       values ($1, 'cfoldergrant0000000000000', 'cfolder000000000000000000', 'group', $2, true, false, $3, now())`,
      [bench.vault.id, group, stranger.userId],
    )
    await share(reader.userId)
    const seen = await list(`limit=100&tokenId=${usdt}`, reader)
    expect(seen[0]).toBe(relation.id)
    expect(seen).toEqual(await list('limit=100', stranger))
    expect(await pagesOf('limit=1', reader)).toEqual(seen.map((id) => [id]))
    expect(await list(`from=${relation.createdAt}&to=${relation.createdAt}`, reader)).toEqual([relation.id])
    expect(await list(`to=2026-01-01`, reader)).toEqual([])
    expect((await relate(second, first, { relationType: 'correction' }, reader)).status).toBe(403)
    expect((await reader.delete(`${base}/${relation.id}`)).status).toBe(403)
  })

  it('deletes: its creator, and administrators', async () => {
    const [first, second] = [await depositOf('10'), await depositOf('10')]
    const byAdmin = await related(first, second, {}, admin)
    const { status, body } = await owner.delete(`${base}/${byAdmin.id}`)
    expect([status, body.message]).toEqual([403, 'Only the creator of the relation and administrators may delete it'])
    expect((await admin.delete(`${base}/${byAdmin.id}`)).status).toBe(204)
    const byOwner = await related(first, second)
    expect((await bystander.delete(`${base}/${byOwner.id}`)).status).toBe(404)
    // Both requests have found the relation before either deletes it.
    const both = await bench.rolledBack(async (query) => {
      await query('select from operation_relations where id = $1 for update', [byOwner.id])
      const answers = Promise.all([admin, owner].map((by) => by.delete(`${base}/${byOwner.id}`)))
      await untilSessionsWait(bench.test.deps.db, 2)
      await query('rollback')
      return answers
    })
    expect(both.map((answer) => answer.status).sort()).toEqual([204, 404])
    expect(await bench.audited('relation.deleted', byOwner.id)).toBe(1)
  })

  it('T41 sets only the fields of the body', async () => {
    const [first, second] = [await depositOf('10'), await depositOf('10')]
    for (const field of ['createdById', 'id', 'vaultId', 'createdAt', 'role']) {
      const { status, body } = await relate(first, second, { [field]: 'x' })
      expect([status, body.details[0]!.field]).toEqual([400, field])
    }
    for (const field of ['sourceOperationType', 'targetOperationId', 'relationType']) {
      expect((await relate(first, second, { [field]: undefined })).status).toBe(400)
    }
    expect((await relate(first, second, { relationType: 'gift' })).status).toBe(400)
    expect((await owner.get(`/vaults/main-vault/operations/refund/${first.id}/relations`)).status).toBe(400)
  })
})

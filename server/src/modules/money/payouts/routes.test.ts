import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsPerPayoutMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { hashInBrowser } from '../../../testing/hash-in-browser.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { verifyTransfers } from '../transfers/compare-order.ts'
import { expireTransfers } from '../transfers/transfer-votes.ts'
import { verifyPayouts } from './compare-payout.ts'
import { expirePayouts } from './payout-votes.ts'

let bench: TransferBench
let address: Address
let count = 0

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  address = await bench.fundedAddress()
})
afterEach(async () => {
  await bench.expectSoundLedger()
})

const base = () => `/vaults/${bench.vault.code}/payouts` as const
const rowOf = (amount: string, more: object = {}) => {
  count += 1
  return { externalId: `e-${count}`, fromAddressId: address.id, toAddress: fakeAddress(`p ${count}`), amount, ...more }
}
const rowsOf = (...amounts: string[]) => amounts.map((amount) => rowOf(amount))
const pay = (rows: object[], more: object = {}, by: Person = bench.owner) => by.post(base(), { rows, ...more })
const act = (by: Person, id: string, verb: string, body?: object) => by.post(`${base()}/${id}/${verb}`, body)
const read = async (id: string, by: Person = bench.owner) => (await by.get(`${base()}/${id}`)).body
const rowsRead = async (id: string, query = '', by: Person = bench.owner) =>
  (await by.get(`${base()}/${id}/rows${query}`)).body.items

async function remove({ id }: { id: string }): Promise<void> {
  const { status } = await bench.vault.admin.delete(`/policies/${id}`)
  expect(status).toBe(204)
}

async function waiting(...amounts: string[]): Promise<string> {
  const { status, body } = await pay(rowsOf(...amounts))
  expect([status, body.status, body.message]).toEqual([201, 'awaiting_approval', undefined])
  return body.id
}

async function expectAsRecorded(): Promise<void> {
  const { deps } = bench.test
  expect((await verifyPayouts(deps.db)).differences).toEqual([])
  expect((await verifyTransfers(deps.db)).differences).toEqual([])
}

describe('ordering', () => {
  it('pays rows that the policies allow at once, as ordinary transfers', async () => {
    const { status, body } = await pay(rowsOf('10', '20', '30'), { name: 'Salaries', paymentPurpose: 'January' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'approved', name: 'Salaries', rowsCount: 3, expiresAt: null, approvers: [] })
    expect(body.sums).toMatchObject([{ asset: 'USDT', amountDecimal: '60', rowsCount: 3 }])
    expect(body.transfers).toMatchObject({ pending: 3, awaiting_approval: 0 })
    expect(await bench.balances(address.id)).toEqual({ available: '940', reserved: '60' })

    await bench.deliver()
    const rows = await rowsRead(body.id)
    expect(rows.map((row) => [row.row, row.amountDecimal])).toEqual([
      [1, '10'],
      [2, '20'],
      [3, '30'],
    ])
    expect(rows[0]!.paymentPurpose).toBe('January')
    for (const { transferId } of rows) expect(bench.vault.wallet.broadcastCount(transferId)).toBe(1)
    expect((await bench.read(rows[0]!.transferId)).payoutId).toBe(body.id)
    const { items } = (await bench.owner.get(`/vaults/${bench.vault.code}/history?limit=3`)).body
    expect(items.map((item) => item.payoutId)).toEqual(Array(3).fill(body.id))
    await expectAsRecorded()
  })

  it('reserves the funds of all rows or of none', async () => {
    const { status, body } = await pay(rowsOf('90', '90', '90', '90', '90', '90', '90', '90', '90', '90', '90', '90'))
    expect([status, body.reason]).toEqual([409, 'insufficient_funds'])
    // 1000 / 90 = 11 rows fit.
    expect(body.details).toEqual([expect.objectContaining({ line: 12, field: 'rows.11.amount' })])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('names every faulty row with its line', async () => {
    const rows = [
      rowOf('1'),
      rowOf('1.12345678901'),
      rowOf('nonsense'),
      rowOf('1', { toAddress: '0x12' }),
      rowOf('1', { token: 'DOGE' }),
    ]
    rows.push({ ...rowOf('1'), externalId: rows[0]!.externalId })
    const { status, body } = await pay(rows)
    expect([status, body.reason]).toEqual([400, 'validation_failed'])
    expect(body.details.map((detail) => [detail.line, detail.field])).toEqual([
      [2, 'rows.1.amount'],
      [3, 'rows.2.amount'],
      [4, 'rows.3.toAddress'],
      [5, 'rows.4.token'],
      [6, 'rows.5.externalId'],
    ])
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })

  it('names every faulty row of JSON with its line, also of a thousand rows with other faults', async () => {
    const faulty = [
      { ...rowOf('1'), toAddress: undefined },
      { ...rowOf('1'), amount: 1 },
      { ...rowOf('1'), extra: 'x' },
    ]
    const rows = [...rowsOf('1', '2'), ...faulty, rowOf('3')]
    const few = await pay(rows)
    expect(few.body.details.map(({ line, field, message }) => `${line} ${field} ${message}`)).toEqual([
      '3 rows.2.toAddress is required',
      '4 rows.3.amount must be string',
      '5 rows.4.extra is not a field of this request',
    ])
    const many = await pay([...rows, ...Array.from({ length: 990 }, () => rowOf('1'))])
    expect([many.status, many.body.details]).toEqual([400, few.body.details])
  })

  it('names the fault of a text that is not an amount and of a negative amount', async () => {
    const { body } = await pay(rowsOf('x', '-1', '1e3', '0', '1.1234567'))
    expect(body.details.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '1 must be a decimal string such as 1.5',
      '2 must be greater than 0',
      '3 must be a decimal string such as 1.5',
      '4 must be greater than 0',
      '5 must fit USDT with its 6 decimals',
    ])
  })

  it('accepts an external id once, and shows the earlier use to members who may see it', async () => {
    const [row] = rowsOf('1')
    const first = await pay([row!])
    const again = await pay([rowOf('1'), row!])
    expect([again.status, again.body.reason]).toEqual([409, 'already_exists'])
    expect(again.body.details).toEqual([
      { line: 2, field: 'rows.1.externalId', message: `was used by row 1 of the payout ${first.body.id}` },
    ])
    const ownAddress = await bench.fundedAddress({}, bench.firstApprover)
    const other = await pay([{ ...row!, fromAddressId: ownAddress.id }], {}, bench.firstApprover)
    expect([other.status, other.body.details[0]!.message]).toEqual([409, 'was used by another payout'])
  })

  it('accepts an external id once from two payouts at the same time', async () => {
    const second = await bench.fundedAddress()
    const [row] = rowsOf('1')
    const answers = await Promise.all([pay([row!]), pay([{ ...row!, fromAddressId: second.id }])])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('refuses addresses that the caller may not transfer from before it names faults of the rows', async () => {
    const { status } = await pay([rowOf('nonsense')], {}, bench.vault.admin)
    expect(status).toBe(403)
    const absent = await pay([rowOf('nonsense'), rowOf('1', { fromAddressId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' })])
    expect([absent.status, absent.body.details]).toEqual([
      404,
      [{ line: 2, field: 'rows.1.fromAddressId', message: 'is not found' }],
    ])
  })

  it('refuses a disabled token and more than a thousand rows', async () => {
    const { admin, tokens } = bench.vault
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
    const refused = await pay(rowsOf('1'))
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })
    expect([refused.status, refused.body.reason]).toEqual([409, 'disabled'])
    const many = Array.from({ length: 1_001 }, () => rowOf('0.1'))
    expect((await pay(many)).status).toBe(400)
  })
})

describe('a CSV file', () => {
  const head = ['externalId', 'fromAddressId', 'toAddress', 'amount']
  const asCsv = { 'content-type': 'text/csv; charset=utf-8' }
  const csv = (rows: Record<string, string>[], separator = ',', names = head) =>
    [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))]
      .map((cells) => cells.join(separator))
      .join('\r\n')
  const upload = <Path extends '' | '/preview' = ''>(
    text: string,
    path?: Path,
    headers: Record<string, string> = asCsv,
  ) => bench.owner.post(`${base()}${(path ?? '') as Path}`, text, headers)
  const refusalOf = async (text: string) => {
    const { status, body } = await upload(text)
    return [status, ...(body.details ?? []).map(({ line, field, message }) => `${line} ${field} ${message}`)]
  }

  it.each([',', ';'])('separated by %j orders the same payout as JSON', async (separator) => {
    const rows = rowsOf('10', '20.5').map((row, i) => ({ ...row, note: i === 0 ? '"Two\nlines"' : '' }))
    const { status, body } = await upload(csv(rows, separator, [...head, 'note']))
    expect([status, body.message]).toEqual([201, undefined])
    expect(body).toMatchObject({
      status: 'approved',
      name: null,
      rowsCount: 2,
      sums: [{ amountDecimal: '30.5' }],
    })
    const paid = await rowsRead(body.id)
    expect(paid.map((row) => [row.externalId, row.note])).toEqual([
      [rows[0]!.externalId, 'Two\nlines'],
      [rows[1]!.externalId, null],
    ])
    await expectAsRecorded()
  })

  it('is previewed like JSON, and the same file under the same key is one payout', async () => {
    const text = csv(rowsOf('1', '2'))
    const preview = await upload(text, '/preview')
    expect([preview.status, preview.body.rowsCount, preview.body.problems]).toEqual([200, 2, []])
    const headers = { ...asCsv, 'idempotency-key': `file-${count}` }
    const first = await upload(text, '', headers)
    expect((await upload(text, '', headers)).body.id).toBe(first.body.id)
    expect((await upload(text)).body.reason).toBe('already_exists')
  })

  it('names every faulty line and its column', async () => {
    const [first, two, three] = rowsOf('1', 'much', '0.0000001')
    const long = { ...rowOf('1'), externalId: 'x'.repeat(1_000) }
    const hidden = { ...rowOf('1'), externalId: 'a\u200Bb' }
    expect(await refusalOf(csv([first!, { ...rowOf(''), toAddress: '' }, long, hidden]))).toEqual([
      400,
      expect.stringMatching(/^3 (toAddress|amount) /),
      expect.stringMatching(/^3 (toAddress|amount) /),
      expect.stringMatching(/^4 externalId must NOT have more than/),
      expect.stringMatching(/^5 externalId must not hold the invisible character/),
    ])
    // An empty line counts as a line; a cell with two lines moves the following rows.
    const text = csv([{ ...first!, note: '"a\nb"' }, two!, three!, { ...two!, toAddress: 'nowhere' }], ',', [
      ...head,
      'note',
    ])
    expect(await refusalOf(text.replace('\r\n', '\r\n\r\n'))).toEqual([
      400,
      expect.stringMatching(/^5 amount /),
      expect.stringMatching(/^6 amount /),
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^7 (externalId|toAddress|amount) /)),
    ])
  })

  it('names the lines in refusals for other reasons', async () => {
    const rows = rowsOf('1', '2')
    expect((await upload(csv(rows))).status).toBe(201)
    const again = await upload(csv([...rowsOf('3'), rows[1]!]))
    expect([again.status, again.body.reason, again.body.details[0]!.line]).toEqual([409, 'already_exists', 3])
    const poor = await upload(csv(rowsOf('1', '5000')))
    expect([poor.status, poor.body.reason]).toEqual([409, 'insufficient_funds'])
    expect(poor.body.details).toMatchObject([{ line: 3, field: 'amount' }])
    const strange = await upload(csv([rowOf('1'), rowOf('1', { fromAddressId: 'nothing' })]))
    expect([strange.status, strange.body.details]).toEqual([
      404,
      [{ line: 3, field: 'fromAddressId', message: 'is not found' }],
    ])
  })

  it.each([
    ['no text', '', ['1 line must name the columns']],
    ['no rows', 'externalId,fromAddressId,toAddress,amount\n', ['undefined rows must not be empty']],
    [
      'columns that it does not know, twice, or that are missing',
      'externalId,fromAddressId,Amount,externalId\na,b,c,d\n',
      [
        '1 Amount is not a column of a payout',
        '1 externalId is named twice',
        '1 toAddress is a required column',
        '1 amount is a required column',
      ],
    ],
    [
      'ragged lines',
      'externalId,fromAddressId,toAddress,amount\na,b,c\na,b,c,d\na,b,c,d,e\n',
      [
        '2 line has 3 cells, and the first line names 4 columns',
        '4 line has 5 cells, and the first line names 4 columns',
      ],
    ],
    [
      'an open quote',
      'externalId,fromAddressId,toAddress,amount\n"a,b,c,d\n',
      ['2 line begins a cell with a quote that is not closed'],
    ],
  ])('with %s is refused', async (_, text, faults) => {
    expect(await refusalOf(text)).toEqual([400, ...faults])
  })

  it('may have as many rows as JSON, in UTF-8', async () => {
    const many = Array.from({ length: rowsPerPayoutMax + 1 }, () => 'a,b,c,d').join('\n')
    expect(await refusalOf(`${head.join(',')}\n${many}`)).toEqual([
      400,
      `undefined rows must not be more than ${rowsPerPayoutMax}`,
    ])
    expect((await upload('x', '', { 'content-type': 'text/csv; charset=utf-16' })).status).toBe(415)
    expect((await bench.owner.post(base(), Buffer.from('ff', 'hex'), asCsv)).body.reason).toBe('malformed_body')
  })

  it('is not read when its sender has no access', async () => {
    const stranger = await bench.test.signIn(`stranger-${count}@example.org`)
    expect((await stranger.post(base(), 'nonsense', asCsv)).body.reason).toBe('not_a_member')
  })
})

describe('the decision on a payout', () => {
  it('requires the votes of the sum, although every single row is allowed', async () => {
    const { body } = await pay(rowsOf('60', '60'))
    expect(body).toMatchObject({ status: 'awaiting_approval', decisionPolicyCode: 'large', approvalThreshold: 2 })
    await act(bench.owner, body.id, 'cancel')
  })

  it('blocks by the sum, and records the reason', async () => {
    const rich = await bench.fundedAddress({ usdt: '2000000' })
    const rows = rowsOf('600000', '600000').map((row) => ({ ...row, fromAddressId: rich.id }))
    const refused = await pay(rows)
    expect([refused.status, refused.body.reason, refused.body.message]).toEqual([
      403,
      'blocked_by_policy',
      'Nobody moves a million',
    ])
    expect(await bench.audited('payout.blocked', rich.id)).toBe(1)
    expect(await bench.balances(rich.id)).toEqual({ available: '2000000', reserved: '0' })
  })

  it('blocks by the sum of several sources', async () => {
    const [first, next] = [await bench.fundedAddress({ usdt: '900000' }), await bench.fundedAddress({ usdt: '900000' })]
    const rows = [first, next].map(({ id }) => rowOf('500000', { fromAddressId: id }))
    expect((await pay(rows)).status).toBe(403)
  })

  it('counts the rows in velocity limits', async () => {
    const value = { op: 'gt', value: '3', windowSeconds: 3_600, per: 'sourceAddress' }
    const rules = [{ conditionType: 'require', selectors: [{ selectorType: 'velocityCount', value }] }]
    const limit = await bench.policy({ code: 'rate', effect: 'block', blockReason: 'Too many', rules })
    expect((await pay(rowsOf('1', '1', '1'))).status).toBe(201)
    const other = await bench.fundedAddress()
    const refused = await pay(rowsOf('1', '1', '1', '1').map((row) => ({ ...row, fromAddressId: other.id })))
    expect([refused.status, refused.body.message]).toEqual([403, 'Too many'])
    // The rows of the first payout count too.
    expect((await pay(rowsOf('1'))).status).toBe(403)
    await remove(limit)
  })

  it('adds up velocity amounts per recipient, not over all recipients', async () => {
    const value = { op: 'gt', value: '50', windowSeconds: 3_600, per: 'destination' }
    const rules = [{ conditionType: 'require', selectors: [{ selectorType: 'velocityAmount', value }] }]
    const limit = await bench.policy({ code: 'per-recipient', effect: 'block', blockReason: 'Too much', rules })
    expect((await pay(rowsOf('40', '40'))).status).toBe(201)
    const toAddress = fakeAddress('one recipient')
    expect((await pay(['30', '30'].map((amount) => rowOf(amount, { toAddress })))).status).toBe(403)
    await remove(limit)
  })

  it('is not affected by a policy about small amounts', async () => {
    const rules = amountRule({ op: 'lt', value: '0.5' })
    const dust = await bench.policy({ code: 'dust', effect: 'block', blockReason: 'Dust', rules })
    const refused = await pay(rowsOf('0.1', '20'))
    expect([refused.status, refused.body.message]).toEqual([403, 'Dust'])
    await remove(dust)
  })
})

describe('preview', () => {
  it('names the decision, the deciding row and the problems, and writes nothing', async () => {
    const before = await bench.count('audit_records')
    const { status, body } = await bench.owner.post(`${base()}/preview`, { rows: rowsOf('60', '2000') })
    expect(status).toBe(200)
    expect(body.decision).toMatchObject({
      effect: 'approval',
      requirements: [{ policyCode: 'large', approversCount: 3 }],
    })
    expect(body.sums).toMatchObject([{ amountDecimal: '2060' }])
    expect(body.problems).toMatchObject([{ code: 'insufficient_funds', row: 2 }])
    expect(await bench.count('audit_records')).toBe(before)
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
  })
})

describe('voting', () => {
  it('casts one vote on all rows; after the last one all are delivered', async () => {
    const id = await waiting('200', '50', '70')
    expect(await bench.balances(address.id)).toEqual({ available: '680', reserved: '320' })
    const first = await act(bench.firstApprover, id, 'approve', { comment: 'Checked' })
    expect([first.status, first.body.approvalRequirements[0]!.approvalsCount]).toEqual([200, 1])
    expect((await act(bench.firstApprover, id, 'approve')).body.reason).toBe('already_voted')
    expect((await act(bench.owner, id, 'approve')).body.reason).toBe('not_an_approver')
    await expectAsRecorded()
    const second = await act(bench.secondApprover, id, 'approve')
    expect([second.status, second.body.status]).toEqual([200, 'approved'])
    expect(second.body.transfers).toMatchObject({ pending: 3 })
    await expectAsRecorded()
    await bench.deliver()
    await bench.deliver()
    const rows = await rowsRead(id)
    for (const { transferId } of rows) expect(bench.vault.wallet.broadcastCount(transferId)).toBe(1)
    expect(await bench.audited('payout.voted', id)).toBe(2)
    expect(await bench.audited('transfer.released', rows[0]!.transferId)).toBe(1)
    await expectAsRecorded()
  })

  it('binds the vote to the shown content, which a browser computes from the rows', async () => {
    const id = await waiting('200', '50')
    const { vaultId, initiatorId, payloadHash } = await read(id, bench.firstApprover)
    const items = await rowsRead(id, '', bench.firstApprover)
    for (const row of items) expect(await hashInBrowser(row.payload)).toBe(row.payloadHash)
    const rows = items.map(({ externalId, transferId, payloadHash: hash }) => ({
      externalId,
      transferId,
      payloadHash: hash,
    }))
    const payload = { payoutId: id, vaultId, initiatorId, rows }
    expect(await hashInBrowser(payload)).toBe(payloadHash)
    const other = await hashInBrowser({ ...payload, rows: rows.slice(1) })
    for (const verb of ['approve', 'reject'] as const) {
      const refused = await act(bench.firstApprover, id, verb, { payloadHash: other })
      expect([refused.status, refused.body.reason]).toEqual([409, 'payload_changed'])
    }
    expect(await bench.audited('payout.voted', id)).toBe(0)
    expect((await act(bench.firstApprover, id, 'approve', { payloadHash })).status).toBe(200)
    await act(bench.owner, id, 'cancel')
  })

  it('does not let a single row be voted on, cancelled or expire', async () => {
    const id = await waiting('200', '50')
    const { transferId } = (await rowsRead(id))[0]!
    for (const verb of ['approve', 'reject'] as const)
      expect((await bench.act(bench.vault.admin, transferId, verb)).body.reason).toBe('part_of_payout')
    expect((await bench.act(bench.owner, transferId, 'cancel')).body.reason).toBe('part_of_payout')
    bench.test.clock.advance(72 * 3_600_000)
    await expireTransfers(bench.test.deps)
    expect((await bench.read(transferId)).status).toBe('awaiting_approval')
    await expirePayouts(bench.test.deps)
    expect(await read(id)).toMatchObject({ status: 'expired', transfers: { rejected: 2 } })
    expect((await bench.read(transferId)).failureReason).toBe('APPROVAL_EXPIRED')
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
    await expectAsRecorded()
  })

  it('ends with one veto, or when the initiator cancels', async () => {
    const vetoed = await waiting('200', '50')
    expect((await act(bench.secondApprover, vetoed, 'reject')).body).toMatchObject({
      status: 'rejected',
      transfers: { rejected: 2 },
    })
    const cancelled = await waiting('200')
    expect((await act(bench.firstApprover, cancelled, 'cancel')).status).toBe(403)
    expect((await act(bench.owner, cancelled, 'cancel')).body).toMatchObject({ status: 'cancelled' })
    expect((await act(bench.owner, cancelled, 'cancel')).body.reason).toBe('wrong_state')
    expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
    await expectAsRecorded()
  })

  it('T29 checks the payout again at the last vote, and keeps no refused vote', async () => {
    const id = await waiting('222', '10')
    await act(bench.firstApprover, id, 'approve')
    const stop = await bench.policy({ code: 'stop', effect: 'block', blockReason: 'Closed', rules: [] })
    const refused = await act(bench.secondApprover, id, 'approve')
    expect([refused.status, refused.body.reason]).toEqual([409, 'blocked_by_policy_now'])
    await remove(stop)
    const { admin, tokens } = bench.vault
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })
    expect((await act(bench.secondApprover, id, 'approve')).body.reason).toBe('disabled')
    await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })
    expect((await read(id)).approvalRequirements[0]!.approvalsCount).toBe(1)
    expect((await act(bench.secondApprover, id, 'approve')).body.status).toBe('approved')
  })

  it('names the row that a policy blocks at the last vote', async () => {
    const amounts = Array.from({ length: 20 }, (_, n) => String(n + 1))
    const id = await waiting(...amounts.slice(0, 12), '222', ...amounts.slice(12))
    await act(bench.firstApprover, id, 'approve')
    const rules = amountRule({ op: 'gt', value: '200' })
    const stop = await bench.policy({ code: 'stop', effect: 'block', blockReason: 'Closed', rules })
    const { status, body } = await act(bench.secondApprover, id, 'approve')
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining('Row 13: Closed')])
    await remove(stop)
    await act(bench.owner, id, 'cancel')
  })

  it('lists partial failures per row', async () => {
    const { body } = await pay(rowsOf('10', '20'))
    const [first] = await rowsRead(body.id)
    await bench.act(bench.owner, first!.transferId, 'cancel')
    await bench.deliver()
    await bench.deliver()
    expect(await rowsRead(body.id, '?status=cancelled')).toMatchObject([{ row: 1 }])
    expect((await read(body.id)).transfers).toMatchObject({ cancelled: 1 })
    await expectAsRecorded()
  })
})

describe('T27 a payout that was changed in the tables', () => {
  const halts = async (change: (id: string, transferId: string) => Promise<unknown>) => {
    const id = await waiting('200', '50')
    const rows = await rowsRead(id)
    await change(id, rows[1]!.transferId)
    const voted = await act(bench.firstApprover, id, 'approve')
    expect([voted.status, voted.body.reason]).toEqual([409, 'payout_halted'])
    expect(await read(id)).toMatchObject({ status: 'halted' })
    expect((await bench.read(rows[0]!.transferId)).haltReason).toContain('differs from its audit records')
    expect((await act(bench.owner, id, 'cancel')).body.reason).toBe('payout_halted')
    expect(await bench.audited('payout.halted', id)).toBe(1)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(rows[0]!.transferId)).toBeNull()
  }

  it('T27 halts when a recipient was changed', () =>
    halts((_, id) => bench.sql('update transfers set to_address = $2 where id = $1', [id, fakeAddress('thief')])))

  it('T27 halts when its sums were changed', () =>
    halts((id) => bench.sql(`update payouts set sums = '[]' where id = $1`, [id])))

  it('T27 halts when a threshold was lowered', () =>
    halts((id) => bench.sql('update approval_requirements set threshold = 1 where subject_id = $1', [id])))

  it('T27 does not hand over a transfer that was released without the votes on its payout', async () => {
    const id = await waiting('200', '50')
    const { transferId } = (await rowsRead(id))[0]!
    await bench.sql(`update operations set status = 'pending' where id = $1`, [transferId])
    await bench.sql(`update transfers set phase = 'queued' where id = $1`, [transferId])
    await bench.enqueue(transferId)
    await bench.deliver()
    expect(bench.vault.wallet.transfer(transferId)).toBeNull()
    expect((await bench.read(transferId)).haltReason).toContain('differs from its audit records')
  })
})

describe('a payout', () => {
  it('is visible to its initiator, its voters, administrators and auditors', async () => {
    const auditor = await addMember(bench.test, bench.vault, 'auditor@example.org', ['auditors'])
    const id = await waiting('200')
    for (const by of [bench.owner, bench.firstApprover, bench.vault.admin, auditor]) {
      expect((await by.get(`${base()}/${id}`)).status).toBe(200)
      expect((await by.get(`${base()}/${id}/rows`)).status).toBe(200)
    }
    const { body: ownPayout } = await pay(rowsOf('1'))
    for (const path of ['', '/rows'])
      expect((await bench.firstApprover.get(`${base()}/${ownPayout.id}${path}`)).status).toBe(404)
    expect((await act(bench.firstApprover, ownPayout.id, 'approve')).status).toBe(404)
    const { items } = (await bench.firstApprover.get(`${base()}?awaitingMyApproval=true`)).body
    expect(items.map((item) => item.id)).toContain(id)
    for (const verb of ['approve', 'reject', 'cancel'])
      expect((await act(auditor, id, verb)).body.reason).toBe('auditor_reads_only')
    await act(bench.owner, id, 'cancel')
  })

  it('lists its rows page by page', async () => {
    const { body } = await pay(rowsOf('1', '2', '3'))
    const first = (await bench.owner.get(`${base()}/${body.id}/rows?limit=2`)).body
    const second = (await bench.owner.get(`${base()}/${body.id}/rows?limit=2&cursor=${first.nextCursor}`)).body
    expect([...first.items, ...second.items].map((item) => item.row)).toEqual([1, 2, 3])
    expect(second.nextCursor).toBeNull()
  })
})

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawAmountMax } from '../../../lib/limits.ts'
import type { Address } from '../../../testing/answer.ts'
import type { Person } from '../../../testing/app.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember, createAddress, createVaultFixture, ensureGroup, usdtContract } from '../../../testing/fixtures.ts'
import { amountRule, createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

let bench: TransferBench
let address: Address

beforeAll(async () => {
  bench = await createTransferBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  bench.vault.wallet.down = false
  address = await bench.fundedAddress()
})
afterEach(() => {
  bench.vault.wallet.fee = null
})
afterEach(() => bench.expectSoundLedger())

const order = (amount: string, more: Record<string, unknown> = {}, by: Person = bench.owner) =>
  bench.order(address.id, amount, more, by)

describe('ordering a transfer', () => {
  it('is allowed, delivered, confirmed and settled with its fee', async () => {
    address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
    const metadata = { paymentPurpose: 'Invoice 4711', tags: ['march'] }
    const created = await order('40', { metadata })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      status: 'pending',
      amount: '40000000',
      amountDecimal: '40',
      decisionPolicyCode: 'small',
      flowType: 'external',
      contractAddress: usdtContract,
      approvalThreshold: 0,
      approvers: [],
      expiresAt: null,
    })
    expect(await bench.balances(address.id)).toEqual({ available: '960', reserved: '40' })

    await bench.deliver()
    bench.vault.wallet.broadcast(created.body.id)
    await bench.deliver()
    expect((await bench.read(created.body.id)).txHash).toMatch(/^0x/)
    bench.vault.wallet.confirm(created.body.id, { fee: '21000' })
    await bench.deliver()

    const transfer = await bench.read(created.body.id)
    expect(transfer).toMatchObject({ status: 'confirmed', fee: '21000', failureReason: null, metadata })
    expect(transfer.confirmedAt).not.toBeNull()
    expect(await bench.balances(address.id)).toEqual({ available: '960', reserved: '0' })
    expect(await bench.balances(address.id, 'ETH')).toEqual({ available: '0.999999999999979', reserved: '0' })
  })

  it('waits for votes when a policy requires them, and reserves at once', async () => {
    const { status, body } = await order('100.000001')
    expect(status).toBe(201)
    expect(body).toMatchObject({
      status: 'awaiting_approval',
      decisionPolicyCode: 'large',
      approvalThreshold: 2,
      approvalRequirements: [{ policyCode: 'large', threshold: 2, approvalsCount: 0, bypassed: false }],
    })
    expect(body.approvers.map((approver) => approver.userId).sort()).toEqual(
      [bench.firstApprover.userId, bench.secondApprover.userId, bench.thirdApprover.userId].sort(),
    )
    expect(new Date(body.expiresAt!).getTime() - new Date(body.createdAt).getTime()).toBe(72 * 3_600_000)
    expect(await bench.balances(address.id)).toEqual({ available: '899.999999', reserved: '100.000001' })
    await bench.deliver()
    expect(bench.vault.wallet.transfer(body.id)).toBeNull()
  })

  it('names the token by code, by id or not at all', async () => {
    address = await bench.fundedAddress({ usdt: '5', eth: '5' })
    const { eth, usdt } = bench.vault.tokens
    const codes = []
    for (const more of [{}, { token: 'ETH' }, { tokenId: eth.id }, { tokenId: usdt.id }]) {
      const { body } = await order('1', more)
      codes.push([body.asset, body.contractAddress])
    }
    expect(codes).toEqual([
      ['USDT', usdtContract],
      ['ETH', null],
      ['ETH', null],
      ['USDT', usdtContract],
    ])
  })

  it('spends a balance down to zero, and 2^256-1 exactly', async () => {
    expect((await order('100', { metadata: {} })).status).toBe(201)
    const whale = await createAddress(bench.owner, { token: 'USDT' })
    const adjusted = await bench.vault.admin.post('/vaults/main-vault/adjustments', {
      addressId: whale.id,
      tokenId: bench.vault.tokens.usdt.id,
      amount: decimalOf(rawAmountMax),
      reason: 'All there is',
    })
    expect(adjusted.status).toBe(201)
    await withPolicy({ code: 'everything', effect: 'allow' }, async () => {
      await bench.sql(`update policies set enabled = false where code in ('absurd', 'large')`)
      const { status, body } = await bench.order(whale.id, decimalOf(rawAmountMax))
      await bench.sql(`update policies set enabled = true where code in ('absurd', 'large')`)
      expect(status).toBe(201)
      expect(body.amount).toBe(rawAmountMax.toString())
    })
    expect(await bench.balances(whale.id)).toEqual({ available: '0', reserved: decimalOf(rawAmountMax) })
  })

  it('marks a transfer to another address of the vault as internal and names that address to viewers who may see it', async () => {
    const stranger = await addMember(bench.test, bench.vault, 'recipient@example.org', ['treasury'])
    const other = await createAddress(stranger, { token: 'USDT' })
    const { body } = await order('1', { toAddress: other.address.toLowerCase() })
    expect(body).toMatchObject({ flowType: 'internal', toAddress: other.address, toAddressId: null })
    expect((await bench.read(body.id, bench.vault.admin)).toAddressId).toBe(other.id)
  })

  it('returns the same transfer as a later read', async () => {
    const { admin } = bench.vault
    const category = await admin.post('/vaults/main-vault/operation-categories', { key: 'rent', name: 'Rent' })
    expect(category.status).toBe(201)
    const ownAddress = await createAddress(bench.owner, { token: 'USDT' })
    const hidden = await createAddress(admin, { token: 'USDT' })
    const orders: [string, Record<string, unknown>][] = [
      ['1', {}],
      ['1', { metadata: { category: 'rent', tags: ['march'], note: 'Keys' } }],
      ['1', { toAddress: ownAddress.address }],
      ['1', { toAddress: hidden.address }],
      ['101', {}],
      ['101', { toAddress: ownAddress.address, metadata: { category: 'rent' } }],
    ]
    for (const [amount, more] of orders) {
      const answer = await order(amount, more)
      expect(answer.status).toBe(201)
      const { decision: _, recipient: __, holds, isExposed, ...read } = await bench.read(answer.body.id)
      expect(answer.body).toEqual(read)
      expect({ holds, isExposed }).toEqual({ holds: [], isExposed: false })
    }
  })

  it('returns the same answer for the same Idempotency-Key: one transfer for 20 requests', async () => {
    const before = await bench.count('transfers')
    const body = { fromAddressId: address.id, toAddress: bench.recipient, amount: '7' }
    const post = () =>
      bench.owner.post('/vaults/main-vault/transfers', body, { 'idempotency-key': `pay-${address.id}` })
    const answers = await Promise.all(Array.from({ length: 20 }, post))
    expect(answers.every((answer) => answer.status === 201 || answer.status === 409)).toBe(true)
    const ids = new Set(answers.filter((answer) => answer.status === 201).map((answer) => answer.body.id))
    const replayed = await post()
    expect(replayed.headers['idempotency-replayed']).toBe('true')
    expect([...ids]).toEqual([replayed.body.id])
    expect(await bench.count('transfers')).toBe(before + 1)
    expect(await bench.balances(address.id)).toEqual({ available: '993', reserved: '7' })
  })
})

describe('policies', () => {
  it('require the votes of every matching policy, each by its own threshold', async () => {
    const fourthApprover = await addMember(bench.test, bench.vault, 'director@example.org', ['directors'])
    const directors = await ensureGroup(bench.vault, 'directors')
    await withPolicy(
      {
        code: 'directors-look',
        effect: 'requireApproval',
        approvalThreshold: 1,
        rules: amountRule({ op: 'gt', value: '500' }),
        approvers: [{ kind: 'group', groupId: directors }],
      },
      async () => {
        const { body } = await order('600')
        expect(body).toMatchObject({ decisionPolicyCode: 'large', approvalThreshold: 2 })
        expect(
          body.approvalRequirements.map((requirement) => [requirement.policyCode, requirement.threshold]).sort(),
        ).toEqual([
          ['directors-look', 1],
          ['large', 2],
        ])
        expect((await bench.act(fourthApprover, body.id, 'approve')).body.status).toBe('awaiting_approval')
        expect((await bench.act(bench.firstApprover, body.id, 'approve')).body.status).toBe('awaiting_approval')
        expect((await bench.act(bench.secondApprover, body.id, 'approve')).body.status).toBe('pending')
      },
    )
  })

  it('T34 prefer a block over an allow, give and record its reason, and leave no transfer', async () => {
    const whale = await bench.fundedAddress({ usdt: '2000000' })
    const before = await bench.count('transfers')
    const { status, body } = await bench.order(whale.id, '1000000')
    expect(status).toBe(403)
    expect(body).toMatchObject({ error: 'Forbidden', message: 'Nobody moves a million', code: 403 })
    expect(await bench.count('transfers')).toBe(before)
    expect(await bench.audited('transfer.blocked', whale.id)).toBe(1)
    expect(await bench.balances(whale.id)).toEqual({ available: '2000000', reserved: '0' })
  })

  it('T34 deny an order without an allowing policy, with an audit record and no transfer', async () => {
    await bench.sql(`update policies set enabled = false where code = 'small'`)
    const before = await bench.count('transfers')
    const { status, body } = await order('1')
    await bench.sql(`update policies set enabled = true where code = 'small'`)
    expect(status).toBe(403)
    expect(body.message).toBe('No policy allows this transfer')
    expect(await bench.count('transfers')).toBe(before)
    expect(await bench.audited('transfer.denied', address.id)).toBe(1)
  })

  it('T34 add the votes of an allow policy with votes when no rate is known, and permit nothing by that policy', async () => {
    await withPolicy(
      {
        code: 'below-1000-usd',
        effect: 'allow',
        approvalThreshold: 1,
        rules: [
          {
            conditionType: 'require',
            selectors: [{ selectorType: 'amountUsd', value: { op: 'lt', value: '1000' } }],
          },
        ],
        approvers: [{ kind: 'group', groupId: bench.approversId }],
      },
      async () => {
        const payload = { fromAddressId: address.id, toAddress: bench.recipient, amount: '90' }
        const added = await order('90')
        expect(added.body).toMatchObject({
          status: 'awaiting_approval',
          approvalRequirements: [{ policyCode: 'below-1000-usd', threshold: 1 }],
        })
        await bench.sql(`update policies set enabled = false where code = 'small'`)
        try {
          const refused = await order('90')
          expect([refused.status, refused.body.message]).toEqual([403, 'No policy allows this transfer'])
          expect(await bench.audited('transfer.denied', address.id)).toBe(1)
          const { decision, trace } = (await bench.owner.post('/vaults/main-vault/transfers/preview', payload)).body
          expect(decision).toMatchObject({ effect: 'deny', decisionPolicy: null, requirements: [] })
          const simulation = { actionType: 'transfer', payload }
          const simulated = (await bench.owner.post('/vaults/main-vault/policies/simulate', simulation)).body
          expect(simulated).toMatchObject({ effect: 'deny', trace })
          expect(trace.find((entry) => entry.policyCode === 'below-1000-usd')).toMatchObject({
            matched: true,
            inDoubt: true,
            rules: [{ matched: true, selectors: [{ matched: true, observed: null }] }],
          })
          const asOf = bench.test.clock.now().toISOString()
          const rate = { usdRate: '2', asOf, source: 'manual' }
          const { id } = bench.vault.tokens.usdt
          expect((await bench.vault.admin.post(`/tokens/${id}/rates`, rate)).status).toBe(201)
          expect((await order('90')).body.status).toBe('awaiting_approval')
          await bench.sql('delete from token_rates')
        } finally {
          await bench.sql(`update policies set enabled = true where code = 'small'`)
        }
      },
    )
  })

  it('T35 record the bypass of an administrator, which proceeds', async () => {
    const { admin } = bench.vault
    const ownAddress = await bench.fundedAddress({}, admin)
    await withPolicy(
      {
        code: 'votes-but-for-administrators',
        effect: 'requireApproval',
        approvalThreshold: 1,
        adminBypass: true,
        rules: amountRule({ op: 'between', min: '50', max: '60' }),
        approvers: [{ kind: 'group', groupId: bench.approversId }],
      },
      async () => {
        const byAdmin = await bench.order(ownAddress.id, '55', {}, admin)
        expect(byAdmin.body).toMatchObject({
          status: 'pending',
          decisionPolicyCode: 'votes-but-for-administrators',
          approvalRequirements: [{ policyCode: 'votes-but-for-administrators', bypassed: true, approvalsCount: 0 }],
        })
        const [record] = await bench.sql(
          `select content from audit_records where action = 'transfer.requested' and target_id = $1`,
          [byAdmin.body.id],
        )
        expect(JSON.parse(record.content).details.bypassed).toEqual(['votes-but-for-administrators'])
        expect((await order('55')).body.status).toBe('awaiting_approval')
      },
    )
  })

  it.each([
    ['a group has no members', 1, async () => ({ kind: 'group', groupId: await ensureGroup(bench.vault, 'nobody') })],
    ['too few users are named', 2, async () => ({ kind: 'user', userId: bench.firstApprover.userId })],
  ])(
    'are a 409 when the quorum cannot be reached because %s, and reserve nothing',
    async (_title, threshold, approver) => {
      await withPolicy(
        {
          code: 'nobody-can',
          effect: 'requireApproval',
          approvalThreshold: threshold,
          rules: amountRule({ op: 'between', min: '70', max: '71' }),
          approvers: [await approver()],
        },
        async () => {
          const { status, body } = await order('70')
          expect(status).toBe(409)
          expect(body.message).toBe('quorum unreachable')
          expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
        },
      )
    },
  )
})

describe('an order is refused', () => {
  it('T7 with an inexact amount by a 400 that names the field', async () => {
    const bad = [
      '0',
      '0.0',
      '-1',
      '+1',
      '1e18',
      '1E2',
      '0x1',
      'NaN',
      'Infinity',
      '',
      ' 1',
      '1 ',
      '1,000',
      '01',
      '.5',
      '1.',
      '0.0000001',
      `${2n ** 256n}`,
      decimalOf(2n ** 256n),
      '١',
    ]
    for (const amount of bad) {
      const { status, body } = await order(amount)
      expect([amount, status]).toEqual([amount, 400])
      expect(body.details[0]!.field).toBe('amount')
    }
    for (const amount of [1, 0.1, null, true, ['1'], { value: '1' }]) {
      const { status, body } = await order(amount as unknown as string)
      expect([amount, status, body.details[0]!.field.startsWith('amount')]).toEqual([amount, 400, true])
    }
    expect((await order('1.500000000')).status).toBe(201)
  })

  it('T1 above the available balance by a 409 that changes nothing', async () => {
    const { status, body } = await bench.order((await bench.fundedAddress({ usdt: '99.999999' })).id, '100')
    expect(status).toBe(409)
    expect(body.message).toBe('Insufficient funds: fund the address, or order less')
    const empty = await createAddress(bench.owner, { token: 'USDT' })
    expect((await bench.order(empty.id, '0.000001')).status).toBe(409)
  })

  it('for a disabled token by a 409', async () => {
    const { admin, tokens } = bench.vault
    expect((await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: false })).status).toBe(200)
    const { status, body } = await order('1')
    expect((await admin.patch(`/tokens/${tokens.usdt.id}`, { enabled: true })).status).toBe(200)
    expect([status, body.message]).toEqual([409, 'The token USDT is disabled'])
  })

  it('to an invalid recipient, the zero address or the source itself by a 400', async () => {
    const checksummed = fakeAddress('somebody')
    const wrongCase = checksummed
      .replace(/[a-f]/, (digit) => digit.toUpperCase())
      .replace(/[A-F](?=[^A-F]*$)/, (digit) => digit.toLowerCase())
    expect(wrongCase).not.toBe(checksummed)
    const bad = [
      wrongCase,
      checksummed.slice(0, -1),
      `${checksummed}0`,
      `0x${'0'.repeat(40)}`,
      address.address,
      address.address.toLowerCase(),
      'bc1qxyz',
      ` ${checksummed}`,
    ]
    for (const toAddress of bad) {
      const { status, body } = await order('1', { toAddress })
      expect([toAddress, status, body.details?.[0]?.field]).toEqual([toAddress, 400, 'toAddress'])
    }
    expect((await order('1', { toAddress: checksummed.toLowerCase() })).body.toAddress).toBe(checksummed)
  })

  it('for an unknown token, or without a token where the address has no primary token, by a 400', async () => {
    expect((await order('1', { token: 'DOGE' })).body.details[0]!.field).toBe('token')
    expect((await order('1', { tokenId: 'cmi8h2k1p0a1b2c3d4e5f6g7h' })).body.details[0]!.field).toBe('tokenId')
    await bench.sql('update addresses set token_id = null where id = $1', [address.id])
    expect((await order('1')).body.details).toEqual([
      { field: 'token', message: 'is required, because the address has no primary token' },
    ])
  })

  it('with a token and a tokenId of different tokens by a 400, for order, preview and simulation', async () => {
    const { eth, usdt } = bench.vault.tokens
    address = await bench.fundedAddress({ usdt: '5', eth: '5' })
    const payload = (more: object) => ({ fromAddressId: address.id, toAddress: bench.recipient, amount: '1', ...more })
    const simulation = (more: object) => ({ actionType: 'transfer', payload: payload(more) })
    const reasonsOf = async (more: object) => {
      const answers = [
        await bench.owner.post('/vaults/main-vault/transfers', payload(more)),
        await bench.owner.post('/vaults/main-vault/transfers/preview', payload(more)),
        await bench.owner.post('/vaults/main-vault/policies/simulate', simulation(more)),
      ]
      return answers.map(({ status, body }) => [status, body.details?.[0]?.field])
    }
    const refused = [
      [400, 'token'],
      [400, 'token'],
      [400, 'payload.token'],
    ]
    for (const [token, { id }] of [
      ['USDT', eth],
      ['ETH', usdt],
      ['DOGE', usdt],
      ['usdt', usdt],
    ] as const) {
      expect(await reasonsOf({ token, tokenId: id }), token).toEqual(refused)
    }
    expect(await bench.balances(address.id)).toEqual({ available: '5', reserved: '0' })
    expect((await reasonsOf({ token: 'ETH', tokenId: eth.id })).map(([status]) => status)).toEqual([201, 200, 200])
  })

  it('T41 with an unknown field, status or initiator included, by a 400 that names it', async () => {
    for (const more of [{ status: 'confirmed' }, { initiatorId: 'x' }, { fee: '0' }, { metadata: { colour: 'red' } }]) {
      const { status, body } = await order('1', more)
      const field = Object.keys(more)[0] === 'metadata' ? 'metadata.colour' : Object.keys(more)[0]
      expect([status, body.details[0]!.field]).toEqual([400, field])
    }
    expect((await bench.owner.post('/vaults/main-vault/transfers', {})).status).toBe(400)
  })

  it('in a vault that is still a draft, which has no address to spend from', async () => {
    const draft = await createVaultFixture(bench.test, { code: 'draft-vault', isLocked: false })
    const { status } = await draft.admin.post('/vaults/draft-vault/transfers', {
      fromAddressId: address.id,
      toAddress: bench.recipient,
      amount: '1',
    })
    expect(status).toBe(404)
  })
})

describe('preview', () => {
  it('returns the decision, with trace, fee and available balance, and changes nothing', async () => {
    bench.vault.wallet.fee = '21000'
    const tables = ['operations', 'transfers', 'ledger_entries', 'audit_records', 'approval_voters', 'idempotency_keys']
    const before = await Promise.all(tables.map(bench.count))
    const preview = (amount: string) =>
      bench.owner.post('/vaults/main-vault/transfers/preview', {
        fromAddressId: address.id,
        toAddress: bench.recipient,
        amount,
      })
    const small = await preview('10')
    expect(small.status).toBe(200)
    expect(small.body).toMatchObject({
      decision: { effect: 'allow', blockReason: null, decisionPolicy: { code: 'small' }, requirements: [] },
      fee: { amount: '21000', amountDecimal: '0.000000000000021', asset: 'ETH' },
      available: '1000000000',
      availableDecimal: '1000',
    })
    expect(small.body.trace.map((entry) => [entry.policyCode, entry.matched]).sort()).toEqual([
      ['absurd', false],
      ['large', false],
      ['small', true],
    ])
    expect((await preview('101')).body.decision).toMatchObject({
      effect: 'approval',
      requirements: [{ policyCode: 'large', threshold: 2 }],
    })
    expect((await preview('1000000')).body.decision).toMatchObject({
      effect: 'block',
      blockReason: 'Nobody moves a million',
    })
    expect((await preview('0')).status).toBe(400)
    expect(await Promise.all(tables.map(bench.count))).toEqual(before)
  })

  it('has no fee when the wallet service is down, and does not fail', async () => {
    const ask = () =>
      bench.owner.post('/vaults/main-vault/transfers/preview', {
        fromAddressId: address.id,
        toAddress: bench.recipient,
        amount: '1',
      })
    for (const down of ['error', 'refused'] as const) {
      bench.vault.wallet.down = down
      const { status, body } = await ask()
      expect([status, body.fee, body.decision.effect]).toEqual([200, null, 'allow'])
    }
  })
})

describe('cancelling', () => {
  it('releases the funds, by the initiator while it waits or before it is handed over', async () => {
    for (const amount of ['200', '20']) {
      const { body } = await order(amount)
      const cancelled = await bench.act(bench.owner, body.id, 'cancel')
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
      expect(await bench.balances(address.id)).toEqual({ available: '1000', reserved: '0' })
      expect(await bench.audited('transfer.cancelled', body.id)).toBe(1)
      expect((await bench.act(bench.owner, body.id, 'cancel')).status).toBe(409)
      await bench.deliver()
      expect(bench.vault.wallet.transfer(body.id)).toBeNull()
    }
  })

  it('is open to administrators too, and to no other member', async () => {
    const { body } = await order('200')
    expect((await bench.act(bench.firstApprover, body.id, 'cancel')).status).toBe(403)
    expect((await bench.act(bench.vault.admin, body.id, 'cancel')).body.status).toBe('cancelled')
  })

  it('T22 is a 409 after the wallet service may have the order', async () => {
    const { body } = await order('20')
    bench.vault.wallet.down = 'error'
    await bench.deliver()
    expect((await bench.act(bench.owner, body.id, 'cancel')).status).toBe(409)
    expect(await bench.balances(address.id)).toEqual({ available: '980', reserved: '20' })
  })
})

describe('security', () => {
  it('T39 an address of another user cannot be spent from, not even by an administrator', async () => {
    for (const [by, status] of [
      [bench.firstApprover, 404],
      [bench.vault.admin, 403],
    ] as const) {
      expect((await order('1', {}, by)).status).toBe(status)
      const preview = { fromAddressId: address.id, toAddress: bench.recipient, amount: '1' }
      expect((await by.post('/vaults/main-vault/transfers/preview', preview)).status).toBe(status)
    }
  })

  it('the list is scoped to the caller, filters by status and pages without gaps', async () => {
    const ownIds = []
    for (const amount of ['1', '2', '300']) ownIds.unshift((await order(amount)).body.id)
    const all: string[] = []
    let cursor = ''
    do {
      const { body } = await bench.owner.get(`/vaults/main-vault/transfers?limit=2${cursor}`)
      all.push(...body.items.map((item) => item.id))
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
    } while (cursor !== '')
    expect(all.slice(0, 3)).toEqual(ownIds)
    expect(new Set(all).size).toBe(all.length)
    const waiting = await bench.owner.get('/vaults/main-vault/transfers?status=awaiting_approval&limit=1')
    expect(waiting.body.items[0]!.id).toBe(ownIds[0])
    const ofOwner = await bench.vault.admin.get(`/vaults/main-vault/transfers?userId=${bench.owner.userId}&limit=1`)
    expect(ofOwner.body.items[0]!.id).toBe(ownIds[0])
    expect((await bench.firstApprover.get(`/vaults/main-vault/transfers?userId=${bench.owner.userId}`)).status).toBe(
      403,
    )
    expect((await bench.owner.get('/vaults/main-vault/transfers?state=pending')).status).toBe(400)
    expect((await bench.owner.get('/vaults/main-vault/transfers?cursor=nonsense')).status).toBe(400)
  })
})

/** Raw units of a token of six decimals in token units. */
function decimalOf(raw: bigint): string {
  const digits = raw.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

/** A policy that exists only while `work` runs, so that tests stay independent of each other. */
async function withPolicy(body: Record<string, unknown>, work: () => Promise<void>): Promise<void> {
  const { id } = await bench.policy(body)
  try {
    await work()
  } finally {
    expect((await bench.vault.admin.delete(`/policies/${id}`)).status).toBe(204)
  }
}

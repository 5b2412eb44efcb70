import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { allowAll, createPolicy } from '../../server/src/testing/fixtures.ts'
import { pngOf } from '../../server/src/testing/images.ts'
import {
  type ApprovalRequest,
  type Counterparty,
  createStrongroom,
  type Outcome,
  type PolicySelector,
  type Strongroom,
  StrongroomError,
  signWebhook,
  TimeoutError,
  type Transfer,
  type TransferStatus,
  type VaultClient,
} from './strongroom.ts'
import { type Stack, startStack } from './testing/stack.ts'

const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let stack: Stack
let treasurer: Strongroom
let vault: VaultClient
let administered: VaultClient

beforeAll(async () => {
  stack = await startStack()
  treasurer = createStrongroom({ baseUrl: stack.url, token: stack.treasurer.token })
  vault = treasurer.vault('treasury')
  administered = createStrongroom({ baseUrl: stack.url, token: stack.vault.admin.token }).vault('treasury')
  await allowAll(stack.vault, 'counterparty_create')
})
afterAll(() => stack?.close())

const order = (amount: string) => ({ fromAddressId: stack.address.id, toAddress: recipient, token: 'TUSD', amount })

describe('the address of the service', () => {
  it('is taken as npm start prints it, with and without the path and slashes', async () => {
    const origin = stack.url.replace('/api/v1', '')
    for (const baseUrl of [origin, `${origin}/`, `${origin}/api/v1`, `${origin}/api/v1/`, `${origin}/api/v1//`]) {
      const strongroom = createStrongroom({ baseUrl, token: stack.treasurer.token })
      expect((await strongroom.auth.getCurrentSession()).user.email).toBe('treasurer@example.org')
      expect(await strongroom.service.getHealth()).toMatchObject({ status: 'ok' })
    }
  })
})

describe('a file', () => {
  it('is sent as a Blob by its own type, and read as one', async () => {
    const png = pngOf('face')
    const { image } = await treasurer.me.replaceImage(new Blob([png], { type: 'image/png' }))
    const answer = await treasurer.images.get(image!.split('/').at(-1)!)
    expect(answer.contentType).toBe('image/png')
    expect(Buffer.from(await (await answer.blob()).arrayBuffer()).equals(png)).toBe(true)
    expect((await treasurer.me.deleteImage()).image).toBeNull()
    const csv = 'externalId,fromAddressId,toAddress,token,amount\n'
    const rows = [1, 2].map((i) => `row-${i},${stack.address.id},${recipient},TUSD,${i}\n`)
    const payout = await vault.payouts.create(new Blob([csv, ...rows], { type: 'text/csv' }))
    expect(payout).toMatchObject({ rowsCount: 2, status: 'approved' })
  })

  it('must say its type', async () => {
    await expect(treasurer.me.replaceImage(new Blob([pngOf('face')]))).rejects.toThrow('must say its media type')
  })
})

describe('a transfer', () => {
  it('is created, waited for and read', async () => {
    const transfer = await vault.transfers.create(order('25'))
    expectTypeOf(transfer).toEqualTypeOf<Transfer>()
    const settled = await vault.transfers.wait(transfer.id)
    expect(settled).toMatchObject({ id: transfer.id, status: 'confirmed', amountDecimal: '25' })
    expect(await vault.transfers.get(transfer.id)).toMatchObject({ status: 'confirmed' })
  })

  it('is created once under one key', async () => {
    const options = { idempotencyKey: 'invoice-4711' }
    const [first, second] = [
      await vault.transfers.create(order('1'), options),
      await vault.transfers.create(order('1'), options),
    ]
    expect(second.id).toBe(first.id)
  })

  it('that waits for votes ends a wait at the status that is asked for, or at the time-out', async () => {
    await createPolicy(stack.vault, {
      code: 'large',
      name: 'Large',
      actionType: 'transfer',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: stack.vault.groups.administrators }],
      rules: [
        { conditionType: 'require', selectors: [{ selectorType: 'amount', value: { op: 'gt', value: '1000' } }] },
      ],
    })
    const { id, status } = await vault.transfers.create(order('1000.5'))
    expect(status).toBe('awaiting_approval')
    expect((await vault.transfers.wait(id, { until: 'awaiting_approval' })).status).toBe('awaiting_approval')
    await expect(vault.transfers.wait(id, { timeoutMs: 50 })).rejects.toThrow(TimeoutError)
    const controller = new AbortController()
    const waiting = vault.transfers.wait(id, { signal: controller.signal })
    controller.abort(new Error('shut down'))
    await expect(waiting).rejects.toThrow('shut down')
    const voted = vault.transfers.wait(id)
    expect(await administered.transfers.approve(id)).toMatchObject({ status: 'pending' })
    expect((await voted).status).toBe('confirmed')
    expectTypeOf<TransferStatus>().toEqualTypeOf<Transfer['status']>()
  })

  it('that is refused is an error with the details of the service', async () => {
    const tooMuch = await vault.transfers.create(order('40000000')).catch((error) => error)
    expect(tooMuch).toBeInstanceOf(StrongroomError)
    expect(tooMuch).toMatchObject({ status: 409, body: { code: 409 } })
    expect(tooMuch.requestId).toMatch(/^[0-9a-f-]{36}$/)
    const malformed = await vault.transfers.create({ ...order('1'), amount: 'many' }).catch((error) => error)
    expect(malformed.body).toMatchObject({ code: 400, details: [{ field: 'amount' }] })
    const anonymous = createStrongroom({ baseUrl: stack.url }).vaults.list().page()
    await expect(anonymous).rejects.toThrow(expect.objectContaining({ status: 401 }))
  })
})

describe('a list', () => {
  it('is walked item by item and page by page', async () => {
    const all: string[] = []
    for await (const { id } of vault.transfers.list({ limit: 1 })) all.push(id)
    expect(all.length).toBeGreaterThanOrEqual(3)
    const sizes: number[] = []
    for await (const { items } of vault.transfers.list({ limit: 2 }).pages()) sizes.push(items.length)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(all.length)
    const first = await vault.transfers.list({ limit: 1 }).page()
    expect(first.items[0]!.id).toBe(all[0])
    const second = await vault.transfers.list({ limit: 1, cursor: first.nextCursor! }).page()
    expect(second.items[0]!.id).toBe(all[1])
  })

  it('throws from within a loop, and stops with it', async () => {
    const nobody = createStrongroom({ baseUrl: stack.url }).vaults.list()
    const walk = async () => {
      for await (const _ of nobody) expect.fail('an item')
    }
    await expect(walk()).rejects.toThrow(StrongroomError)
    // @ts-expect-error There is no such status.
    await expect(vault.transfers.list({ status: 'lost' }).page()).rejects.toThrow(StrongroomError)
  })
})

describe('an action that a policy may hold', () => {
  it('is done, or waits for approval', async () => {
    const done = await vault.counterparties.create({ name: 'Supplier', kind: 'company' })
    expectTypeOf(done).toEqualTypeOf<Outcome<Counterparty, ApprovalRequest>>()
    // @ts-expect-error It may be null.
    expect(done.value.name).toBe('Supplier')
    expect(done.pendingApproval).toBeNull()
    await createPolicy(stack.vault, {
      code: 'archives',
      name: 'Archives',
      actionType: 'counterparty_archive',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: stack.vault.groups.administrators }],
    })
    const { value, pendingApproval } = await vault.counterparties.archive(done.value!.id)
    if (pendingApproval === null) expect.fail(`archived at once: ${value.name}`)
    expectTypeOf(pendingApproval).toEqualTypeOf<ApprovalRequest>()
    expect(value).toBeNull()
    expect(pendingApproval).toMatchObject({ action: 'counterparty_archive', status: 'pending' })
    expect(await administered.approvalRequests.approve(pendingApproval.id)).toMatchObject({ status: 'applied' })
  })
})

describe('a report', () => {
  it('is JSON or a file, as its format says', async () => {
    const query = { addressId: stack.address.id, tokenId: stack.tusd.id }
    const statement = await vault.reports.accountStatement(query)
    expect(statement.lines.length).toBeGreaterThan(0)
    const pdf = await vault.reports.accountStatement({ ...query, format: 'pdf' })
    expect(pdf.contentType).toBe('application/pdf')
    expect(pdf.name).toMatch(/\.pdf$/)
    const blob = await pdf.blob()
    expect([blob.type, (await blob.text()).slice(0, 4)]).toEqual(['application/pdf', '%PDF'])
    const csv = await vault.reports.accountStatement({ ...query, format: 'csv' })
    let text = ''
    for await (const part of csv.stream.pipeThrough(new TextDecoderStream())) text += part
    expect(text.split('\n').length).toBeGreaterThan(2)
  })

  it('is ordered, made in the background and downloaded', async () => {
    const body = { format: 'csv' as const, addressId: stack.address.id, tokenId: stack.tusd.id }
    const { id } = await vault.reports.createExport('account_statement', body)
    await expect.poll(async () => (await vault.reports.getExport(id)).state).toBe('done')
    const file = await vault.reports.downloadExport(id)
    expect(file.name).toBe(`account_statement-${id}.csv`)
    expect((await file.blob()).size).toBeGreaterThan(100)
  })
})

describe('a policy', () => {
  it('takes typed selectors', async () => {
    const selectors: PolicySelector[] = [
      { selectorType: 'token', value: ['TUSD', 'ETH'] },
      { selectorType: 'amount', value: { op: 'between', min: '1', max: '2' } },
      { selectorType: 'velocityCount', value: { op: 'gt', value: '30', windowSeconds: 60, per: 'initiator' } },
      { selectorType: 'destinationType', value: 'unknown' },
      { selectorType: 'counterpartyKind', value: ['exchange'] },
      { selectorType: 'time', value: { timezone: 'Europe/Berlin', days: ['mon'], from: '09:00', to: '24:00' } },
    ]
    const draft = { code: 'typed', name: 'Typed', actionType: 'transfer', effect: 'block', enabled: false } as const
    const { value: policy } = await administered.policies.create(stack.vault.groups.everyone, {
      ...draft,
      rules: [{ conditionType: 'require', selectors }],
    })
    expect(policy!.rules[0]!.selectors.map(({ selectorType, value }) => ({ selectorType, value }))).toEqual(selectors)
    // @ts-expect-error An amount is compared with a decimal string, not with a number.
    const wrong: PolicySelector = { selectorType: 'amount', value: { op: 'gt', value: 1000 } }
    const refused = administered.policies.create(stack.vault.groups.everyone, {
      ...draft,
      code: 'wrong',
      rules: [{ conditionType: 'require', selectors: [wrong] }],
    })
    await expect(refused).rejects.toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('a webhook', () => {
  it('that was signed here is accepted by the service, and a forged one is not', async () => {
    const walletWebhookSecret = 'a-secret-of-the-wallet-service-of-this-vault'
    await administered.update({ walletWebhookSecret })
    const event = {
      kind: 'TOPUP',
      tx: {
        network: 'ethereum',
        asset: null,
        amount: '1.5',
        toAddress: stack.address.address,
        txHash: `0x${'7'.repeat(64)}`,
        index: 0,
      },
    }
    const deliver = async (secret: string) => {
      const body = JSON.stringify({ ...event, note: 'Zażółć' })
      const headers = await signWebhook(secret, { id: 'evt_signed', body })
      const url = stack.url.replace('/api/v1', '/webhooks/wallet')
      return await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
    }
    expect((await deliver('another-secret')).status).toBe(401)
    const accepted = await deliver(walletWebhookSecret)
    expect(await accepted.json()).toMatchObject({ received: true, outcome: 'credited' })
    await administered.update({ walletWebhookSecret: null })
  })
})

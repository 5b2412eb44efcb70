import { createHmac, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../config/config.ts'
import type { Address } from '../../../testing/answer.ts'
import { fakeTxHash } from '../../../testing/fake-wallet.ts'
import { usdtContract } from '../../../testing/fixtures.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'

const current = `whsec_${randomBytes(32).toString('base64')}`
const previous = randomBytes(24).toString('base64')
const production = {
  DEMO: 'false',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'vault@example.org',
  WALLET_WEBHOOK_SECRET: `${current},${previous}`,
}

let bench: TransferBench
let address: Address
let events = 0

beforeAll(async () => {
  bench = await createTransferBench(production)
  address = await bench.fundedAddress({ usdt: '0' })
})
afterAll(() => bench.close())

/** Standard Webhooks, implemented from its specification and independently of the code under test. */
function sign(secret: string, id: string, timestamp: string, body: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

function newEvent(): string {
  events += 1
  const tx = {
    network: 'ethereum',
    asset: usdtContract,
    amount: '1',
    toAddress: address.address,
    txHash: fakeTxHash(`signed ${events}`),
  }
  return JSON.stringify({ kind: 'TOPUP', id: `evt_${events}`, tx })
}

const seconds = (offset = 0) => Math.floor(bench.test.clock.now().getTime() / 1_000 + offset).toString()
const post = (body: string, headers: Record<string, string>) =>
  bench.test.anonymous.post('//webhooks/wallet', body, headers)
const headersOf = (body: string, { secret = current, id = 'msg_1', timestamp = seconds() } = {}) => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': sign(secret, id, timestamp, body),
})
const written = () =>
  Promise.all(['wallet_events', 'deposits', 'operations', 'ledger_entries', 'ledger_accounts'].map(bench.count))

describe('T13 a signed webhook', () => {
  it('T13 is credited with either secret of a rotation, and when one of several signatures is right', async () => {
    for (const secret of [current, previous]) {
      const body = newEvent()
      const { status, body: answer } = await post(body, headersOf(body, { secret }))
      expect([status, answer.outcome]).toEqual([200, 'credited'])
    }
    const body = newEvent()
    const headers = headersOf(body)
    const wrong = sign('another secret of nobody at all', 'msg_1', seconds(), body)
    const several = await post(body, {
      ...headers,
      'webhook-signature': `v1a,AAAA ${wrong} ${headers['webhook-signature']}`,
    })
    expect([several.status, several.body.outcome]).toEqual([200, 'credited'])
  })

  it('T13 that is repeated is accepted and changes nothing', async () => {
    const body = newEvent()
    const headers = headersOf(body)
    const outcomes = []
    for (let i = 0; i < 2; i += 1) outcomes.push((await post(body, headers)).body.outcome)
    expect(outcomes).toEqual(['credited', 'duplicate'])
  })

  it('T13 is accepted up to five minutes early or late, and no second more', async () => {
    for (const [offset, status] of [
      [-298, 200],
      [298, 200],
      [-302, 401],
      [302, 401],
    ] as const) {
      const body = newEvent()
      expect([offset, (await post(body, headersOf(body, { timestamp: seconds(offset) }))).status]).toEqual([
        offset,
        status,
      ])
    }
  })

  type Change = (headers: Record<string, string>, body: string) => [string, Record<string, string>]
  const changes: [string, Change][] = [
    ['unsigned', (_headers, body) => [body, {}]],
    ['without a signature', ({ 'webhook-signature': _, ...rest }, body) => [body, rest]],
    ['without an id', ({ 'webhook-id': _, ...rest }, body) => [body, rest]],
    ['without a timestamp', ({ 'webhook-timestamp': _, ...rest }, body) => [body, rest]],
    ['with an empty signature', (headers, body) => [body, { ...headers, 'webhook-signature': '' }]],
    ['with an empty v1', (headers, body) => [body, { ...headers, 'webhook-signature': 'v1,' }]],
    [
      'signed by somebody else',
      (_headers, body) => [body, headersOf(body, { secret: 'a secret that nobody has agreed on' })],
    ],
    ['signed with an empty key', (_headers, body) => [body, headersOf(body, { secret: '' })]],
    [
      'signed with the text of the secret and not its bytes',
      (_headers, body) => [body, headersOf(body, { secret: current.slice(6) })],
    ],
    [
      'with a shortened signature',
      (headers, body) => [body, { ...headers, 'webhook-signature': headers['webhook-signature']!.slice(0, -4) }],
    ],
    [
      'with a longer signature',
      (headers, body) => [body, { ...headers, 'webhook-signature': `${headers['webhook-signature']}AAAA` }],
    ],
    [
      'with another version',
      (headers, body) => [
        body,
        { ...headers, 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,') },
      ],
    ],
    [
      'with a bare signature',
      (headers, body) => [body, { ...headers, 'webhook-signature': headers['webhook-signature']!.slice(3) }],
    ],
    [
      'with the signature eleventh of many',
      (headers, body) => [
        body,
        { ...headers, 'webhook-signature': `${'v1,AAAA '.repeat(10)}${headers['webhook-signature']}` },
      ],
    ],
    ['under another id', (headers, body) => [body, { ...headers, 'webhook-id': 'msg_2' }]],
    ['at another time', (headers, body) => [body, { ...headers, 'webhook-timestamp': seconds(-1) }]],
    ['at no time', (_headers, body) => [body, headersOf(body, { timestamp: 'now' })]],
    [
      'at a time in hexadecimal',
      (_headers, body) => [body, headersOf(body, { timestamp: `0x${Number(seconds()).toString(16)}` })],
    ],
    [
      'with its members in another order',
      (headers, body) => [JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())), headers],
    ],
    ['with a space more', (headers, body) => [`${body} `, headers]],
    ['truncated', (headers, body) => [body.slice(0, -1), headers]],
    ['with another amount', (headers, body) => [body.replace('"1"', '"9"'), headers]],
    ['empty', (headers) => ['', headers]],
  ]
  it.each(changes)('T13 %s is a 401 and writes nothing', async (what, change) => {
    const body = newEvent()
    const [sent, headers] = change(headersOf(body), body)
    const before = await written()
    const { status } = await post(sent, headers)
    expect([what, status]).toEqual([what, 401])
    expect(await written()).toEqual(before)
    await bench.expectSoundLedger()
  })
})

describe('T14 a weak secret', () => {
  const environment = {
    ...production,
    PUBLIC_URL: 'https://vault.example.org',
    STRONGROOM_SECRET_KEY: randomBytes(32).toString('base64'),
  }
  it.each([
    ['none', ''],
    ['nothing but commas', ' , ,'],
    ['a short one', 'x'.repeat(23)],
    ['a short one among good ones', `${previous},short`],
    ['base64 of too little', `whsec_${randomBytes(23).toString('base64')}`],
    ['base64 of nothing: its key is empty', `whsec_${'!'.repeat(40)}`],
  ])('T14 refuses to start: %s', (_what, secret) => {
    expect(() => readConfig({ ...environment, WALLET_WEBHOOK_SECRET: secret })).toThrow('WALLET_WEBHOOK_SECRET')
  })

  it('T14 of 24 bytes starts', () => {
    for (const secret of [randomBytes(18).toString('base64'), `whsec_${randomBytes(24).toString('base64')}`]) {
      expect(readConfig({ ...environment, WALLET_WEBHOOK_SECRET: secret }).webhookSecrets).toEqual([secret])
    }
  })
})

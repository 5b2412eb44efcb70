import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Config, readConfig } from '../../../config/config.ts'
import { walletResponseBytesMax } from '../../../lib/limits.ts'
import { createSealer } from '../../../lib/secrets.ts'
import { createGuardedDispatcher, isPublicAddress } from '../../../outbound/guarded-connect.ts'
import { walletOf } from '../../vaults/wallets/wallet-settings.ts'
import { toBadGateway, WalletServiceError } from './call.ts'
import { createWalletClient } from './client.ts'

let server: Server
let port: number
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
let seen: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => {
  seen = []
})

const trusting = createGuardedDispatcher({ allowedHosts: ['127.0.0.1'], connectTimeoutMilliseconds: 1_000 })

function client({
  url = `http://127.0.0.1:${port}/base/`,
  dispatcher = trusting,
  secret = 'secret' as string | null,
  timeoutMilliseconds = 60_000,
} = {}) {
  return createWalletClient({ url, secret, dispatcher, timeoutMilliseconds, backoffMilliseconds: 1 })
}

function answerWith(status: number, body: unknown, headers: Record<string, string> = {}): void {
  answer = (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

async function failureOf(call: Promise<unknown>): Promise<WalletServiceError> {
  const error = await call.then(
    (value) => new Error(`It answered ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(WalletServiceError)
  return error as WalletServiceError
}

const addressOrder = { network: 'ethereum', coinType: 60, derivationPath: 'm/44/60/1/0' }
const order = {
  ...addressOrder,
  id: 'cmi8h2k1p0a1b2c3d4e5f6g7h',
  fromAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  toAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  contractAddress: null,
  amount: '1500000',
}
const queued = {
  id: order.id,
  status: 'queued',
  txHash: null,
  fee: null,
  feePaidBy: null,
  confirmations: 0,
  blockTime: null,
  failureReason: null,
}

describe('the wallet client', () => {
  it('sends the protocol, with the secret, below the base URL', async () => {
    let body = ''
    let authorization: string | undefined
    answer = async (request, response) => {
      authorization = request.headers.authorization
      for await (const chunk of request) body += chunk
      response.end(JSON.stringify({ address: '0xabc', more: 'is left alone' }))
    }
    expect((await client().createAddress(addressOrder)).address).toBe('0xabc')
    expect(seen).toEqual(['POST /base/addresses'])
    expect(JSON.parse(body)).toEqual(addressOrder)
    expect(authorization).toBe('Bearer secret')
    await client({ secret: null }).createAddress(addressOrder)
    expect(authorization).toBeUndefined()
  })

  it('asks for balances and fees', async () => {
    answerWith(200, { balance: '12', fee: '21000' })
    expect((await client().getBalance({ network: 'ethereum', address: '0x1', contract: null })).balance).toBe('12')
    expect((await client().getBalance({ network: 'ethereum', address: '0x1', contract: '0x2' })).balance).toBe('12')
    expect((await client().estimateFee(order)).fee).toBe('21000')
    expect(seen).toEqual([
      'GET /base/balances?network=ethereum&address=0x1',
      'GET /base/balances?network=ethereum&address=0x1&contract=0x2',
      'POST /base/fees',
    ])
  })

  it('returns null for a transfer that the service does not know, also with a hostile id', async () => {
    answerWith(404, { message: 'unknown' })
    expect(await client().getTransfer('../addresses?x=1')).toBeNull()
    expect(seen).toEqual(['GET /base/transfers/..%2Faddresses%3Fx%3D1'])
  })

  it.each([
    [400, 'refused'],
    [422, 'refused'],
    [409, 'conflict'],
    [401, 'failed'],
    [403, 'failed'],
    [404, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [301, 'invalid'],
  ])('treats the status %i of an order as %s, and sends the order once', async (status, kind) => {
    answerWith(status, { message: 'not\u0000 today' })
    const error = await failureOf(client().submitTransfer(order))
    expect(error).toMatchObject({ kind, status })
    expect(error.message).not.toContain('\u0000')
    expect(seen).toEqual(['POST /base/transfers'])
  })

  it('reports a service that does not answer as a time-out, after which the outcome is unknown', async () => {
    const impatient = client({ timeoutMilliseconds: 300 })
    answer = () => {}
    expect((await failureOf(impatient.submitTransfer(order))).kind).toBe('timeout')
    answer = (_, response) => response.writeHead(200).write('{')
    expect((await failureOf(impatient.submitTransfer(order))).kind).toBe('timeout')
    expect((await failureOf(impatient.createAddress(addressOrder))).kind).toBe('timeout')
    expect(seen).toHaveLength(3)
  })

  it('does not report an order as undelivered after a connection was made', async () => {
    answer = (request) => request.socket.destroy()
    expect((await failureOf(client().submitTransfer(order))).kind).toBe('failed')
    expect(seen).toHaveLength(1)
  })

  it('reports an order as undelivered when no connection could be made', async () => {
    const unreachable = client({ url: 'http://127.0.0.1:1' })
    expect((await failureOf(unreachable.submitTransfer(order))).kind).toBe('unreachable')
  })

  it('repeats idempotent requests, a bounded number of times, until one succeeds', async () => {
    answerWith(503, {})
    expect((await failureOf(client().createAddress(addressOrder))).kind).toBe('failed')
    expect(seen).toHaveLength(3)
    seen = []
    answer = (request, response) => {
      if (seen.length < 3) request.socket.destroy()
      else response.end(JSON.stringify(queued))
    }
    expect(await client().getTransfer(order.id)).toEqual(queued)
    expect(seen).toHaveLength(3)
  })

  it.each([
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['another shape', { transfer: queued }],
    ['another transfer', { ...queued, id: 'cmi8h2k1p0a1b2c3d4e5f6g7x' }],
    ['an unknown status', { ...queued, status: 'done' }],
    ['a missing member', { ...queued, txHash: undefined }],
    ['a fee as a number', { ...queued, fee: 21000 }],
    ['a negative fee', { ...queued, fee: '-1' }],
    ['a fee with a point', { ...queued, fee: '1.5' }],
    ['an endless fee', { ...queued, fee: '9'.repeat(79) }],
    ['an impossible time', { ...queued, blockTime: '2026-13-40T99:00:00Z' }],
    ['a hash with a NUL', { ...queued, txHash: '0x\u0000' }],
    ['a key twice', '{"status":"queued","status":"confirmed"}'],
    ['too many bytes', { ...queued, padding: 'x'.repeat(walletResponseBytesMax) }],
  ])('refuses an answer with %s', async (_, body) => {
    answerWith(202, body)
    expect((await failureOf(client().submitTransfer(order))).kind).toBe('invalid')
  })

  it('shortens text of the wallet service to one line', async () => {
    answerWith(200, { ...queued, status: 'failed', failureReason: `bad\u0000\n\u001b[31m${'x'.repeat(3_000)}` })
    const { failureReason } = (await client().getTransfer(order.id))!
    expect(failureReason).toMatch(/^bad \[31mx+$/)
    expect(failureReason!.length).toBe(500)
  })

  it('hides the URL and the text of the wallet service from callers of the API', async () => {
    answerWith(500, { message: 'internal-host-7' })
    const error = await failureOf(client().createAddress(addressOrder))
    expect(toBadGateway(error)).toMatchObject({ status: 502, message: 'The wallet service failed' })
  })
})

describe('T49 the connections of the wallet client', () => {
  /** The address counts as public, but IANA has not assigned this space: no packet leaves the machine. */
  const nowhere = '4000::1'
  const guarded = createGuardedDispatcher({ allowedHosts: [], connectTimeoutMilliseconds: 1_000 })

  it.each([
    ['loopback', 'http://127.0.0.1'],
    ['another loopback', 'http://127.8.9.10'],
    ['localhost', 'http://localhost'],
    ['a decimal address', 'http://2130706433'],
    ['a hexadecimal address', 'http://0x7f000001'],
    ['an octal address', 'http://0177.0.0.1'],
    ['a short address', 'http://127.1'],
    ['full-width digits', 'http://１２７.0.0.1'],
    ['private 10/8', 'http://10.0.0.1'],
    ['private 172.16/12', 'http://172.16.0.1'],
    ['private 192.168/16', 'http://192.168.1.1'],
    ['the metadata service', 'http://169.254.169.254'],
    ['unspecified', 'http://0.0.0.0'],
    ['carrier-grade NAT', 'http://100.64.0.1'],
    ['multicast', 'http://224.0.0.1'],
    ['broadcast', 'http://255.255.255.255'],
    ['IPv6 loopback', 'http://[::1]'],
    ['IPv6 unspecified', 'http://[::]'],
    ['IPv4-mapped loopback', 'http://[::ffff:127.0.0.1]'],
    ['IPv4-mapped loopback in hex', 'http://[::ffff:7f00:1]'],
    ['NAT64 loopback', 'http://[64:ff9b::7f00:1]'],
    ['6to4 loopback', 'http://[2002:7f00:1::]'],
    ['unique-local', 'http://[fd00::1]'],
    ['link-local IPv6', 'http://[fe80::1]'],
  ])('refuses %s: %s', async (_, origin) => {
    answer = (_request, response) => response.end('{"address":"0x1"}')
    const error = await failureOf(client({ url: `${origin}:${port}`, dispatcher: guarded }).createAddress(addressOrder))
    expect(error.kind).toBe('unreachable')
    expect((error.cause as Error).message).toContain('is not a public address')
    expect(seen).toEqual([])
  })

  it('refuses a name that resolves to loopback, alone or beside a public address', async () => {
    for (const addresses of [['127.0.0.1'], [nowhere, '127.0.0.1'], ['::ffff:127.0.0.1'], []]) {
      const dispatcher = createGuardedDispatcher({
        allowedHosts: [],
        connectTimeoutMilliseconds: 1_000,
        resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      })
      const error = await failureOf(
        client({ url: `http://wallet.example.org:${port}`, dispatcher }).createAddress(addressOrder),
      )
      expect(error.kind).toBe('unreachable')
      expect((error.cause as Error).message).toContain('is not a public address')
    }
    expect(seen).toEqual([])
  })

  it('resolves a name once per connection and connects to the checked address, so that rebinding has no effect', async () => {
    let lookups = 0
    const dispatcher = createGuardedDispatcher({
      allowedHosts: [],
      connectTimeoutMilliseconds: 200,
      // The first look-up returns a public address, later look-ups return loopback, where a second look-up would reach the server.
      resolve: async () => [lookups++ === 0 ? { address: nowhere, family: 6 } : { address: '127.0.0.1', family: 4 }],
    })
    const error = await failureOf(
      client({ url: `http://rebind.example.org:${port}`, dispatcher }).submitTransfer(order),
    )
    expect(error.kind).toBe('unreachable')
    expect(lookups).toBe(1)
    const again = await failureOf(
      client({ url: `http://rebind.example.org:${port}`, dispatcher }).submitTransfer(order),
    )
    expect((again.cause as Error).message).toContain('is not a public address')
    expect(seen).toEqual([])
  })

  it('does not follow a redirect to loopback', async () => {
    answerWith(302, {}, { location: `http://127.0.0.1:${port}/elsewhere` })
    expect((await failureOf(client().getTransfer(order.id))).kind).toBe('invalid')
    expect(seen).toEqual([`GET /base/transfers/${order.id}`])
  })

  it('connects to a private host that the operator lists, by host or by host and port only', async () => {
    answer = (_request, response) => response.end('{"address":"0x1"}')
    for (const [host, isReachable] of [
      ['127.0.0.1', true],
      [`127.0.0.1:${port}`, true],
      [`127.0.0.1:${port + 1}`, false],
      ['127.0.0.2', false],
    ] as const) {
      const dispatcher = createGuardedDispatcher({ allowedHosts: [host], connectTimeoutMilliseconds: 1_000 })
      const call = client({ dispatcher }).createAddress(addressOrder)
      if (isReachable) expect(await call).toMatchObject({ address: '0x1' })
      else expect((await failureOf(call)).kind).toBe('unreachable')
    }
  })

  it('reaches loopback in demo mode, and outside it only when the operator lists it', async () => {
    answer = (_request, response) => response.end('{"address":"0x1"}')
    const sealer = createSealer('a test key that is long enough to pass')
    const destination = `http://127.0.0.1:${port}`
    const place = { table: 'vaults', column: 'wallet_service_secret', row: ['v1'], destination }
    const vault = {
      id: 'v1',
      wallet_service_url: destination,
      wallet_service_secret: sealer.seal(place, 'sealed-secret'),
    }
    const settings = readConfig({ DEMO: 'true' })
    for (const [config, isReachable] of [
      [settings, true],
      [{ ...settings, demo: false }, false],
      [{ ...settings, demo: false, walletAllowedHosts: [`127.0.0.1:${port}`] }, true],
    ] as [Config, boolean][]) {
      const call = walletOf({ config, sealer }, vault).createAddress(addressOrder)
      if (isReachable) expect(await call).toMatchObject({ address: '0x1' })
      else expect((await failureOf(call)).kind).toBe('unreachable')
    }
  })

  it.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['1.1.1.1', true],
    ['100.63.255.255', true],
    ['100.128.0.0', true],
    ['172.15.0.1', true],
    ['172.32.0.1', true],
    ['192.0.1.1', true],
    ['198.17.0.1', true],
    ['198.20.0.1', true],
    ['223.255.255.255', true],
    ['2001:200::1', true],
    ['2a00:1450:4001::1', true],
    ['0.0.0.0', false],
    ['0.1.2.3', false],
    ['10.255.255.255', false],
    ['100.64.0.1', false],
    ['100.127.255.255', false],
    ['127.1.2.3', false],
    ['169.254.169.254', false],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['192.0.0.8', false],
    ['192.0.2.1', false],
    ['192.88.99.1', false],
    ['192.168.1.1', false],
    ['198.18.0.1', false],
    ['198.19.255.255', false],
    ['198.51.100.1', false],
    ['203.0.113.7', false],
    ['224.0.0.1', false],
    ['239.255.255.255', false],
    ['240.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::8.8.8.8', false],
    ['::ffff:8.8.8.8', false],
    ['::ffff:10.0.0.1', false],
    ['::ffff:0:10.0.0.1', false],
    ['64:ff9b::8.8.8.8', false],
    ['64:ff9b:1::1', false],
    ['100::1', false],
    ['2001::1', false],
    ['2001:2::1', false],
    ['2001:10::1', false],
    ['2001:20::1', false],
    ['2001:db8::1', false],
    ['2002:7f00:1::1', false],
    ['2620:4f:8000::1', false],
    ['3fff::1', false],
    ['5f00::1', false],
    ['fc00::1', false],
    ['fdff::1', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['fec0::1', false],
    ['ff02::1', false],
    ['2130706433', false],
    ['0x7f.1', false],
    ['not an address', false],
  ])('T49 judges %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected)
  })
})

describe('changes of transfers', () => {
  const running = new AbortController().signal
  const question = { after: 'c1', wait: 0 }
  const ask = (options: Parameters<typeof client>[0] = {}) => client(options).listChanges(question, running)

  it('are requested with the cursor, and are read one by one', async () => {
    const other = { ...queued, id: 'other', status: 'confirmed', txHash: '0x1', blockTime: '2026-01-31T09:30:00.000Z' }
    const wrong = [
      { ...queued, status: 'lost' },
      { ...queued, id: undefined },
      { ...other, blockTime: '2026-13-31T09:30:00.000Z' },
      null,
      [],
      'text',
    ]
    answerWith(200, { changes: [queued, ...wrong, other], cursor: 'c2' })
    const { statuses, ...rest } = (await ask()) as Exclude<Awaited<ReturnType<typeof ask>>, 'lost' | null>
    expect([...statuses.keys()]).toEqual([queued.id, 'other'])
    expect(rest).toEqual({ malformed: wrong.length, cursor: 'c2' })
    expect(seen).toEqual(['GET /base/transfers/changes?limit=1000&wait=0&after=c1'])
  })

  it.each([
    [404, null],
    [405, null],
    [501, null],
    [400, 'lost'],
    [409, 'lost'],
    [410, 'lost'],
  ])('answered with %i give the result %s', async (status, meaning) => {
    answerWith(status, { message: 'no' })
    expect(await ask()).toEqual(meaning)
  })

  it('are not offered when the answer is 400 to a request without a cursor', async () => {
    answerWith(400, { message: 'unknown parameters' })
    expect(await client().listChanges({ after: null, wait: 0 }, running)).toBeNull()
  })

  it.each([
    ['no cursor', { changes: [] }],
    ['an odd cursor', { changes: [], cursor: 'c 1' }],
    ['a long cursor', { changes: [], cursor: 'c'.repeat(201) }],
    ['more than 1,000', { changes: Array.from({ length: 1_001 }, () => queued), cursor: 'c2' }],
    ['no list', { changes: {}, cursor: 'c2' }],
    ['more than two megabytes', { changes: ['x'.repeat(2_200_000)], cursor: 'c2' }],
    ['no JSON', 'changes'],
  ])('with %s are invalid', async (_what, body) => {
    answerWith(200, body)
    expect((await failureOf(ask())).kind).toBe('invalid')
  })

  it('whose answer never ends time out, and are requested once', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"changes": [')
    }
    expect((await failureOf(ask({ timeoutMilliseconds: 200 }))).kind).toBe('timeout')
    expect(seen).toHaveLength(1)
  })
})

describe('states of several transfers', () => {
  const ask = () => client().listTransfers([queued.id, 'second'])

  it('are requested by their ids, and are read one by one', async () => {
    const second = { ...queued, id: 'second', status: 'broadcast', txHash: '0x1' }
    answerWith(200, { transfers: [{ ...queued, status: 'lost' }, second, { ...queued, id: 'not asked for' }, null] })
    expect([...(await ask())!]).toEqual([['second', second]])
    expect(seen).toEqual([`GET /base/transfers?ids=${queued.id}%2Csecond`])
  })

  it.each([404, 405, 501])('are not offered when the answer is %i', async (status) => {
    answerWith(status, { message: 'no' })
    expect(await ask()).toBeNull()
  })

  it('are invalid in another form', async () => {
    answerWith(200, { transfers: {} })
    expect((await failureOf(ask())).kind).toBe('invalid')
  })
})

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { amountOf, countOf, hashOf, NodeOutage, NodeRefusal, openRpc, readJson } from './rpc.ts'

describe('amounts of JSON', () => {
  const read = (text: string) => amountOf((readJson(`{"value": ${text}}`) as { value: unknown }).value)

  it.each([
    ['0', 0n],
    ['1', 100_000_000n],
    ['0.00000001', 1n],
    ['1e-8', 1n],
    ['1.5E3', 150_000_000_000n],
    ['50.00000000', 5_000_000_000n],
    ['0.1', 10_000_000n],
    ['20999999.97690000', 2_099_999_997_690_000n],
    // 2^53 - 1, 2^53 and 2^53 + 1 units; JavaScript cannot represent the last number.
    ['90071992.54740991', 9_007_199_254_740_991n],
    ['90071992.54740992', 9_007_199_254_740_992n],
    ['90071992.54740993', 9_007_199_254_740_993n],
    // From 2^26 coins on, neighbouring numbers of JavaScript differ by more than a unit.
    ['83999999.99999999', 8_399_999_999_999_999n],
  ])('%s coins are %s units', (text, units) => {
    expect(read(text)).toBe(units)
  })

  it.each([
    '-1',
    '0.000000001',
    '1e-9',
    '1e999',
    '1e11',
    'null',
    'true',
    '[]',
    '{}',
    '""',
    '"0x1"',
    '" 1"',
    '"1."',
    '"01"',
    `"${'9'.repeat(41)}"`,
  ])('%s is not an amount', (text) => {
    expect(read(text)).toBeNull()
  })

  it('leave other values as they are', () => {
    const text = '{"a":"1.5 \\"2.5\\" \\\\","b":[1,2.50,-3],"c":123456789012345678,"d":null,"1.5":false}'
    expect(readJson(text)).toEqual({
      a: '1.5 "2.5" \\',
      b: [1, '2.50', -3],
      c: '123456789012345678',
      d: null,
      '1.5': false,
    })
  })

  it.each(['', 'x', '{"a":1.5.5}', '{"a":01.5}', '{"a":1.}', '{"a":-}', '{"a":"1}', '{"a":1,}'])(
    '%s is not JSON',
    (text) => {
      expect(readJson(text)).toBeUndefined()
    },
  )

  it('counts and hashes are accepted in one form only', () => {
    expect([0, 7, -1, 1.5, '7', null, 2 ** 53].map(countOf)).toEqual([0, 7, null, null, null, null, null])
    const hash = 'ab'.repeat(32)
    expect([hash, hash.toUpperCase(), `0x${hash}`, hash.slice(1), 5].map(hashOf)).toEqual([
      hash,
      null,
      null,
      null,
      null,
    ])
  })
})

describe('calls of a node', () => {
  const closings: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closings.splice(0)) await close()
  })

  async function open(answer: RequestListener): Promise<string> {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closings.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}/wallet?a=1`
  }

  it('send credentials in a header, and return the result', async () => {
    const seen: unknown[] = []
    const url = await open((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part) => parts.push(part))
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(parts).toString())
        seen.push(request.url, request.headers.authorization, body)
        response.end(JSON.stringify({ result: { height: 5 }, error: null, id: body.id }))
      })
    })
    expect(await openRpc({ url }).call('getblock', ['x', 2])).toEqual({ height: 5 })
    expect(seen).toEqual([
      '/wallet?a=1',
      `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
      { jsonrpc: '1.0', id: 1, method: 'getblock', params: ['x', 2] },
    ])
  })

  it.each([
    ['without a body', 401, ''],
    ['with a page', 200, '<html>'],
    ['with a number', 200, '5'],
    ['with an array', 200, '[]'],
    ['without a result', 200, '{"id":1,"error":null}'],
    ['to another call', 200, '{"id":2,"error":null,"result":1}'],
    ['with a result and a fault of the server', 502, '{"id":1,"error":null,"result":1}'],
  ])('an answer %s is an outage', async (_form, status, body) => {
    const url = await open((_request, response) => response.writeHead(status).end(body))
    await expect(openRpc({ url }).call('x')).rejects.toBeInstanceOf(NodeOutage)
  })

  it.each([
    [
      500,
      '{"id":1,"result":null,"error":{"code":-26,"message":"min relay fee\\nnot met"}}',
      -26,
      'min relay fee not met',
    ],
    [200, '{"id":1,"error":{"code":-26,"message":"dust"}}', -26, 'dust'],
    [500, '{"error":"too busy"}', null, 'too busy'],
    [500, '{"error":{"code":"-26","message":{}}}', null, 'the node refused without a reason'],
    [500, '{"error":5}', null, 'the node refused without a reason'],
    [500, '{"error":[]}', null, 'the node refused without a reason'],
  ])('an error in any form counts as a refusal: %s %s', async (status, body, code, message) => {
    const url = await open((_request, response) => response.writeHead(status).end(body))
    const refusal = await openRpc({ url })
      .call('x')
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(NodeRefusal)
    expect(refusal).toMatchObject({ code, message })
  })

  it('a node that is silent, absent, answers without end or redirects is an outage, and the error does not name its address', async () => {
    const silent = await open(() => undefined)
    const endless = await open((_request, response) => response.end('x'.repeat(5_000)))
    const elsewhere = await open((_request, response) => response.writeHead(302, { location: silent }).end())
    const calls = [
      openRpc({ url: silent, timeoutMilliseconds: 100 }).call('x'),
      openRpc({ url: endless, bytesMax: 4_000 }).call('x'),
      openRpc({ url: elsewhere }).call('x'),
      openRpc({ url: 'http://user:secret@127.0.0.1:9/' }).call('x'),
    ]
    const errors = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)))
    expect(errors.map((error) => (error instanceof NodeOutage ? error.message : error))).toEqual([
      'the node did not answer in time',
      'the node answered more than 4000 bytes',
      'the node cannot be reached',
      'the node cannot be reached',
    ])
  })
})

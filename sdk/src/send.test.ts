import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRawClient, take } from './raw.ts'
import { ConnectionError, createStrongroom, StrongroomError, TimeoutError } from './strongroom.ts'

type Step = (request: IncomingMessage, response: ServerResponse) => void

const server = createServer((request, response) => {
  requests.push(request)
  const step = steps.shift() ?? json(200, {})
  step(request, response)
})
let requests: IncomingMessage[] = []
/** The answers to the next requests, in their order. */
let steps: Step[] = []
let baseUrl: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  requests = []
  steps = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Step =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const refusal = (status: number, headers: Record<string, string> = {}, more: object = {}) =>
  json(status, { error: 'Refused', message: `refused with ${status}`, code: status, ...more }, headers)
const silent: Step = () => {}
const hangUp: Step = (request) => request.socket.destroy()
const breakOff: Step = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"items":[')
  setTimeout(() => request.socket.destroy(), 20)
}

const client = (options: { timeoutMs?: number; retries?: number } = {}) =>
  createStrongroom({ baseUrl, token: 'srk_test', ...options })
const keys = () => requests.map(({ headers }) => headers['idempotency-key'])
const order = { fromAddressId: 'a', toAddress: 'b', amount: '1' }
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('nothing was thrown'),
    (error) => error,
  )

describe('a time-out', () => {
  it('ends a call to a server that never answers', async () => {
    steps = [silent]
    const error = await failureOf(client().vaults.list({}, { timeoutMs: 1000 }).page())
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error.message).toBe('The service did not answer within 1000 ms')
    expect(requests).toHaveLength(1)
  })

  it('is 30 seconds unless the client or the call say otherwise', async () => {
    steps = [refusal(429, { 'retry-after': '29' }), refusal(429, { 'retry-after': '31' })]
    const ended = new AbortController()
    const waiting = failureOf(client().vault('v').get({ signal: ended.signal }))
    await expect.poll(() => requests.length).toBe(1)
    expect(await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 200, 'waiting'))])).toBe('waiting')
    ended.abort(new Error('enough'))
    expect((await waiting).message).toBe('enough')
    // A pause that is longer than the time left is not made.
    const refused = await failureOf(client().vault('v').get())
    expect(refused).toBeInstanceOf(StrongroomError)
    expect(refused).toMatchObject({ status: 429, retryAfterSeconds: 31 })
    expect(requests).toHaveLength(2)
  })

  it('covers the retries of the call', async () => {
    steps = Array.from({ length: 20 }, () => hangUp)
    const begun = performance.now()
    const error = await failureOf(client({ timeoutMs: 600, retries: 20 }).vault('v').get())
    expect(error).toBeInstanceOf(ConnectionError)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(requests.length).toBeLessThan(6)
  })
})

describe('a retry', () => {
  it.each([429, 503])('follows a %i after the time that it names, under the same key', async (status) => {
    steps = [refusal(status, { 'retry-after': '1' }), json(201, { id: 't' })]
    const begun = performance.now()
    expect(await client().vault('v').transfers.create(order)).toEqual({ id: 't' })
    expect(performance.now() - begun).toBeGreaterThanOrEqual(1000)
    expect(requests).toHaveLength(2)
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(keys()).size).toBe(1)
  })

  it('accepts a date as Retry-After', async () => {
    steps = [refusal(503, { 'retry-after': new Date(Date.now() + 120_000).toUTCString() })]
    const error = await failureOf(client().vault('v').get())
    expect(error.retryAfterSeconds).toBeGreaterThan(100)
  })

  it('follows a lost connection, and an answer that breaks off', async () => {
    steps = [hangUp, breakOff, json(200, { items: [], nextCursor: null })]
    expect(await client().vaults.list().page()).toEqual({ items: [], nextCursor: null })
    expect(requests).toHaveLength(3)
  })

  it('happens twice by default, and as often as the call says', async () => {
    steps = Array.from({ length: 9 }, () => hangUp)
    const error = await failureOf(client().vault('v').transfers.create(order))
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error.message).toMatch(/^The service could not be reached: ./)
    expect(error.cause).toBeInstanceOf(Error)
    expect(requests).toHaveLength(3)
    await failureOf(client().vault('v').get({ retries: 0 }))
    expect(requests).toHaveLength(4)
  })

  it('does not follow an answer that a repetition would not change', async () => {
    for (const status of [400, 401, 403, 404, 409, 500, 502]) {
      steps = [refusal(status)]
      expect(await failureOf(client().vault('v').lock())).toMatchObject({ status })
    }
    expect(requests).toHaveLength(7)
    expect(new Set(keys()).size).toBe(7)
  })

  it('waits while the service still works on the attempt whose connection was lost', async () => {
    steps = [hangUp, refusal(409), json(201, { id: 't' })]
    expect(await client().vault('v').transfers.create(order)).toEqual({ id: 't' })
    expect(requests).toHaveLength(3)
  })

  it('keeps the key of the caller', async () => {
    steps = [hangUp, json(201, { id: 't' })]
    await client().vault('v').transfers.create(order, { idempotencyKey: 'invoice-4711' })
    expect(keys()).toEqual(['invoice-4711', 'invoice-4711'])
  })

  it('sends the whole body again, and no key with a read', async () => {
    const bodies: string[] = []
    const collect: (answer: Step) => Step = (answer) => (request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        bodies.push(text)
        answer(request, response)
      })
    }
    steps = [collect(hangUp), collect(refusal(503)), collect(json(201, { id: 't' }))]
    await client().vault('v').transfers.create(order)
    expect(bodies).toEqual(Array(3).fill(JSON.stringify(order)))
    await client().vault('v').get()
    expect(keys().at(-1)).toBeUndefined()
  })
})

describe('a signal', () => {
  it('ends a call under way, a pause, and a call that has not begun', async () => {
    const reason = new Error('the user left')
    steps = [silent, hangUp]
    for (const pauseMs of [50, 50]) {
      const controller = new AbortController()
      const call = failureOf(client().vault('v').get({ signal: controller.signal }))
      setTimeout(() => controller.abort(reason), pauseMs)
      expect(await call).toBe(reason)
    }
    const sent = requests.length
    expect(
      await failureOf(
        client()
          .vault('v')
          .get({ signal: AbortSignal.abort(reason) }),
      ),
    ).toBe(reason)
    expect(requests).toHaveLength(sent)
  })
})

describe('an error', () => {
  it('has status, reason, request id and body', async () => {
    const more = { reason: 'insufficient_funds', requestId: 'r-1', details: 'sentence' }
    steps = [refusal(409, { 'x-request-id': 'header' }, more), refusal(404, { 'x-request-id': 'header' })]
    expect(await failureOf(client().vault('v').get())).toMatchObject({
      name: 'StrongroomError',
      status: 409,
      message: 'refused with 409',
      reason: 'insufficient_funds',
      requestId: 'r-1',
      body: { code: 409, details: 'sentence' },
      retryAfterSeconds: null,
    })
    expect(await failureOf(client().vault('v').get())).toMatchObject({ reason: null, requestId: 'header' })
  })

  it('reports an answer that is not of the service', async () => {
    steps = [(_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>')]
    const error = await failureOf(client().vault('v').get())
    expect(error).toMatchObject({ status: 502, message: 'The service answered 502', body: null })
  })
})

describe('a call that a passkey must confirm', () => {
  const required = refusal(403, {}, { reason: 'passkey_required' })
  const assertion = { id: 'AQID', signature: 'MEUC' }

  it('is signed by `confirm` and sent once more, for as long as the person takes', async () => {
    steps = [required, json(200, { code: 'everyone' })]
    const calls: object[] = []
    const confirm = async (call: object) => {
      calls.push(call)
      await new Promise((resolve) => setTimeout(resolve, 300))
      return assertion
    }
    const strongroom = createStrongroom({ baseUrl, confirm, timeoutMs: 250 })
    const body = { threshold: 2, left: undefined, hours: [1, null, { b: 2, a: 'ü' }] }
    await strongroom.vault('treasury').governance.update(body as never)
    const bodyHash = createHash('sha256').update('{"hours":[1,null,{"a":"ü","b":2}],"threshold":2}').digest('hex')
    expect(calls).toEqual([{ method: 'PUT', path: '/api/v1/vaults/treasury/governance', bodyHash }])
    const sent = requests.map(({ headers }) => headers['passkey-assertion'])
    expect(sent).toEqual([undefined, Buffer.from(JSON.stringify(assertion)).toString('base64url')])
  })

  it('is refused where nobody signs, and when the signature is refused', async () => {
    steps = [required]
    const alone = createStrongroom({ baseUrl, retries: 0 })
    expect((await failureOf(alone.vault('treasury').governance.update({} as never))).reason).toBe('passkey_required')
    steps = [required, required]
    const strongroom = createStrongroom({ baseUrl, confirm: async () => assertion })
    expect((await failureOf(strongroom.vault('treasury').governance.update({} as never))).reason).toBe(
      'passkey_required',
    )
    expect(requests).toHaveLength(3)
  })

  it('fails as `confirm` does', async () => {
    steps = [required]
    const declined = new Error('declined')
    const strongroom = createStrongroom({ baseUrl, confirm: () => Promise.reject(declined) })
    expect(await failureOf(strongroom.vault('treasury').governance.update({} as never))).toBe(declined)
  })
})

describe('a file', () => {
  const head: Step = (_, response) =>
    response.writeHead(200, {
      'content-type': 'application/pdf',
      'content-disposition': 'attachment; filename="statement.pdf"',
    })
  const download = (timeoutMs: number) => client({ timeoutMs }).vault('v').reports.downloadExport('e')

  it('may take longer than the time-out as long as its parts keep coming', async () => {
    steps = [
      (request, response) => {
        head(request, response)
        for (const part of [1, 2, 3, 4]) setTimeout(() => response.write(`part ${part};`), part * 500)
        setTimeout(() => response.end(), 2500)
      },
    ]
    const file = await download(1500)
    expect(file).toMatchObject({ name: 'statement.pdf', contentType: 'application/pdf' })
    const blob = await file.blob()
    expect(blob.type).toBe('application/pdf')
    expect(await blob.text()).toBe('part 1;part 2;part 3;part 4;')
  })

  it('that stops coming is a time-out, and one that breaks off a fault of the connection', async () => {
    steps = [
      (request, response) => {
        head(request, response)
        response.write('part')
      },
      (request, response) => {
        head(request, response)
        response.write('part')
        setTimeout(() => request.socket.destroy(), 50)
      },
    ]
    expect(await failureOf((await download(1000)).blob())).toBeInstanceOf(TimeoutError)
    const broken = await failureOf((await download(5_000)).blob())
    expect(broken).toBeInstanceOf(ConnectionError)
    expect(broken).not.toBeInstanceOf(TimeoutError)
  })
})

describe('the raw client', () => {
  it('has the same time-outs, retries and keys', async () => {
    steps = [hangUp, json(201, { id: 't' }), silent]
    const raw = createRawClient({ baseUrl: `${baseUrl}/api/v1/`, timeoutMs: 5_000 })
    const path = { code: 'v' }
    const answer = await raw.POST('/api/v1/vaults/{code}/transfers', { params: { path }, body: order })
    expect(take(answer)).toEqual({ id: 't' })
    expect(new Set(keys()).size).toBe(1)
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/api/v1/vaults/v/transfers'))
    const impatient = createRawClient({ baseUrl, timeoutMs: 100 })
    expect(await failureOf(impatient.GET('/healthz'))).toBeInstanceOf(TimeoutError)
  })

  it('makes an error of a refusal', async () => {
    steps = [refusal(403)]
    const answer = await createRawClient({ baseUrl }).GET('/api/v1/vaults', { params: { query: { limit: 5 } } })
    expect(() => take(answer)).toThrow(StrongroomError)
    // @ts-expect-error A limit is a number: the compiler refuses what the service refuses.
    await createRawClient({ baseUrl }).GET('/api/v1/vaults', { params: { query: { limit: 'many' } } })
  })
})

import { describe, expect, it } from 'vitest'
import { signWebhook, verifyWebhook, WebhookError } from './strongroom.ts'

/** The example of the Standard Webhooks specification. */
const example = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: '{"test": 2432232314}',
  timestamp: new Date(1_614_265_330_000),
}
const headers = {
  'webhook-id': example.id,
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const { secret, body, timestamp: now } = example

describe('signing a webhook', () => {
  it('gives the signature of the specification', async () => {
    expect(await signWebhook(secret, example)).toEqual(headers)
  })

  it('is verified with the same secret, bytes and time', async () => {
    expect(await verifyWebhook(secret, { headers, body, now })).toEqual({ id: example.id, timestamp: now })
    const received = new Headers(headers)
    expect(await verifyWebhook(secret, { headers: received, body: new TextEncoder().encode(body), now })).toBeDefined()
    const text = 'Zażółć gęślą jaźń €'
    const signed = await signWebhook('a plain secret', { id: 'evt_1', body: text })
    expect(await verifyWebhook('a plain secret', { headers: signed, body: text })).toMatchObject({ id: 'evt_1' })
  })

  it('is verified with one of several secrets, and one of several signatures', async () => {
    const both = { ...headers, 'webhook-signature': `v1,AAAA v1a,x ${headers['webhook-signature']}` }
    expect(await verifyWebhook(['another secret', secret], { headers: both, body, now })).toBeDefined()
  })

  it('is refused when it was changed, is old or is not signed', async () => {
    const refused = (more: object, by: string | string[] = secret) =>
      expect(verifyWebhook(by, { headers, body, now, ...more })).rejects
    await refused({ body: `${body} ` }).toThrow(WebhookError)
    await refused({ headers: { ...headers, 'webhook-id': 'msg_other' } }).toThrow('No signature is valid')
    await refused({ headers: { ...headers, 'webhook-timestamp': '1614265331' } }).toThrow('No signature is valid')
    await refused({ headers: { ...headers, 'webhook-timestamp': '1614265330.0' } }).toThrow('seconds since 1970')
    await refused({ headers: { ...headers, 'webhook-signature': 'v1,%%%' } }).toThrow('No signature is valid')
    await refused({ headers: { ...headers, 'webhook-signature': undefined } }).toThrow('webhook-signature is missing')
    await refused({}, 'another secret').toThrow('No signature is valid')
    await refused({}, []).toThrow('No signature is valid')
    await refused({}, '').toThrow('The secret is empty')
    for (const seconds of [-301, 301]) {
      await refused({ now: new Date(now.getTime() + seconds * 1000) }).toThrow('more than 300 s from now')
    }
    const tolerated = { headers, body, now: new Date(now.getTime() + 301_000), toleranceSeconds: 400 }
    expect(await verifyWebhook(secret, tolerated)).toBeDefined()
  })
})

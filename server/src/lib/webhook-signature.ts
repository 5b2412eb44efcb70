import { createHmac } from 'node:crypto'
import { unauthorized } from './errors.ts'
import { webhookToleranceSeconds } from './limits.ts'
import { equalsSecret, webhookKeyOf } from './secrets.ts'

type Headers = Record<string, string | string[] | undefined>

/** The signatures of a webhook, and the content that they cover. */
export type SignedWebhook = { id: string; timestamp: string; body: Buffer; offered: string[] }

/**
 * Reads the signature of a webhook by the Standard Webhooks scheme: HMAC-SHA256 of `id.timestamp.body` over the raw bytes, with
 * a tolerance of five minutes.
 *
 * @throws 401 when it is absent or stale
 */
export function readSignature(headers: Headers, body: Buffer, now: Date): SignedWebhook {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    throw unauthorized(
      'invalid_webhook_signature',
      'The webhook must carry webhook-id, webhook-timestamp and webhook-signature',
    )
  }
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(now.getTime() / 1000 - sentAt) <= webhookToleranceSeconds)) {
    throw unauthorized('invalid_webhook_signature', 'The webhook timestamp is too far from now')
  }
  const offered = signatures
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .slice(0, 10)
  return { id, timestamp, body, offered }
}

/** Returns true if one of the secrets made one of the signatures. The comparison takes constant time. */
export function isSignedBy({ id, timestamp, body, offered }: SignedWebhook, secrets: string[]): boolean {
  return secrets.some((secret) => {
    const expected = signatureOf(secret, id, timestamp, body)
    return offered.map((part) => equalsSecret(part.slice(3), expected)).includes(true)
  })
}

/** Returns the base64 HMAC-SHA256 under the key that `webhookKeyOf` reads from the secret. */
export function signatureOf(secret: string, id: string, timestamp: string, body: Buffer | string): string {
  return createHmac('sha256', webhookKeyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')
}

/** Returns the headers of an outgoing message: a signature by each secret, so that the receiver can change its secret at any time. */
export function signatureHeaders(secrets: string[], id: string, body: string, now: Date): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, id, timestamp, body)}`).join(' '),
  }
}

import { createHmac } from 'node:crypto'
import { unauthorized } from '../../lib/errors.ts'
import { webhookToleranceSeconds } from '../../lib/limits.ts'
import { equalsSecret } from '../../lib/secrets.ts'

type Signed = { headers: Record<string, string | string[] | undefined>; body: Buffer; secrets: string[]; now: Date }

/**
 * Verifies a webhook by the Standard Webhooks scheme: HMAC-SHA256 of `id.timestamp.body` over the raw bytes, five
 * minutes' tolerance, any of several secrets.
 *
 * @throws 401 for an absent, stale or wrong signature
 */
export function verifySignature({ headers, body, secrets, now }: Signed): void {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    throw unauthorized('The webhook must carry webhook-id, webhook-timestamp and webhook-signature')
  }
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(now.getTime() / 1000 - sentAt) <= webhookToleranceSeconds)) {
    throw unauthorized('The webhook timestamp is too far from now')
  }
  const offered = signatures
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .slice(0, 10)
  const isValid = secrets.some((secret) => {
    const expected = signatureOf(secret, id, timestamp, body)
    return offered.map((part) => equalsSecret(part.slice(3), expected)).includes(true)
  })
  if (!isValid) throw unauthorized('The webhook signature is not valid')
}

/** Base64 HMAC-SHA256; a `whsec_` secret is base64, any other is used as its UTF-8 bytes. */
export function signatureOf(secret: string, id: string, timestamp: string, body: Buffer | string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
}

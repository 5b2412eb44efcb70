import { createHmac } from 'node:crypto'

/**
 * Headers of a signed webhook after Standard Webhooks (https://www.standardwebhooks.com): the signature is
 * base64(HMAC-SHA256(key, `${id}.${timestampSeconds}.${body}`)) with the version `v1` before it.
 */
export function signWebhook(
  secret: string,
  { id, timestampSeconds, body }: { id: string; timestampSeconds: number; body: string },
) {
  const signature = createHmac('sha256', webhookKey(secret))
    .update(`${id}.${timestampSeconds}.${body}`)
    .digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': `v1,${signature}`,
  }
}

/** A secret that starts with `whsec_` is base64 behind the prefix; any other is used as its UTF-8 bytes. */
export function webhookKey(secret: string): Buffer {
  const prefix = 'whsec_'
  return secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret, 'utf8')
}

/** Headers of a signed webhook in the only accepted form: https://www.standardwebhooks.com */
export type WebhookHeaders = { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string }

type Signed = { id: string; timestamp: Date; body: string | Uint8Array<ArrayBuffer> }

/** A webhook without a valid signature, or with a time too far from now. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/**
 * Returns the headers that sign an event of a wallet service for Strongroom. Send exactly the bytes of `body`. Each
 * delivery of an event has the same `id` and its own time.
 */
export async function signWebhook(
  secret: string,
  { id, body, timestamp = new Date() }: { id: string; body: Signed['body']; timestamp?: Date },
): Promise<WebhookHeaders> {
  const key = await importKey(secret)
  const signature = await crypto.subtle.sign('HMAC', key, signedBytes({ id, timestamp, body }))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(secondsOf(timestamp)),
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  }
}

type Received = {
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** The received bytes, unchanged: the signature covers bytes, not their meaning. */
  body: Signed['body']
  /** The largest difference between the time of the delivery and now, in seconds; 300 by default. */
  toleranceSeconds?: number
  now?: Date
}

/**
 * Verifies that an event was signed with the secret, or with one of several secrets during a rotation. Signatures are
 * compared in constant time.
 *
 * @returns the id of the event, which all its deliveries share
 * @throws WebhookError
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  { headers, body, toleranceSeconds = 300, now = new Date() }: Received,
): Promise<{ id: string; timestamp: Date }> {
  const [id, seconds, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string' || value === '') throw new WebhookError(`The header ${name} is missing`)
    return value
  }) as [string, string, string]
  if (!/^\d{1,12}$/.test(seconds)) throw new WebhookError('The header webhook-timestamp must be seconds since 1970')
  const timestamp = new Date(Number(seconds) * 1000)
  if (Math.abs(now.getTime() - timestamp.getTime()) > toleranceSeconds * 1000) {
    throw new WebhookError(`The time of the delivery is more than ${toleranceSeconds} s from now`)
  }
  const bytes = signedBytes({ id, timestamp, body })
  for (const candidateSecret of typeof secret === 'string' ? [secret] : secret) {
    const key = await importKey(candidateSecret)
    for (const signature of signatures.split(' ')) {
      const candidate = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : null
      if (candidate !== null && (await crypto.subtle.verify('HMAC', key, candidate, bytes))) return { id, timestamp }
    }
  }
  throw new WebhookError('No signature is valid for this body and secret')
}

/** Imports a secret. After the prefix `whsec_` it is base64; without the prefix its UTF-8 bytes are used. */
function importKey(secret: string) {
  const prefix = 'whsec_'
  const bytes = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : new TextEncoder().encode(secret)
  if (bytes === null || bytes.length === 0) throw new WebhookError('The secret is empty, or not base64 after whsec_')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function signedBytes({ id, timestamp, body }: Signed): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const head = encoder.encode(`${id}.${secondsOf(timestamp)}.`)
  const rest = typeof body === 'string' ? encoder.encode(body) : body
  const bytes = new Uint8Array(head.length + rest.length)
  bytes.set(head)
  bytes.set(rest, head.length)
  return bytes
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

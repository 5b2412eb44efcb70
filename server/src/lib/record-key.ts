import { createHmac, hkdfSync } from 'node:crypto'
import { keyIdOfSecret } from './secrets.ts'

/** Authenticates audit records. It is derived from STRONGROOM_SECRET_KEY, so no role of the database has it. */
export type RecordKey = {
  /** Names the key, as `sealing_key` does. */
  id: Buffer
  /** HMAC-SHA-256. */
  mac(text: string): Buffer
}

export function createRecordKey(secretKey: string): RecordKey {
  const key = Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'record key', 32))
  return { id: keyIdOfSecret(secretKey), mac: (text) => createHmac('sha256', key).update(text).digest() }
}

import { createHmac, hkdfSync } from 'node:crypto'
import { keyIdOfSecret } from './secrets.ts'

/** The key that authenticates audit records. It is derived from STRONGROOM_SECRET_KEY, so that no role of the database has it. */
export type RecordKey = {
  /** The id of the key, as in `sealing_key`. */
  id: Buffer
  /** Returns the HMAC-SHA-256 of a text. */
  mac(text: string): Buffer
}

export function createRecordKey(secretKey: string): RecordKey {
  const key = Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'record key', 32))
  return { id: keyIdOfSecret(secretKey), mac: (text) => createHmac('sha256', key).update(text).digest() }
}

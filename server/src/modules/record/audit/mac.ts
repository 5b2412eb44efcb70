import type { RecordKey } from '../../../lib/record-key.ts'
import { equalsSecret } from '../../../lib/secrets.ts'

/** What a MAC binds: the content by its hash, and the place of the record. */
export type MacSubject = { chain: string; id: string; hash: Buffer }

/** The id of the key and the HMAC: 40 bytes, which only a process with STRONGROOM_SECRET_KEY can compute. */
export function macOf(key: RecordKey, { chain, id, hash }: MacSubject): Buffer {
  return Buffer.concat([key.id, key.mac(JSON.stringify(['audit record', chain, id, hash.toString('hex')]))])
}

/** null: the MAC is good, or this process cannot tell because it does not have the key. */
export function faultOfMac(key: RecordKey | null, record: MacSubject & { mac: Buffer | null }): string | null {
  if (key === null) return null
  return record.mac !== null && equalsSecret(record.mac, macOf(key, record)) ? null : 'the service did not write it'
}

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { generateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type pg from 'pg'
import type { ClientConfig } from './config.ts'
import type { Keyring } from './keys/keyring.ts'

/** Strength of a new mnemonic in bits: 24 words (BIP-39). */
const mnemonicBits = 256

/** Creates a client with a new mnemonic if the name is new. A known client keeps its mnemonic and gets the token. */
export async function ensureClient(pool: pg.Pool, keyring: Keyring, { name, token }: ClientConfig): Promise<void> {
  const id = randomUUID()
  const sealedMnemonic = keyring.sealMnemonic(id, generateMnemonic(wordlist, mnemonicBits))
  const insertion = pool.query(`${insertClient} on conflict (name) do update set token_hash = excluded.token_hash`, [
    id,
    name,
    hashToken(token),
    sealedMnemonic,
    keyring.salt,
  ])
  const { rowCount } = await insertion.catch((error: Error & { code?: string }) => {
    if (error.code === uniqueViolation) throw new Error(`the token of the client ${name} belongs to another client`)
    throw error
  })
  if (rowCount === 0) throw new PassphraseChangedError()
}

/** A client is not stored when the passphrase was changed since the key store was opened. */
const insertClient = `
  insert into wallet.clients (id, name, token_hash, sealed_mnemonic)
  select $1, $2, $3, $4 from (select from wallet.keyring where salt = $5 for share) k`

class PassphraseChangedError extends Error {
  constructor() {
    super('the passphrase was changed meanwhile; start again with the new one')
  }
}

const uniqueViolation = '23505'

/** Creates a client and returns its token, which is stored nowhere; null when the name is taken. */
export async function addClient(pool: pg.Pool, keyring: Keyring, name: string): Promise<string | null> {
  const id = randomUUID()
  const token = `srw_${randomBytes(32).toString('base64url')}`
  const { rowCount } = await pool.query(`${insertClient} on conflict (name) do nothing`, [
    id,
    name,
    hashToken(token),
    keyring.sealMnemonic(id, generateMnemonic(wordlist, mnemonicBits)),
    keyring.salt,
  ])
  if (rowCount === 1) return token
  const { rows } = await pool.query('select from wallet.clients where name = $1', [name])
  if (rows.length === 0) throw new PassphraseChangedError()
  return null
}

export async function listClients(pool: pg.Pool): Promise<{ name: string; addressCount: number; createdAt: Date }[]> {
  const { rows } = await pool.query<{ name: string; address_count: number; created_at: Date }>(
    `select c.name, c.created_at, (select count(*)::int from wallet.addresses a where a.client_id = c.id) as address_count
     from wallet.clients c order by c.name`,
  )
  return rows.map((row) => ({ name: row.name, addressCount: row.address_count, createdAt: row.created_at }))
}

/** Returns the client of the token, or null. The lookup is by hash, so its timing reveals nothing about the token. */
export async function findClientId(pool: pg.Pool, token: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'find-client',
    text: 'select id from wallet.clients where token_hash = $1',
    values: [hashToken(token)],
  })
  return rows[0]?.id ?? null
}

export async function findClientByName(pool: pg.Pool, name: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>('select id from wallet.clients where name = $1', [name])
  return rows[0]?.id ?? null
}

/** Tokens are long and random, so one round of SHA-256 is enough. */
function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

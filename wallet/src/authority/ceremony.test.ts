import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addClient } from '../clients.ts'
import { migrate } from '../database/migrate.ts'
import { openKeyring } from '../keys/keyring.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { follow, authority as full, team } from '../testing/signing.ts'
import { hashOf, toFingerprint } from './canonical.ts'
import { initAuthority, nextAuthority, showAuthority } from './ceremony.ts'

/** Decimals of tokens are compared with a node, of which these tests have none. */
const authority = { ...full, rules: full.rules.slice(0, 1) }
let database: TestDatabase
let pool: pg.Pool
let folder: string

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  folder = await mkdtemp(join(tmpdir(), 'ceremony-'))
  await migrate(pool)
  await addClient(pool, await openKeyring(pool, 'a passphrase for the tests'), 'vault')
})

afterAll(async () => {
  await pool?.end()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, document: unknown): Promise<string> {
  await writeFile(join(folder, name), JSON.stringify(document))
  return join(folder, name)
}

function place(directory: string | undefined = join(folder, 'authorities')) {
  const lines: string[] = []
  const around = { chains: new Map(), signingOrigin: null, sendsMail: false }
  return { pool, directory, around, lines, print: (line: string) => void lines.push(line) }
}

test('T58 T59 the typed digits must be right, and what was pinned is never pinned again', async () => {
  const file = await write('first.json', authority)
  const digits = toFingerprint(hashOf(authority)).slice(0, 9)
  await expect(initAuthority({ ...place(), directory: undefined }, 'vault', file, digits)).rejects.toThrow(
    'AUTHORITY_DIR',
  )
  await expect(initAuthority(place(), 'nobody', file, digits)).rejects.toThrow('no client named nobody')
  await expect(initAuthority(place(), 'vault', join(folder, 'none'), digits)).rejects.toThrow('cannot be read')
  await expect(initAuthority(place(), 'vault', file, '0123 4567')).rejects.toThrow('not the digits')
  await expect(initAuthority(place(), 'vault', file, digits.slice(0, 8))).rejects.toThrow('not the digits')
  const second = await write('second.json', { ...authority, version: 2, previous: 'a'.repeat(64) })
  await expect(
    initAuthority(place(), 'vault', second, hashOf({ ...authority, version: 2, previous: 'a'.repeat(64) })),
  ).rejects.toThrow('only version 1')
  const pinned = place()
  await initAuthority(pinned, 'vault', file, digits.toUpperCase())
  expect(pinned.lines).toContain(`fingerprint  ${toFingerprint(hashOf(authority))}`)
  expect(pinned.lines).toContain('key          passkey "Key of anna" of anna')
  expect(pinned.lines).toContain('             signs at https://sign.example.net (RP ID sign.example.net)')
  await expect(initAuthority(place(), 'vault', file, digits)).rejects.toThrow('already')
  const shown = place()
  await showAuthority(shown, 'vault', { json: true })
  expect(JSON.parse(shown.lines.join('\n'))).toEqual(authority)
})

test('T59 the next version needs the votes of the version before', async () => {
  const next = follow(authority, { addresses: [] }, [team.dora, team.emil])
  const file = await write('next.json', next.authority)
  const few = await write('few.json', next.votes.slice(1))
  await expect(nextAuthority(place(), 'vault', file, few)).rejects.toThrow('VOTES_MISSING')
  const put = place()
  await nextAuthority(put, 'vault', file, await write('votes.json', next.votes))
  expect(put.lines[0]).toBe('authority of the vault vault-1, version 2')
  const shown = place()
  await showAuthority(shown, 'vault')
  expect(shown.lines).toEqual(put.lines)
})

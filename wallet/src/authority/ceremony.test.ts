import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addClient, findClientByName } from '../clients.ts'
import { migrate } from '../database/migrate.ts'
import { openKeyring } from '../keys/keyring.ts'
import { createTestDatabase, type TestDatabase, testPassphrase } from '../testing/database.ts'
import { follow, authority as full, signVote, team } from '../testing/signing.ts'
import { hashOf, toFingerprint } from './canonical.ts'
import { initAuthority, nextAuthority, showAuthority, showPending } from './ceremony.ts'
import { AuthorityStore } from './store.ts'

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
  await addClient(pool, await openKeyring(pool, testPassphrase), 'vault')
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

test('T58 T59 the typed digits must be right, and a client with a pinned authority cannot get another one', async () => {
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

test('T81 the pending version is shown with its signers, and with the people whose votes against it are kept', async () => {
  const directory = join(folder, 'late')
  await addClient(pool, await openKeyring(pool, testPassphrase), 'late')
  const late = { ...authority, vaultId: 'vault-late', delayHours: 24 }
  const at = place(directory)
  await initAuthority(at, 'late', await write('late.json', late), hashOf(late))
  const pending = async () => {
    const shown = place(directory)
    await showPending(shown, 'late')
    return shown.lines
  }
  expect(await pending()).toEqual(['no version waits'])

  const next = follow(late, { addresses: [] }, [team.dora, team.emil])
  await nextAuthority(
    at,
    'late',
    await write('late-next.json', next.authority),
    await write('late-votes.json', next.votes),
  )
  const hash = hashOf(next.authority)
  const [waits, ...before] = await pending()
  expect(waits).toMatch(/^version 2 waits, and comes into force at /)
  expect(before.slice(0, 4)).toEqual([
    'signed       by dora',
    'signed       by emil',
    `cancel       signatures of ${late.change.group}: 1 needed, 0 kept here`,
    'authority of the vault vault-late, version 2',
  ])

  const about = { subject: 'authority', hash, authority: hashOf(late), decision: 'reject' } as const
  const kept = signVote(team.emil, about)
  const { rejections } = new AuthorityStore(directory)
  const clientId = (await findClientByName(pool, 'late'))!
  await rejections.note(clientId, kept)
  // A line that somebody else wrote is not a vote, and neither is the vote of a person outside of the group.
  await rejections.note(clientId, { ...signVote(team.dora, about), signature: kept.signature })
  await rejections.note(clientId, signVote(team.ben, about))
  const after = await pending()
  expect(after.filter((line) => line.startsWith('rejected'))).toEqual([`rejected     by emil at ${kept.vote.signedAt}`])
  expect(after).toContain(`cancel       signatures of ${late.change.group}: 1 needed, 1 kept here`)
})

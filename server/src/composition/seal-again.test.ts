import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settings } from '../config/settings.ts'
import { openDatabase } from '../db/client.ts'
import { useRecordKey } from '../db/record-key.ts'
import { inTransaction } from '../db/transaction.ts'
import { createRecordKey } from '../lib/record-key.ts'
import { createSealer, markOf, type Place, SealError } from '../lib/secrets.ts'
import { verifyAudit } from '../modules/record/audit/verify.ts'
import { hideSecrets, revealSecrets } from '../modules/rules/change-sets/secrets.ts'
import { readRules } from '../modules/rules/rules-versions/rules-document.ts'
import { openSecret, walletOfVault } from '../modules/vaults/wallets/wallet-settings.ts'
import { createVaultFixture, type VaultFixture } from '../testing/fixtures.ts'
import { createGovernanceBench, type GovernanceBench } from '../testing/governance-bench.ts'
import { adoptKey, rotateKey, sealedColumns } from './seal-again.ts'

const key = 'a test key that is long enough to pass'
const nextKey = 'another test key that is long enough'

let bench: GovernanceBench
let other: VaultFixture

beforeAll(async () => {
  bench = await createGovernanceBench()
  other = await createVaultFixture(bench.test, { code: 'other-vault' })
})
afterAll(() => bench.close())

/**
 * Seals in the format before migration 0053, written from its description: nonce, tag and text, not bound to a row. A nonce in 256
 * begins with the first byte of the present format.
 */
function sealOld(secretKey: string, plain: string, firstByte = 0): Buffer {
  const nonce = Buffer.concat([Buffer.from([firstByte]), randomBytes(11)])
  const cipher = createCipheriv(
    'aes-256-gcm',
    Buffer.from(hkdfSync('sha256', secretKey, 'strongroom', 'seal', 32)),
    nonce,
  )
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** Writes a sealed value as the owner of the database, without the check of the present key. */
async function write({ table, column, row }: Place, sealed: Buffer): Promise<void> {
  const { key: names } = sealedColumns.find((entry) => entry.table === table && entry.column === column)!
  const where = names.map((name, i) => `${name} = $${i + 2}`).join(' and ')
  await bench.sql(`alter table ${table} disable trigger user`)
  await bench.sql(`update ${table} set ${column} = $1 where ${where}`, [sealed, ...row])
  await bench.sql(`alter table ${table} enable trigger user`)
}

type Stored = { place: Place; sealed: Buffer }

async function listSealed(): Promise<Stored[]> {
  const all: Stored[] = []
  for (const { table, column, key: names, context = 'null', destination } of sealedColumns) {
    const rows = await bench.sql(
      `select array[${names.join(', ')}]::text[] as row, ${column} as sealed, (${context})::text as context
       from ${table} t where ${column} is not null order by 1`,
    )
    for (const { row, sealed, context: text } of rows) {
      const bound = destination === undefined ? {} : { destination: destination(text as string) }
      all.push({ place: { table, column, row: row as string[], ...bound }, sealed: sealed as Buffer })
    }
  }
  return all
}

const secretOf = (vaultId: string): Place => ({
  table: 'vaults',
  column: 'wallet_service_secret',
  row: [vaultId],
  destination: new URL((vaultId === other.id ? other : bench.vault).wallet.url).origin,
})

/** Seals in the format before migration 0071, written from its description: bound to table, column and row, not to a destination. */
function sealUndirected({ table, column, row }: Place, plain: string, mark: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from([2]), createSealer(key).keyId, mark])
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(hkdfSync('sha256', key, 'strongroom', 'seal', 32)), nonce)
  cipher.setAAD(Buffer.concat([head, Buffer.from(JSON.stringify([table, column, ...row]))]))
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([head, nonce, cipher.getAuthTag(), text])
}

/** Brings the data back to their state before migration 0071, as the owner of the database. The constraints of 0071 stay. */
async function setBack(): Promise<void> {
  for (const { place, sealed } of await listSealed()) {
    const plain = bench.test.deps.sealer.open(place, sealed)
    await write(place, sealUndirected(place, plain, markOf(sealed)))
  }
  await bench.sql('alter table sealing_key disable trigger user')
  await bench.sql('update sealing_key set format = 2')
  await bench.sql('alter table sealing_key enable trigger user')
  await bench.sql('alter table audit_records drop constraint audit_records_mac')
  await bench.sql('update audit_records set mac = null')
  await bench.sql(
    'alter table audit_records add constraint audit_records_mac check (mac is not null and octet_length(mac) = 40) not valid',
  )
}
const sealedAt = async (place: Place) =>
  (await listSealed()).find((entry) => JSON.stringify(entry.place) === JSON.stringify(place))!.sealed
const adopt = (secretKey = key) =>
  inTransaction(bench.test.deps.db, (trx) => adoptKey(trx, createSealer(secretKey), new Date()))
/** Rotates the key as the command does, while the node runs. */
async function rotate(keys = { previous: key, next: nextKey }): ReturnType<typeof rotateKey> {
  const { db } = openDatabase({ url: bench.test.databaseUrl, onError: () => {} })
  useRecordKey(db, createRecordKey(keys.next))
  try {
    return await inTransaction(db, (trx) => rotateKey(trx, keys, { operator: 'root', now: new Date() }))
  } finally {
    await db.destroy()
  }
}

/** Creates a value in each sealed column. Returns the id of the approval request for the waiting change of a secret. */
async function fill(): Promise<string> {
  const { admin } = bench.vault
  expect(
    (await admin.patch(bench.url, { walletWebhookSecret: `whsec_${randomBytes(32).toString('base64')}` })).status,
  ).toBe(200)
  const invited = await admin.post('/invitations', { email: 'new@example.org', groupIds: [bench.membersId] })
  expect(invited.status).toBe(201)
  await bench.test.deps.db
    .updateTable('users')
    .set({ is_platform_admin: true })
    .where('id', '=', admin.userId)
    .execute()
  const provider = await admin.post('/identity-providers', {
    name: 'Corp',
    issuer: 'https://id.example.org',
    clientId: 'strongroom',
    clientSecret: 'a-secret-of-the-client',
    domains: ['example.org'],
  })
  expect(provider.status).toBe(201)
  await bench.govern({ threshold: 1 })
  const waiting = await admin.patch(
    bench.url,
    { walletServiceSecret: 'a-secret-that-waits-for-votes' },
    { 'idempotency-key': 'asked-once' },
  )
  expect(waiting.status).toBe(202)
  return waiting.body.request.id
}

describe('T60 a sealed secret', () => {
  let requestId: string
  beforeAll(async () => {
    requestId = await fill()
  })

  it('T60 opens in its row and its column only, under its key only, and unchanged only', async () => {
    const { sealer } = bench.test.deps
    const all = await listSealed()
    expect(new Set(all.map(({ place }) => `${place.table} ${place.column}`)).size).toBe(sealedColumns.length)
    for (const { place, sealed } of all) {
      expect(sealer.open(place, sealed)).not.toBe('')
      for (const elsewhere of all) {
        if (elsewhere.place !== place) expect(() => sealer.open(elsewhere.place, sealed)).toThrow(SealError)
      }
      expect(() => createSealer(nextKey).open(place, sealed)).toThrow('is sealed under another key')
      for (const at of [0, 1, 9, 17, 29, sealed.length - 1]) {
        const changed = Buffer.from(sealed)
        changed[at]! ^= 1
        expect(() => sealer.open(place, changed)).toThrow(SealError)
      }
    }
  })

  it('T60 of one vault that is copied to another is never sent', async () => {
    const mine = await sealedAt(secretOf(other.id))
    await write(secretOf(other.id), await sealedAt(secretOf(bench.vault.id)))
    await expect(walletOfVault(bench.test.deps, other.id)).rejects.toThrow('Nothing is sent to it')
    await write(secretOf(other.id), mine)
    await walletOfVault(bench.test.deps, other.id)
  })

  it('T60 of an earlier version is sealed again once, and nothing is lost or looks changed', async () => {
    const { sealer, db } = bench.test.deps
    const before = await listSealed()
    const plain = before.map(({ place, sealed }) => sealer.open(place, sealed))
    for (const [i, { place }] of before.entries()) {
      // Before migration 0053 a change set had its secrets without their fingerprints.
      const text =
        place.table !== 'change_sets'
          ? plain[i]!
          : JSON.stringify(
              Object.fromEntries(
                Object.entries(JSON.parse(plain[i]!) as Record<string, { secret: string }>).map(([at, { secret }]) => [
                  at,
                  secret,
                ]),
              ),
            )
      await write(place, sealOld(key, text, place.table === 'vaults' ? 2 : 0))
    }
    await bench.sql('delete from sealing_key')
    const fingerprints = await bench.sql(
      `select left(encode(sha256(wallet_service_secret), 'hex'), 16) as "ofSecret" from vaults where id = $1`,
      [bench.vault.id],
    )
    expect(await adopt()).toEqual({ resealed: before.length, unreadable: [] })
    expect((await listSealed()).map(({ place, sealed }) => sealer.open(place, sealed))).toEqual(plain)
    expect((await readRules(db, bench.vault.id)).wallet.secretFingerprint).toBe(fingerprints[0]!.ofSecret)
    expect(await adopt()).toEqual({ resealed: 0, unreadable: [] })
    const records = await bench.sql(
      `select content::json->'details' as details from audit_records where action = 'secrets.bound'`,
    )
    expect(records).toEqual([{ details: expect.objectContaining({ resealed: before.length }) }])
    // The audit records of this test have marks of the present format, which differ from those of the old format.
    for (const { place, sealed } of before) await write(place, sealed)
  })

  it('T60 in the old format is refused, by the service and at its next start', async () => {
    const { sealer, db } = bench.test.deps
    const place = secretOf(other.id)
    const kept = await sealedAt(place)
    const old = sealOld(key, 'the secret of another vault')
    await expect(
      db.updateTable('vaults').set({ wallet_service_secret: old }).where('id', '=', other.id).execute(),
    ).rejects.toThrow('sealed under another key')
    await write(place, old)
    await expect(walletOfVault(bench.test.deps, other.id)).rejects.toThrow('Nothing is sent to it')
    expect(() => sealer.open(place, old)).toThrow('not sealed in the present format')
    const likePresent = sealOld(key, 'the secret of another vault', 3)
    await write(place, likePresent)
    await expect(walletOfVault(bench.test.deps, other.id)).rejects.toThrow('Nothing is sent to it')
    expect(() => sealer.open(place, likePresent)).toThrow('is sealed under another key')
    expect(await adopt()).toEqual({ resealed: 0, unreadable: [] })
    await expect(db.deleteFrom('sealing_key').execute()).rejects.toThrow('permission denied')
    // If the owner removes the row that says that the work is done, values of the present format stop a second run.
    await bench.sql('delete from sealing_key')
    await expect(adopt()).rejects.toThrow('nothing of the old format is accepted')
    await bench.sql('insert into sealing_key (key_id, format, sealed_at) values ($1, 3, now())', [sealer.keyId])
    await write(place, kept)
  })

  it('T60 of the format before is sealed again for its destination once, and every record of before gets its MAC', async () => {
    const { sealer, db } = bench.test.deps
    const before = await listSealed()
    const plain = before.map(({ place, sealed }) => sealer.open(place, sealed))
    await setBack()
    const replayed = await sealedAt(secretOf(bench.vault.id))
    expect(await adopt()).toEqual({ resealed: before.length, unreadable: [] })
    expect((await listSealed()).map(({ place, sealed }) => sealer.open(place, sealed))).toEqual(plain)
    expect((await listSealed()).map(({ sealed }) => markOf(sealed))).toEqual(before.map(({ sealed }) => markOf(sealed)))
    expect((await verifyAudit(db)).map(({ fault }) => fault)).toEqual([null, null, null])
    expect(await adopt()).toEqual({ resealed: 0, unreadable: [] })
    const replay = db.updateTable('vaults').set({ wallet_service_secret: replayed }).where('id', '=', bench.vault.id)
    await expect(replay.execute()).rejects.toThrow('sealed under another key')
    expect(() => sealer.open(secretOf(bench.vault.id), replayed)).toThrow('not sealed in the present format')
    await expect(db.updateTable('sealing_key').set({ format: 2 }).execute()).rejects.toThrow('never goes back')
  })

  it('T60 of the previous format is not sealed again for an unrecorded wallet service', async () => {
    const point = (url: string) => bench.sql('update vaults set wallet_service_url = $2 where id = $1', [other.id, url])
    await setBack()
    await point('http://listener.example.org')
    const { unreadable } = await adopt()
    expect(unreadable).toEqual([expect.objectContaining({ table: 'vaults', row: [other.id] })])
    await expect(walletOfVault(bench.test.deps, other.id)).rejects.toThrow('Nothing is sent to it')
    await point(other.wallet.url)
    await expect(walletOfVault(bench.test.deps, other.id)).rejects.toThrow('not for its URL')
    const { status } = await other.admin.patch('/vaults/other-vault', { walletServiceSecret: other.wallet.secret })
    expect(status).toBe(200)
    await walletOfVault(bench.test.deps, other.id)
  })

  it('T60 is sealed again under another key, and a node that has the previous one fails closed', async () => {
    const { sealer } = bench.test.deps
    const before = await listSealed()
    const [versions] = await bench.sql('select count(*)::int from rules_versions')
    await expect(rotate({ previous: 'not the key of this database at all', next: nextKey })).rejects.toThrow(
      'The previous key is not the key',
    )
    await bench.sql(
      `insert into audit_records (chain, id, action, target_type, created_at, content, hash, mac)
       select 'platform', 'forged', 'user.enabled', 'user', now(), '{}', sha256('{}'), key_id || sha256('x') from sealing_key`,
    )
    expect(await rotate()).toEqual({ resealed: before.length, unreadable: [] })
    expect(await rotate()).toBeNull()
    const next = createSealer(nextKey)
    for (const { place, sealed } of await listSealed()) {
      const was = before.find((entry) => JSON.stringify(entry.place) === JSON.stringify(place))!.sealed
      expect(next.open(place, sealed)).toBe(sealer.open(place, was))
      expect(markOf(sealed)).toEqual(markOf(was))
      expect(() => sealer.open(place, sealed)).toThrow('is sealed under another key')
    }
    // No other node could read what this node seals, so that it writes neither the effect nor the answer.
    const { admin } = bench.vault
    const group = { code: 'too-late', name: 'Too late' }
    const refused = await admin.post(`${bench.url}/policy-groups`, group, { 'idempotency-key': 'too-late' })
    expect(refused.status).toBe(500)
    expect(await bench.sql(`select from policy_groups where code = 'too-late'`)).toEqual([])
    await expect(walletOfVault(bench.test.deps, bench.vault.id)).rejects.toThrow('Nothing is sent to it')
    await expect(adopt()).rejects.toThrow('STRONGROOM_SECRET_KEY is not the key')

    // The node has the new key, as after its next start.
    bench.test.deps.sealer = next
    useRecordKey(bench.test.deps.db, createRecordKey(nextKey))
    // The rotation does not make a forged record genuine.
    expect((await verifyAudit(bench.test.deps.db)).flatMap(({ forged }) => forged)).toEqual(['forged'])
    await bench.sql(`alter table audit_records disable trigger user; delete from audit_records where id = 'forged';
      alter table audit_records enable trigger user`)
    expect((await verifyAudit(bench.test.deps.db)).map(({ fault }) => fault)).toEqual([null, null, null])
    expect(await adopt(nextKey)).toEqual({ resealed: 0, unreadable: [] })
    await walletOfVault(bench.test.deps, bench.vault.id)
    expect(await bench.sql('select count(*)::int from rules_versions')).toEqual([versions])
    // The waiting request is applied, although its votes are bound to a fingerprint of the previous key.
    const done = await bench.approve(bench.admins[1]!, requestId)
    expect(done.body.status, JSON.stringify(done.body)).toBe('applied')
    const [row] = await bench.sql('select wallet_service_secret as sealed from vaults where id = $1', [bench.vault.id])
    const home = { id: bench.vault.id, wallet_service_url: bench.vault.wallet.url }
    const secret = openSecret(next, home, 'wallet_service_secret', row!.sealed as Buffer)
    expect(secret).toBe('a-secret-that-waits-for-votes')
  })

  it('T60 that opens under no key is named and left alone, and does not stop the others', async () => {
    const place = secretOf(other.id)
    const planted = createSealer('whatever key somebody else may have').seal(place, 'planted')
    await write(place, planted)
    const outcome = await rotate({ previous: nextKey, next: key })
    const { destination, ...row } = place
    expect(destination).toBeDefined()
    expect(outcome?.unreadable).toEqual([expect.objectContaining(row)])
    expect(await sealedAt(place)).toEqual(planted)
  })
})

describe('every column of bytes', () => {
  /** Columns without secrets: digests that are only compared, public keys, signatures, and content that the API returns. */
  const open = [
    'approval_requests.payload_hash',
    'audit_records.hash',
    'audit_records.mac',
    'audit_seals.hash',
    'audit_seals.previous_hash',
    'audit_seals.public_key',
    'audit_seals.root',
    'audit_seals.signature',
    'directories.previous_token_hash',
    'directories.token_hash',
    'idempotency_keys.fingerprint',
    'identity_links.binding_hash',
    'identity_links.token_hash',
    'images.content',
    'invitations.token_hash',
    'known_devices.device_hash',
    'ledger_seals.hash',
    'ledger_seals.previous_hash',
    'ledger_seals.public_key',
    'ledger_seals.root',
    'ledger_seals.signature',
    'magic_links.binding_hash',
    'magic_links.code_hash',
    'magic_links.token_hash',
    'passkeys.credential_id',
    'passkeys.public_key',
    'payouts.payload_hash',
    'report_export_chunks.bytes',
    'rules_versions.hash',
    'sealing_key.key_id',
    'service_keys.public_key',
    'service_tokens.token_hash',
    'sessions.device_hash',
    'sessions.token_hash',
    'sign_in_attempts.email_hash',
    'signed_votes.public_key',
    'transfers.payload_hash',
    'used_passkey_challenges.challenge_hash',
    'used_provider_answers.answer_hash',
  ]

  it('T60 is sealed, and says where it goes, or is not a secret', async () => {
    const rows = await bench.sql(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and data_type = 'bytea'`,
    )
    const sealedNames = sealedColumns.map(({ table, column }) => `${table}.${column}`)
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...open, ...sealedNames].toSorted())
    for (const { goesTo } of sealedColumns) expect(goesTo).not.toBe('')
  })

  it('T60 is sealed for an origin where a row says which service gets it', async () => {
    const rows = await bench.sql(
      `select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and column_name ~ '(^|_)(url|uri|origin|endpoint|host|target)$'`,
    )
    // Columns to whose URLs the service sends no secret of their row.
    const shown = ['logo_uri', 'avatar_uri', 'explorer_address_url', 'explorer_tx_url', 'origin', 'target']
    const destinations = rows.filter(({ column }) => !shown.includes(column as string))
    expect(destinations).toEqual([{ table: 'vaults', column: 'wallet_service_url' }])
    const ofVaults = sealedColumns.filter(({ table }) => table === 'vaults')
    expect(ofVaults.map(({ destination }) => destination === undefined)).toEqual([false, false])
  })

  it('T60 and every secret of the settings goes where the settings say', () => {
    const secrets = settings.filter(({ isSecret }) => isSecret).map(({ name }) => name)
    const destinations: Record<string, string> = {
      DATABASE_URL: 'the host that it names',
      DATABASE_OWNER_URL: 'the host that it names',
      REPORTS_DATABASE_URL: 'the host that it names',
      STRONGROOM_SECRET_KEY: 'nobody',
      STRONGROOM_SECRET_KEY_PREVIOUS: 'nobody',
      SMTP_URL: 'the host that it names',
      WALLET_WEBHOOK_SECRET: 'nobody: it verifies',
      SCREENING_SECRET: 'nobody: it signs what goes to SCREENING_URL',
      WITNESS_SECRET: 'nobody: it signs what goes to WITNESSES',
      METRICS_TOKEN: 'nobody: it is compared',
    }
    expect(secrets.toSorted()).toEqual(Object.keys(destinations).toSorted())
  })

  it('T60 of a change set is not applied for a wallet service that it was not given for', async () => {
    const { db, sealer } = bench.test.deps
    const changes = [
      { action: 'vault_update', targetId: null, payload: { walletServiceSecret: 'given-for-the-first' } },
    ]
    const point = (url: string) => bench.sql('update vaults set wallet_service_url = $2 where id = $1', [other.id, url])
    const hidden = await inTransaction(db, (trx) =>
      hideSecrets(trx, sealer, other.id, { id: 'c1', changes: changes as never }),
    )
    await point('http://listener.example.org')
    await expect(inTransaction(db, (trx) => revealSecrets(trx, sealer, other.id, hidden))).rejects.toThrow(
      'given for another wallet service',
    )
    await point(other.wallet.url)
    expect(await inTransaction(db, (trx) => revealSecrets(trx, sealer, other.id, hidden))).toEqual(changes)
  })
})

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../db/client.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { createSealKey } from '../lib/seal-key.ts'
import { createSealer, sha256 } from '../lib/secrets.ts'
import { stateHeads } from '../modules/record/witnesses/heads.ts'
import { buildProject } from '../testing/build-project.ts'
import { bundledProgram } from '../testing/bundled-program.ts'
import { createTestDatabase } from '../testing/database.ts'
import { copyEmptyCluster } from '../testing/empty-cluster.ts'
import { startSmtpServer } from '../testing/smtp-server.ts'

/** The installed program. Most tests start a bundle of its code, because a start of the program itself takes a second. */
const installed = fileURLToPath(new URL('../../bin/strongroom.js', import.meta.url))
let program: string
const unreachable = 'postgresql://app:hunter2hunter2@127.0.0.1:1/none'

let database: { url: string; drop(): Promise<void> }
let dataDir: string
let running: ChildProcess | null = null
let url: string

// The tests run the compiled program, as operators do.
beforeAll(async () => {
  buildProject('build:server')
  program = await bundledProgram('server/dist/cli/cli.js')
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'strongroom-cli-'))
})
afterAll(async () => {
  running?.kill('SIGKILL')
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

describe('strongroom --version', () => {
  it('prints the version of the package, without a database', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    const { code, out } = await run(['--version'], { DATABASE_URL: unreachable }, installed)
    expect([code, out]).toEqual([0, `${version}\n`])
  })
})

describe('strongroom start', () => {
  it('serves on a free port, sends its parent the URL, and makes the first administrator', async () => {
    const env = { DEMO: 'true', PORT: '0', STRONGROOM_ADMIN_EMAIL: 'first@example.org', LOG_LEVEL: 'silent' }
    running = spawn(process.execPath, [installed, 'start'], {
      env: environment(env),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ready = await new Promise<{ type: string; url: string }>((resolve, reject) => {
      running?.once('message', (message) => resolve(message as never))
      running?.once('exit', (code) => reject(new Error(`ended with ${code}`)))
    })
    expect(ready).toEqual({ type: 'ready', url: expect.stringMatching(/^http:\/\/localhost:[1-9]\d+$/) })
    url = ready.url
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await query('select email from users where is_platform_admin')).toEqual([{ email: 'first@example.org' }])
  })

  it('names every fault of the settings and ends with 1', async () => {
    const result = await run(['start'], { DATABASE_URL: database.url, PORT: 'x' })
    expect(result.code).toBe(1)
    expect(result.err).toContain('PORT must be a whole number')
    expect(result.err).toContain('STRONGROOM_SECRET_KEY is required outside demo mode')
    expect(result.err).not.toMatch(/\n\s+at /)
  })

  it('reports in one line that the database cannot be reached, without its password', async () => {
    const result = await run(['start'], { DEMO: 'true', DATABASE_URL: unreachable, DATABASE_WAIT_SECONDS: '0' })
    expect(result).toEqual({ code: 1, out: '', err: expect.stringMatching(/^The database cannot be reached[^\n]*\n$/) })
    expect(result.err).not.toContain('hunter2')
  })

  it('T54 reports in one line that its embedded database is gone, ends with 1, and starts again with all commits', async () => {
    const embeddedDir = join(dataDir, 'embedded')
    copyEmptyCluster(embeddedDir)
    const start = async () => {
      const env = environment({ DEMO: 'true', PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL: '', DATA_DIR: embeddedDir })
      const node = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
      let output = ''
      node.stderr?.on('data', (text) => {
        output += text
      })
      const ended = new Promise<number | null>((resolve) => node.once('exit', resolve))
      const ready = new Promise<void>((resolve, reject) => {
        node.once('message', () => resolve())
        void ended.then((code) => reject(new Error(`ended with ${code}: ${output}`)))
      })
      await ready
      return { node, ended, errorOutput: () => output }
    }
    const first = await start()
    const postmaster = Number((await readFile(join(embeddedDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(postmaster, 'SIGKILL')
    expect(await first.ended).toBe(1)
    expect(first.errorOutput()).toMatch(/^The embedded PostgreSQL has ended, and Strongroom ends with it[^\n]*\n$/)

    const second = await start()
    second.node.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    expect(second.errorOutput()).toBe('')
  })

  it('reports that its port is taken', async () => {
    const result = await run(['start'], { DEMO: 'true', PORT: new URL(url).port, LOG_LEVEL: 'silent' })
    expect(result.code).toBe(1)
    expect(result.err).toContain('its port is in use')
  })
})

describe('strongroom doctor --mail', () => {
  it('sends one mail as a node does, and prints the server that accepted it', async () => {
    const smtp = await startSmtpServer()
    const MAIL_FROM = 'Vault <vault@example.org>'
    const to = ['doctor', '--mail', 'Operator@Example.org']
    const result = await run(to, { SMTP_URL: smtp.url, MAIL_FROM })
    expect(result).toEqual({
      code: 0,
      out: `A mail from ${MAIL_FROM} to operator@example.org was handed to ${new URL(smtp.url).host}.\n`,
      err: '',
    })
    expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['operator@example.org']])
    smtp.refusals.push(550)
    const refused = await run(to, { SMTP_URL: smtp.url, MAIL_FROM })
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(/^strongroom: The mail was not taken by 127\.0\.0\.1:\d+: [^\n]*550[^\n]*\n$/)
    await smtp.close()
  })

  it('names the settings that are missing', async () => {
    const { code, err } = await run(['doctor', '--mail', 'operator@example.org'])
    expect(code).toBe(2)
    expect(err).toContain('SMTP_URL is required outside demo mode')
    expect(err).toContain('MAIL_FROM is required outside demo mode')
  })
})

describe('commands beside a running server', () => {
  it('add a platform administrator and print a sign-in link', async () => {
    const result = await run(['admin', 'add', 'Second@Example.org'], { PUBLIC_URL: url })
    expect(result.code).toBe(0)
    expect(result.out).toContain('second@example.org is a platform administrator.')
    expect(result.out).toMatch(new RegExp(`^${url}/\\S+token=\\S+$`, 'm'))
    const again = await run(['admin', 'add', 'second@example.org'])
    expect(again.code).toBe(0)
    expect(await query("select count(*)::integer from users where email = 'second@example.org'")).toEqual([
      { count: 1 },
    ])
  })

  it('print a link with the origin at which the service of the data directory listens', async () => {
    const { out } = await run(['admin', 'link', 'second@example.org'], { PORT: '8421' })
    expect(new URL(out.trim()).origin).toBe(url)
    const other = await run(['admin', 'link', 'second@example.org'], { PUBLIC_URL: 'https://vault.example.org' })
    expect(new URL(other.out.trim()).origin).toBe('https://vault.example.org')
    const record = join(dataDir, 'service.json')
    const written = await readFile(record, 'utf8')
    // After a crash the file names an origin at which nothing listens.
    await writeFile(record, JSON.stringify({ origin: 'http://127.0.0.1:1' }))
    const fallback = await run(['admin', 'link', 'second@example.org'], { PORT: '8421' })
    expect(new URL(fallback.out.trim()).origin).toBe('http://localhost:8421')
    await writeFile(record, written)
  })

  it('T62 print a new link, only for a person who may sign in, record it and notify the person by mail', async () => {
    expect((await run(['admin', 'link', 'second@example.org'])).code).toBe(0)
    expect(
      await query(
        "select content::jsonb -> 'details' ->> 'operator' as operator from audit_records where action = " +
          "'operator.sign_in_link_created' order by id desc limit 1",
      ),
    ).toEqual([{ operator: userInfo().username }])
    // The running server sends the mails: one for each link that was made.
    const mails = () => readdir(join(dataDir, 'outbox')).catch(() => [])
    await expect.poll(async () => (await mails()).filter((name) => name.endsWith('.eml')).length).toBe(6)
    const result = await run(['admin', 'link', 'nobody@example.org'])
    expect(result).toEqual({ code: 2, out: '', err: 'strongroom: User not found\n' })
  })

  it('disable a person, print their service tokens and invitations, and enable them again, on the record', async () => {
    const disable = (email: string) => run(['admin', 'disable', email, '--reason', 'Left the company'])
    expect((await run(['admin', 'add', 'third@example.org'])).code).toBe(0)
    const done = await disable('Second@example.org')
    expect([done.code, done.out, done.err]).toEqual([0, 'second@example.org is disabled.\n', ''])
    expect((await disable('second@example.org')).err).toBe('strongroom: The user is already disabled\n')
    expect((await disable('nobody@example.org')).err).toBe('strongroom: User not found\n')
    expect((await run(['admin', 'disable', 'second@example.org'])).code).toBe(2)
    expect((await run(['admin', 'link', 'second@example.org'])).code).toBe(2)
    expect((await run(['admin', 'enable', 'second@example.org', '--reason', 'Came back'])).code).toBe(0)
    expect(
      await query(
        "select action, content::jsonb -> 'details' ->> 'operator' as operator from audit_records where action in " +
          "('user.disabled', 'user.enabled') order by id",
      ),
    ).toEqual(['user.disabled', 'user.enabled'].map((action) => ({ action, operator: userInfo().username })))
  })

  it('remove the passkeys of a person who lost them, on the record', async () => {
    await query(
      'insert into passkeys (id, user_id, credential_id, public_key, signatures, transports, is_synced, name, created_at) ' +
        "select 'k1', id, 'credential', 'key', 0, '{}', false, 'Phone', now() from users where email = 'second@example.org' returning id",
    )
    const remove = (email: string) => run(['admin', 'remove-passkeys', email, '--reason', 'The phone was lost'])
    const { code, out } = await remove('Second@example.org')
    expect([code, out]).toEqual([
      0,
      'Passkeys of second@example.org that were removed: 1. In a protected vault, a second person accepts the next one.\n',
    ])
    expect((await remove('nobody@example.org')).err).toBe('strongroom: User not found\n')
    expect(
      await query(
        "select content::jsonb -> 'details' ->> 'reason' as reason from audit_records where action = 'passkey.removed'",
      ),
    ).toEqual([{ reason: 'The phone was lost' }])
    expect(await query('select id from passkeys')).toEqual([])
  })

  it('let a person add a first passkey without a second person, on the record', async () => {
    const allow = (email: string) => run(['admin', 'allow-passkey', email, '--reason', 'Nobody else has one'])
    const { code, out } = await allow('Second@example.org')
    const line = 'second@example.org may add a first passkey within 60 minutes, without a second person.\n'
    expect([code, out]).toEqual([0, line])
    expect((await allow('nobody@example.org')).err).toBe('strongroom: User not found\n')
    const action = 'passkey.allowed'
    expect(
      await query(
        `select content::jsonb -> 'details' ->> 'reason' as reason from audit_records where action = '${action}'`,
      ),
    ).toEqual([{ reason: 'Nobody else has one' }])
  })

  it('name the checks that need an operator, and end with 1 when a check is red', async () => {
    const well = await run(['doctor'])
    expect([well.code, well.err]).toEqual([0, ''])
    expect(well.out).toContain('ok   The database answers\n')
    expect(well.out).not.toContain('RED')
    // The tests log in as the owner. That is a warning, with which the command still exits 0.
    expect(well.out).toContain('WARN The service logs in as a role that owns nothing\n')
    await query(
      "insert into wallet_events (id, received_at, body, outcome) values ('q', now(), '{}', 'quarantined') returning id",
    )
    const ill = await run(['doctor'])
    expect(ill.code).toBe(1)
    expect(ill.out).toContain(
      'RED  No wallet event is quarantined\n     outcome quarantined, strongroom_wallet_events 1\n     Compare the event',
    )
    const { out } = await run(['doctor', '--json'])
    const red = JSON.parse(out).filter((finding: { red: unknown[] }) => finding.red.length > 0)
    expect(red.map(({ check }: { check: { severity: string } }) => check.severity)).toEqual(['critical', 'info'])
    await query("delete from wallet_events where id = 'q' returning id")
    expect((await run(['doctor', '--alerts'])).out).toBe(
      await readFile(new URL('../../../docs/alerts.yaml', import.meta.url), 'utf8'),
    )
  })

  it('verify the ledger', async () => {
    expect(await run(['ledger', 'verify'])).toMatchObject({ code: 0, out: expect.stringContaining('no difference') })
    const { out } = await run(['ledger', 'verify', '--json'])
    expect(JSON.parse(out)).toMatchObject({ differences: [], checked: { entries: 0 } })
  })

  it('T57 verify the rows on which decisions rest, and end with 1 when a row was forged', async () => {
    const sound = await run(['state', 'verify'])
    expect([sound.code, sound.out], sound.err).toEqual([0, expect.stringMatching(/0 differences\.\n$/)])
    await query(`insert into passkeys (id, user_id, credential_id, public_key, signatures, transports, is_synced, name, created_at)
      select 'forged', id, 'c', 'k', 0, '{}', false, 'Forged', now() from users limit 1`)
    const forged = await run(['state', 'verify'])
    expect(forged.code).toBe(1)
    expect(forged.out).toContain('NOT AS RECORDED: passkey forged: no audit record gives it')
    const { differences } = JSON.parse((await run(['state', 'verify', '--json'])).out)
    expect(differences).toEqual([expect.objectContaining({ targetType: 'passkey', targetId: 'forged' })])
    await query(`delete from passkeys where id = 'forged'`)
  })

  it('verify the record, print its heads, and end with 1 when it was changed', async () => {
    // The running server seals within two seconds.
    await expect.poll(() => query('select 1 from audit_seals')).not.toEqual([])
    const sound = await run(['audit', 'verify'])
    expect(sound.code).toBe(0)
    expect(sound.out).toMatch(/^platform: \d+ records sealed, \d+ not yet sealed, seal \d+ [0-9a-f]{64}$/m)
    expect(sound.out).toContain(
      'Compared 0 transfers, 0 payouts and 0 approval requests with the record: no difference.',
    )
    expect(sound.out).toMatch(/^Signed by [0-9a-f]{32}\. No key of the node is known here/m)

    await query(
      `insert into transfers (vault_id, id, to_address, to_address_key, payload, payload_hash, decision, created_at)
       values ('v', 'never-ordered', 'x', 'x', '{}', '', '{}', now())`,
    )
    const forged = await run(['audit', 'verify'])
    expect(forged.code).toBe(1)
    expect(forged.out).toContain(
      'v: NOT AS RECORDED: transfer never-ordered: no audit record shows that it was requested',
    )
    await query("update audit_records set action = 'x' where seal_sequence = 1")
    const changed = await run(['audit', 'verify', '--json'])
    expect(changed.code).toBe(1)
    expect(JSON.parse(changed.out).chains[0].fault).toMatchObject({ kind: 'changed', sealSequence: 1 })
  })

  it('T77 compare the record with heads that were kept elsewhere, and with the keys that may have signed', async () => {
    const verify = (...options: string[]) => run(['audit', 'verify', ...options])
    await query("update audit_records set action = content::jsonb ->> 'action' where seal_sequence = 1")
    await query("delete from transfers where id = 'never-ordered'")
    const { out: heads } = await run(['audit', 'heads'])
    expect(heads).toMatch(/^platform: seal \d+ [0-9a-f]{64}\n$/)
    const file = join(dataDir, 'heads')
    await writeFile(file, heads)
    expect(await verify('--head', file)).toMatchObject({ code: 0, out: expect.stringContaining('all are there') })
    await writeFile(file, heads.replace(/seal \d+/, 'seal 99999'))
    expect(await verify('--head', file)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^platform: NOT AS WITNESSED: the witness keeps seal 99999 .*: it was cut short$/m),
    })
    await writeFile(file, 'no head')
    expect(await verify('--head', file)).toMatchObject({
      code: 2,
      err: expect.stringContaining('no head of the audit'),
    })

    const [{ key }] = (await query(
      "select left(encode(sha256(public_key), 'hex'), 32) as key from audit_seals limit 1",
    )) as [{ key: string }]
    expect((await verify('--key', key)).code).toBe(0)
    const strange = await verify('--key', '0'.repeat(32))
    expect(strange.code).toBe(1)
    expect(strange.out).toContain(`seal 1: it is signed by the key ${key}, which is not one of the node’s`)
    expect((await run(['ledger', 'verify', '--key', key])).code).toBe(0)
    expect(await run(['ledger', 'heads'])).toEqual({ code: 0, out: '', err: '' })
  })

  it('T59 compare the authorities that a witness keeps, and end with 1 when the service remembers an older version', async () => {
    await query(`insert into vaults (id, code, name, wallet_service_url, created_at, updated_at)
      values ('w', 'witnessed', 'Witnessed', 'http://127.0.0.1:1', now(), now())`)
    const remember = (version: number) =>
      query(`insert into authority_marks (vault_id, version, hash, seen_at) values ('w', ${version}, '${'a'.repeat(64)}', now())
        on conflict (vault_id) do update set version = excluded.version`)
    await remember(2)
    const { db, pool } = openDatabase({ url: database.url, onError: () => undefined })
    const sealKey = createSealKey('a key of the node')
    const kept = await stateHeads(db, { sealKey, origin: 'http://localhost:8420', now: new Date() })
    await pool.end()
    const file = join(dataDir, 'witnessed')
    await writeFile(file, JSON.stringify(kept))
    const verify = () => run(['audit', 'verify', '--head', file])
    expect((await verify()).code).toBe(0)
    await remember(1)
    expect(await verify()).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^w: NOT AS WITNESSED: the witness keeps version 2 .*: it went back$/m),
    })
    // The vault is not deleted, because the running server may be comparing its balances.
    await query("delete from authority_marks where vault_id = 'w'")
  })

  it('end with 2 when they cannot do their work', async () => {
    for (const args of [
      ['ledger', 'verify'],
      ['audit', 'verify'],
      ['admin', 'add', 'a@example.org'],
    ]) {
      const result = await run(args, { DATABASE_URL: unreachable })
      expect(result).toEqual({ code: 2, out: '', err: expect.stringMatching(/^strongroom: [^\n]+\n$/) })
    }
    expect((await run(['legder', 'verify'])).code).toBe(2)
    expect((await run(['wallet-conformance', '--nonsense'])).code).toBe(2)
    const noUrl = await run(['wallet-conformance'])
    expect(noUrl).toMatchObject({ code: 2, err: 'strongroom: The URL of the wallet service must be http or https\n' })
    expect((await run(['admin', 'add'])).code).toBe(2)
    expect((await run(['admin', 'add', 'nobody'])).code).toBe(2)
    const unknown = await run(['governance', 'reset', 'nowhere', '--reason', 'The quorum is lost'])
    expect(unknown).toMatchObject({ code: 2, err: 'strongroom: There is no vault "nowhere"\n' })
    const noHold = await run(['holds', 'release', 'nowhere', 'no-hold', '--reason', 'They called us'])
    expect(noHold).toMatchObject({ code: 2, err: 'strongroom: The vault "nowhere" has no hold "no-hold" in force\n' })
    expect((await run(['holds', 'release', 'nowhere', 'no-hold'])).code).toBe(2)
    const nowhere = await run(['ledger', 'verify'], { DATABASE_URL: '', DATA_DIR: join(dataDir, 'none') })
    expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('There is no database in') })
  })

  it('of `policy` end with 1 when they fail, because 2 means that rules differ', async () => {
    const missing = await run(['policy', 'plan', 'rules.yaml'], { STRONGROOM_URL: url, STRONGROOM_TOKEN: 'none' })
    expect(missing).toEqual({ code: 1, out: '', err: expect.stringMatching(/^strongroom: .*rules\.yaml[^\n]*\n$/) })
    expect((await run(['policy', 'plan'])).code).toBe(1)
    const refused = await run(['policy', 'export', 'main'], { STRONGROOM_URL: url, STRONGROOM_TOKEN: 'none' })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('was answered 401') })
    const away = { STRONGROOM_URL: 'http://127.0.0.1:1', STRONGROOM_TOKEN: 'none' }
    expect((await run(['policy', 'export', 'main'], away)).err).toMatch(
      /^strongroom: http:\/\/127\.0\.0\.1:1\S* cannot be reached/,
    )
  })

  it('of `evidence` check a file without a service, and end with 1 when a check fails', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const payload = { transferId: 'cmf0000000000000000000000', amount: '1000' }
    const payloadHash = sha256(canonicalJson(payload)).toString('hex')
    const vote = {
      ...{ format: 'strongroom-vote-1', subject: 'approval_request' },
      hash: payloadHash,
      decision: 'approve',
      person: 'p1',
    }
    const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
    const spki = publicKey.export({ format: 'der', type: 'spki' })
    const signedVote = { signed: { vote, keyId: 'k1', signature }, publicKey: spki.toString('base64url') }
    const evidence = { boundPayload: payload, payloadHash, signedVotes: [{ ...signedVote, rpId: null, origin: null }] }
    const file = join(dataDir, 'evidence.json')
    const verify = async (content: object, ...more: string[]) => {
      await writeFile(file, JSON.stringify(content))
      const { code, out } = await run(['evidence', 'verify', file, ...more])
      return [code, out.split('\n').map((line) => line.slice(0, 4))]
    }
    expect(await verify(evidence)).toEqual([0, ['ok  ', 'ok  ', '']])
    expect(await verify(evidence, '--key', sha256(spki).toString('hex'))).toEqual([0, ['ok  ', 'ok  ', '']])
    expect(await verify(evidence, '--key', '0'.repeat(64))).toEqual([1, ['ok  ', 'FAIL', '']])
    const altered = { ...evidence, boundPayload: { ...payload, amount: '9000' } }
    expect(await verify(altered)).toEqual([1, ['FAIL', 'ok  ', '']])
    // Outside of protected vaults nothing is signed: the check succeeds, and the command prints that no key proves a vote.
    expect(await verify({ boundPayload: payload, payloadHash })).toEqual([0, ['ok  ', 'none', '']])
    expect(await verify({ boundPayload: altered.boundPayload, payloadHash })).toEqual([1, ['FAIL', 'none', '']])
    expect(await verify({ payload, payloadHash })).toEqual([2, ['']])
  })

  it('of `evidence` do not report a change of the rules as proved if its payload has no hash of the differences', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const spki = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
    const file = join(dataDir, 'request.json')
    const verify = async (payload: object, decision: string) => {
      const steps = [{ step: { action: 'rules_change', targetId: 'set', payload } }]
      const boundPayload = { requestId: 'r', vaultId: 'v', initiatorId: 'p', action: 'rules_change', steps }
      const payloadHash = sha256(canonicalJson(boundPayload)).toString('hex')
      const about = { subject: 'approval_request', hash: payloadHash, decision }
      const vote = { format: 'strongroom-vote-1', ...about, person: 'p1' }
      const signature = sign(null, Buffer.from(canonicalJson(vote)), privateKey).toString('base64url')
      const signed = { vote, keyId: 'k1', signature }
      const signedVotes = [{ signed, publicKey: spki, rpId: null, origin: null }]
      await writeFile(file, JSON.stringify({ boundPayload, payloadHash, signedVotes }))
      const { code, out } = await run(['evidence', 'verify', file])
      return { code, lines: out.split('\n').filter((line) => line !== '') }
    }
    const unbound = expect.stringMatching(/^open differencesHash; .* does not prove which differences its voters saw$/)
    const vote = (state: string, decision: string) =>
      expect.stringMatching(new RegExp(`^${state.padEnd(4)} ${decision} by p1 with the key`))
    const rules = { title: 'Night', changes: [], direction: 'loosening', baseVersion: 4 }
    const hashed = { ...rules, differencesHash: 'ab'.repeat(32) }
    expect(await verify(hashed, 'approve')).toEqual({ code: 0, lines: ['ok   payloadHash', vote('ok', 'approve')] })
    const old = { code: 0, lines: ['ok   payloadHash', unbound, vote('open', 'approve')] }
    expect(await verify(rules, 'approve')).toEqual(old)
    expect((await verify(rules, 'reject')).lines).toEqual(['ok   payloadHash', unbound, vote('ok', 'reject')])
  })

  it('list the settings and hide secrets', async () => {
    const result = await run(['config'], { SMTP_URL: 'smtp://u:hunter2hunter2@localhost' })
    expect(result.code).toBe(0)
    expect(result.out).toContain('APPROVAL_TTL_HOURS\n')
    expect(result.out).toContain('default: 72; now: not set')
    expect(result.out).not.toContain('hunter2')
  })

  it('of `migrate` change nothing in a database that is up to date', async () => {
    expect(await run(['migrate'])).toEqual({ code: 0, out: 'The database is up to date.\n', err: '' })
  })
})

describe('strongroom start, after a signal to stop', () => {
  it('stops its tasks and ends with 0', async () => {
    const ended = new Promise((resolve) => running?.once('exit', resolve))
    running?.kill('SIGTERM')
    // A node that does not stop within ten seconds ends itself with 1.
    expect(await ended).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    running = null
  })
})

describe('strongroom secrets rotate', () => {
  const next = randomBytes(32).toString('base64')
  const destination = 'https://wallet.example.org'
  const place = { table: 'vaults', column: 'wallet_service_secret', row: ['v1'], destination }
  const readSealed = async () => {
    const [row] = await query(`select wallet_service_secret as sealed from vaults where id = 'v1'`)
    return (row as { sealed: Buffer }).sealed
  }
  const firstLineOfStart = async (env: Record<string, string>) => {
    const settings = environment({ DEMO: 'true', PORT: '0', LOG_LEVEL: 'silent', ...env })
    const node = spawn(process.execPath, [program, 'start'], {
      env: settings,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let err = ''
    node.stderr?.on('data', (text) => {
      err += text
    })
    const outcome = await new Promise<string>((resolve) => {
      node.once('message', () => resolve('ready'))
      node.once('exit', (code) => resolve(`ended with ${code}: ${err}`))
    })
    if (outcome === 'ready') {
      node.kill('SIGTERM')
      await new Promise((resolve) => node.once('exit', resolve))
    }
    return outcome
  }

  it('T60 seals everything under the new key, and no node starts with the previous key', async () => {
    const file = join(dataDir, 'secret-key')
    const previous = createSealer((await readFile(file, 'utf8')).trim())
    const sealed = previous.seal(place, 'a-bearer-secret').toString('hex')
    await query(`insert into vaults (id, code, name, wallet_service_url, wallet_service_secret, created_at, updated_at)
      values ('v1', 'v1', 'V', 'https://wallet.example.org', '\\x${sealed}', now(), now())`)

    for (const [env, args, fault] of [
      [{}, ['--previous-file', file], 'STRONGROOM_SECRET_KEY is required: the new key'],
      [{ STRONGROOM_SECRET_KEY: next }, [], 'STRONGROOM_SECRET_KEY_PREVIOUS (or --previous-file) is required'],
      [{ STRONGROOM_SECRET_KEY: 'x'.repeat(40) }, ['--previous-file', file], 'STRONGROOM_SECRET_KEY'],
      [
        { STRONGROOM_SECRET_KEY: next, STRONGROOM_SECRET_KEY_PREVIOUS: next },
        [],
        'is the previous key; make a new one',
      ],
      [
        { STRONGROOM_SECRET_KEY: next, STRONGROOM_SECRET_KEY_PREVIOUS: randomBytes(32).toString('base64') },
        [],
        'The previous key is not the key',
      ],
    ] as [Record<string, string>, string[], string][]) {
      const refused = await run(['secrets', 'rotate', ...args], env)
      expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining(fault) })
    }
    expect(await readSealed()).toEqual(Buffer.from(sealed, 'hex'))

    const rotate = () => run(['secrets', 'rotate', '--previous-file', file], { STRONGROOM_SECRET_KEY: next })
    expect(await rotate()).toMatchObject({ code: 0, out: expect.stringMatching(/^Sealed 1 secrets under the new key/) })
    expect(await rotate()).toMatchObject({ code: 0, out: 'The database is already sealed under this key.\n' })
    expect(createSealer(next).open(place, await readSealed())).toBe('a-bearer-secret')

    expect(await firstLineOfStart({})).toMatch(/^ended with 1: STRONGROOM_SECRET_KEY is not the key[^\n]*\n$/)
    expect(await firstLineOfStart({ STRONGROOM_SECRET_KEY: next })).toBe('ready')
    expect(await query(`select from audit_records where action = 'secrets.rotated'`)).toHaveLength(1)
  })
})

function environment(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, DATA_DIR: dataDir, ...env }
}

type Result = { code: number; out: string; err: string }

function run(args: string[], env: Record<string, string> = {}, started = program): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [started, ...args], { env: environment(env) }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}

async function query(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ArchiveOptions, reportOnArchive } from '../../../cli/verify-archive.ts'
import { checkSealLine } from '../../../cli/verify-evidence.ts'
import { createSealKey } from '../../../lib/seal-key.ts'
import { sha256 } from '../../../lib/secrets.ts'
import type { Person } from '../../../testing/app.ts'
import { buildProject } from '../../../testing/build-project.ts'
import { fakeAddress } from '../../../testing/fake-wallet.ts'
import { addMember } from '../../../testing/fixtures.ts'
import { readCsv, readPdf } from '../../../testing/read-files.ts'
import { createTransferBench, type TransferBench } from '../../../testing/transfer-bench.ts'
import { sealLedgerEntries } from '../../money/ledger/ledger-seals.ts'
import { sealAuditRecords } from '../../record/audit/audit-seals.ts'
import { genesisHash, hashSeal } from '../../record/seals/seal-content.ts'
import { headLine } from '../../record/witnesses/heads.ts'
import { runDueExports } from '../exports/due-exports.ts'
import { findRequester } from '../exports/queries.ts'
import { createArchive } from '../spreadsheets/archive.ts'
import { makeArchive } from './make-archive.ts'
import { manifestName, type Signer, signerOf, sumsName, writeManifest } from './manifest.ts'

let bench: TransferBench
let auditor: Person
let folder: string
/** The archive of a period that has ended, with two transfers and a payout, and the time of its order. */
let archive: Buffer
let ordinary: string
let addressId: string
let from: string
let to: string

/** Names as long as people give them, with letters that no file name should have. */
const vaultName = 'Treuhänderische Verwahrung „Größe & Söhne“ der Musterhaus-Holding KGaA'
const label = 'Betriebskonto für Löhne, Gehälter & Spesen =SUM(A1) /../ Außenstelle 7'

const base = '/vaults/main-vault'

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-archive-'))
  bench = await createTransferBench()
  const { test } = bench
  auditor = await addMember(test, bench.vault, 'auditor@example.org', ['auditors'])
  from = new Date(test.clock.now().getTime() - 1_000).toISOString()
  const address = await bench.fundedAddress({ usdt: '1000', eth: '1' })
  addressId = address.id
  await bench.sql('update vaults set name = $1 where id = $2', [vaultName, bench.vault.id])
  await bench.sql('update addresses set label = $1 where id = $2', [label, addressId])
  ordinary = (await bench.order(address.id, '200')).body.id
  await bench.act(bench.firstApprover, ordinary, 'approve', { comment: 'Compared with the invoice' })
  await bench.act(bench.secondApprover, ordinary, 'approve')
  await bench.deliver()
  bench.vault.wallet.confirm(ordinary)
  await bench.deliver()
  // A transfer that waits for votes, and two transfers that are one payout.
  expect((await bench.order(address.id, '300')).status).toBe(201)
  const rows = ['20', '30'].map((amount) => ({
    ...{ externalId: `row-${amount}`, fromAddressId: address.id, toAddress: fakeAddress(`paid ${amount}`), amount },
  }))
  expect((await bench.owner.post(`${base}/payouts`, { name: 'Salaries', rows })).status).toBe(201)
  await seal()
  test.clock.advance(60_000)
  to = test.clock.now().toISOString()
  test.clock.advance(60_000)
  archive = await made({ from, to })
})
afterAll(async () => {
  await bench.close()
  await rm(folder, { recursive: true, force: true })
})

async function seal(): Promise<void> {
  await sealAuditRecords(bench.test.deps)
  await sealLedgerEntries(bench.test.deps)
}

const order = (body: object, by: Person = auditor, headers = {}) => by.post(`${base}/reports/archives`, body, headers)
const make = () => runDueExports(bench.test.deps, new AbortController().signal)
const stateOf = async (id: string, by: Person = auditor) => (await by.get(`${base}/reports/exports/${id}`)).body

async function made(body: object, by: Person = auditor): Promise<Buffer> {
  const answer = await order(body, by)
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  await make()
  expect(await stateOf(answer.body.id, by)).toMatchObject({ state: 'done', failure: null })
  return (await download(answer.body.id, by)).rawPayload
}

const download = (id: string, by: Person = auditor) =>
  bench.test.app.inject({
    url: `/api/v1${base}/reports/exports/${id}/download`,
    headers: { authorization: `Bearer ${by.token}` },
  })

const membersOf = (bytes: Uint8Array) => new Map(Object.entries(unzipSync(bytes)))
const textOf = (bytes: Uint8Array, name: string) => Buffer.from(membersOf(bytes).get(name)!).toString('utf8')

/** Checks an archive as the command does. */
async function check(bytes: Uint8Array, options: Partial<ArchiveOptions> = {}) {
  const path = join(folder, 'archive.zip')
  await writeFile(path, bytes)
  return reportOnArchive(path, { keys: [], heads: [], ...options })
}

const faultsOf = async (bytes: Uint8Array, options?: Partial<ArchiveOptions>) =>
  (await check(bytes, options)).lines.filter((line) => line.startsWith('FAIL ')).map((line) => line.slice(5))

function zipOf(members: Iterable<readonly [string, Uint8Array]>): Buffer {
  const parts: Uint8Array[] = []
  const zip = createArchive(new Date())
  for (const [name, bytes] of members) {
    zip.open(name)
    zip.write(bytes)
    parts.push(...zip.close())
  }
  return Buffer.concat([...parts, ...zip.end()])
}

/** Returns the archive with other members, and with sums and a manifest that fit them, as a forger writes them. */
async function forged(
  change: (members: Map<string, Uint8Array>) => void,
  signer: Signer,
  more: object = {},
): Promise<Buffer> {
  const members = membersOf(archive)
  change(members)
  const content = [...members].filter(([name]) => name !== sumsName && name !== manifestName)
  const sums = content.map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`).join('')
  const {
    type: _,
    version: _1,
    keyId: _2,
    publicKey: _3,
    signature: _4,
    ...manifest
  } = JSON.parse(textOf(archive, manifestName))
  const signed = await writeManifest(
    { ...manifest, ...more, sums: { members: content.length, sha256: sha256(sums).toString('hex') } },
    signer,
  )
  return zipOf([...content, [sumsName, Buffer.from(sums)], [manifestName, Buffer.from(signed)]])
}

describe('an archive for an auditor', () => {
  it('has its members in a fixed order, with names of ids', () => {
    const names = [...membersOf(archive).keys()]
    expect(names[0]).toBe('readme.txt')
    expect(names.slice(-5)).toEqual([
      'verification.json',
      'seals/audit.jsonl',
      'seals/ledger.jsonl',
      'SHA256SUMS',
      'manifest.json',
    ])
    const folders = names.slice(1, -5).map((name) => name.split('/')[0])
    expect(folders.filter((name, at) => name !== folders[at - 1])).toEqual(['statements', 'accounts', 'evidence'])
    expect(names.filter((name) => name.endsWith('.pdf'))).toHaveLength(5 + 2)
    expect(names.filter((name) => name.startsWith('evidence/'))).toHaveLength(4)
    for (const name of names) expect(name).toMatch(/^[\w./-]+$/)
  })

  it('is checked by one command, and names what it holds', async () => {
    const { lines, isSound } = await check(archive, { keys: [bench.test.deps.sealKey.keyId] })
    expect([isSound, lines.at(-1)]).toEqual([true, 'Checked the archive: nothing was changed.'])
    expect(lines[0]).toBe(`Vault ${vaultName} (main-vault), from ${from} until before ${to}`)
    expect(lines).toContainEqual(expect.stringMatching(/^\d+ members, 2 accounts, evidence of 4 transfers$/))
    expect(lines.join('\n')).not.toContain('not ended')
  })

  it('has the statements that the API has', async () => {
    const query = `from=${from}&to=${to}&timezone=UTC`
    const { body } = await auditor.get(`${base}/reports/operations?${query}&limit=100`)
    const [head, ...lines] = readCsv(textOf(archive, 'statements/operations/items.csv'))
    expect(lines.map((line) => line[head!.indexOf('id')])).toEqual(body.items.map(({ id }) => id))
    expect(lines).toHaveLength(6)
    const index = readCsv(textOf(archive, 'accounts/index.csv'))
    const tokenId = bench.vault.tokens.usdt.id
    const statement = `${addressId}-${tokenId}`
    const row = index.find(([name]) => name === `${statement}.csv`)!
    const report = await auditor.get(
      `${base}/reports/account_statement?${query}&addressId=${addressId}&tokenId=${tokenId}`,
    )
    expect(row[index[0]!.indexOf('closing')]).toBe(report.body.closing.balance)
    expect(row[index[0]!.indexOf('debits')]).toBe(report.body.totals.debits)
    expect(row[index[0]!.indexOf('label')]).toBe(label)
    const { text } = readPdf(Buffer.from(membersOf(archive).get(`accounts/${statement}.pdf`)!))
    expect(text).toContain('Größe & Söhne')
  })

  it('has the evidence that the API has', async () => {
    const { body } = await auditor.get(`${base}/transfers/${ordinary}/evidence`)
    expect(JSON.parse(textOf(archive, `evidence/${ordinary}.json`))).toEqual(JSON.parse(JSON.stringify(body)))
  })

  it('is explained by its readme, in German too', async () => {
    expect(textOf(archive, 'readme.txt')).toContain(`Vault:          ${vaultName} (main-vault)`)
    expect(textOf(archive, 'readme.txt')).toMatch(/strongroom archive verify auditor_archive-c[a-z0-9]+\.zip --key KEY/)
    const german = await made({ from, to, language: 'de', timezone: 'Europe/Berlin' })
    expect(textOf(german, 'readme.txt')).toContain('Archiv für die Prüfung')
    expect(readPdf(Buffer.from(membersOf(german).get('statements/fees.pdf')!)).text).toContain('Netzwerkgebühren')
    expect(await faultsOf(german)).toEqual([])
  })

  it('of a period without operations is whole', async () => {
    const empty = await made({ from: '2020-01-01', to: '2021-01-01' })
    expect(readCsv(textOf(empty, 'accounts/index.csv'))).toHaveLength(1)
    const { lines, isSound } = await check(empty)
    expect(isSound, lines.join('\n')).toBe(true)
    expect(lines).toContainEqual(expect.stringMatching(/^\d+ members, 0 accounts, evidence of 0 transfers$/))
  })

  it('of a period that has not ended says so', async () => {
    // The newest records and entries have no seal yet, which is no difference.
    const { status } = await bench.order(addressId, '7')
    expect(status).toBe(201)
    const tomorrow = new Date(bench.test.clock.now().getTime() + 86_400_000).toISOString()
    const open = await made({ from, to: tomorrow })
    expect(textOf(open, 'readme.txt')).toContain('The period had not ended when this archive was made')
    const { lines, isSound } = await check(open)
    expect(isSound, lines.join('\n')).toBe(true)
    expect(lines).toContain('The period had not ended when the archive was made: later operations are missing.')
  })

  it('of a vault whose books differ has the differences, and its check fails', async () => {
    const change = (sign: string) =>
      bench.sql(
        `update ledger_accounts set balance = balance ${sign} 1 where address_id = $1 and purpose = 'available'`,
        [addressId],
      )
    await change('+')
    try {
      const wrong = await made({ from, to })
      const { findings } = JSON.parse(textOf(wrong, 'verification.json'))
      expect(findings.length).toBeGreaterThan(1)
      const faults = await faultsOf(wrong)
      expect(faults).toHaveLength(findings.length)
      expect(faults[0]).toMatch(/^The service found a difference in the vault: .+\.$/)
    } finally {
      await change('-')
    }
  })
})

describe('the limits of an archive', () => {
  const limits = { transfersMax: 40_000, accountsMax: 20_000, printedAccountsMax: 500 }
  async function madeWithin(changed: Partial<typeof limits>): Promise<Map<string, Uint8Array>> {
    const { deps, clock } = bench.test
    const parts: Uint8Array[] = []
    const order = {
      ...{ id: 'cmi8h2k1p0a1b2c3d4e5f6g7h', organisationName: null, signer: signerOf(deps.sealKey), now: clock.now() },
      member: (await findRequester(deps.db, bench.vault.id, auditor.userId))!,
      parameters: { from, to, timezone: 'UTC', language: 'en' as const },
      trusted: new Set([deps.sealKey.keyId]),
    }
    const percents: number[] = []
    const watch = {
      sink: async (part: Uint8Array) => void parts.push(part),
      onPercent: (at: number) => percents.push(at),
    }
    await makeArchive(deps.slowReads.db, order, watch, { ...limits, ...changed })
    expect(percents.at(-1)).toBe(100)
    expect(percents).toEqual(percents.toSorted((a, b) => a - b))
    return membersOf(Buffer.concat(parts))
  }

  it('refuse a period with more transfers or accounts than it holds', async () => {
    await expect(madeWithin({ transfersMax: 3 })).rejects.toThrow(
      'The period has more than 3 transfers; choose a shorter period',
    )
    await expect(madeWithin({ accountsMax: 1 })).rejects.toThrow('The period has more than 1 accounts')
    expect((await madeWithin({ transfersMax: 4, accountsMax: 2 })).size).toBe(membersOf(archive).size)
  })

  it('leave out the PDFs of many accounts, and the readme says so', async () => {
    const members = await madeWithin({ printedAccountsMax: 1 })
    expect(Buffer.from(members.get('readme.txt')!).toString('utf8')).toContain('Each is a CSV; index.csv lists them.')
    const names = [...members.keys()]
    expect(names.filter((name) => /^accounts\/.+\.pdf$/.test(name))).toEqual([])
    expect(names.filter((name) => /^accounts\/.+\.csv$/.test(name))).toHaveLength(3)
  })
})

describe('the order of an archive', () => {
  it('is for administrators and auditors, and for each of them alone', async () => {
    for (const by of [bench.owner, bench.firstApprover]) expect((await order({ from, to }, by)).status).toBe(403)
    const outsider = await bench.test.signIn('outsider@example.org')
    expect((await order({ from, to }, outsider)).status).toBe(403)
    const { status, body } = await order({ from, to }, bench.vault.admin)
    expect(status).toBe(202)
    expect((await auditor.get(`${base}/reports/exports/${body.id}`)).status).toBe(404)
    await make()
    expect(await stateOf(body.id, bench.vault.admin)).toMatchObject({
      type: 'auditor_archive',
      format: 'zip',
      parameters: { from, to, timezone: 'UTC', language: 'en' },
      state: 'done',
    })
    const file = await download(body.id, bench.vault.admin)
    expect(file.headers['content-type']).toBe('application/zip')
    expect(file.headers['content-disposition']).toBe(`attachment; filename="auditor_archive-${body.id}.zip"`)
  })

  it('T50 is taken once with the same key, and is in the audit log', async () => {
    const headers = { 'idempotency-key': 'archive-1' }
    const first = await order({ from, to }, auditor, headers)
    const second = await order({ from, to }, auditor, headers)
    expect([second.status, second.body]).toEqual([202, first.body])
    const { body } = await auditor.get(`${base}/audit-log?target=${first.body.id}`)
    expect(body.items).toMatchObject([
      { action: 'report.exported', actorId: auditor.userId, details: { type: 'auditor_archive', format: 'zip' } },
    ])
    await make()
  })

  it.each([
    ['no period', {}, 'from'],
    ['an inverted period', { from: '2026-02-01', to: '2026-01-01' }, 'from'],
    ['an unknown zone', { from: '2026-01-01', timezone: 'Mars/Olympus' }, 'timezone'],
    ['an unknown language', { from: '2026-01-01', language: 'fr' }, 'language'],
    ['a filter', { from: '2026-01-01', addressId: 'c' }, 'addressId'],
  ])('with %s is a 400 that names it', async (_, body, field) => {
    const answer = await order(body)
    expect([answer.status, answer.body.details?.[0]?.field]).toEqual([400, field])
  })

  it('T47 is refused at its making, and the file withheld, once the requester does not read the vault any more', async () => {
    const leaver = await addMember(bench.test, bench.vault, 'leaver@example.org', ['members', 'administrators'])
    const done = (await order({ from, to }, leaver)).body.id
    await make()
    expect((await download(done, leaver)).statusCode).toBe(200)
    const waiting = (await order({ from, to }, leaver)).body.id
    await bench.sql(
      `delete from policy_group_memberships m using policy_groups g
       where g.vault_id = m.vault_id and g.id = m.group_id and g.code = 'administrators' and m.user_id = $1`,
      [leaver.userId],
    )
    await make()
    expect((await download(done, leaver)).statusCode).toBe(403)
    expect(await stateOf(waiting, leaver)).toMatchObject({
      state: 'failed',
      failure: 'Only administrators and auditors may export for an auditor',
    })
  })
})

describe('T77 the check of an archive', () => {
  it('names each member with a changed byte', async () => {
    const members = membersOf(archive)
    const unnoticed: string[] = []
    for (const [name, bytes] of members) {
      const changed = Buffer.from(bytes)
      const at = Math.floor(changed.length / 2)
      changed[at] = changed[at]! ^ 1
      const faults = await faultsOf(
        zipOf([...members].map(([other, content]) => [other, other === name ? changed : content])),
      )
      if (!faults.some((fault) => fault.includes(name))) unnoticed.push(`${name}: ${faults.join(' ')}`)
    }
    expect(unnoticed).toEqual([])
    expect(members.size).toBeGreaterThan(40)
  })

  it.each<[string, (members: [string, Uint8Array][]) => [string, Uint8Array][], RegExp]>([
    [
      'is missing',
      (members) => members.filter(([name]) => name !== 'verification.json'),
      /^verification\.json is missing\.$/,
    ],
    ['was added', (members) => [['more.txt', Buffer.from('more')], ...members], /^more\.txt was added/],
    ['stands twice', (members) => [members[0]!, ...members], /^readme\.txt is in the archive twice\.$/],
    [
      'was moved',
      ([first, second, ...rest]) => [second!, first!, ...rest],
      /^The members of the archive are not those/,
    ],
    [
      'is not the last',
      (members) => members.toReversed(),
      /^The archive does not end with SHA256SUMS and manifest\.json\.$/,
    ],
  ])('notices a member that %s', async (_, change, sentence) => {
    expect(await faultsOf(zipOf(change([...membersOf(archive)])))).toContainEqual(expect.stringMatching(sentence))
  })

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['is cut short', (bytes) => bytes.subarray(0, -100)],
    ['has bytes before it', (bytes) => Buffer.concat([Buffer.from('#!'), bytes])],
    ['has bytes after it', (bytes) => Buffer.concat([bytes, Buffer.from('more')])],
    ['is no archive', () => Buffer.from('Nothing')],
    ['is empty', () => Buffer.alloc(0)],
    [
      'has another name in the head of a member',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('readme.txt', 'README.txt'), 'latin1'),
    ],
    [
      'has damaged data',
      (bytes) => Buffer.concat([bytes.subarray(0, 60), Buffer.alloc(40, 0xff), bytes.subarray(100)]),
    ],
  ])('notices a file that %s', async (_, change) => {
    const { lines, isSound } = await check(change(archive))
    expect(isSound).toBe(false)
    expect(lines[0]).toMatch(/^FAIL The archive .+\.$/)
  })

  it('notices sums that another key signed', async () => {
    const changed = (members: Map<string, Uint8Array>) => members.set('readme.txt', Buffer.from('Nothing happened.'))
    const stranger = createSealKey('the key of a forger, who has no other')
    const strange = await forged(changed, signerOf(stranger))
    expect(await faultsOf(strange)).toEqual([
      `manifest.json is signed by the key ${stranger.keyId}, which signed none of the seals.`,
    ])
    const { keyId } = bench.test.deps.sealKey
    expect(await faultsOf(strange, { keys: [keyId] })).toHaveLength(2)
    const unsigned = { ...signerOf(bench.test.deps.sealKey), sign: () => Buffer.alloc(64) }
    expect(await faultsOf(await forged(changed, unsigned))).toEqual([
      'manifest.json was changed: its signature does not hold.',
    ])
    expect(
      await faultsOf(await forged(() => {}, signerOf(bench.test.deps.sealKey)), { keys: ['0'.repeat(32)] }),
    ).toEqual([`The key ${keyId} signed, which is not one of those that were named.`])
  })

  /** An archive of which the node itself signed the sums. */
  const signedBySelf = (name: string, change: (text: string) => string) =>
    forged((members) => {
      const text = Buffer.from(members.get(name)!).toString('utf8')
      expect(change(text), name).not.toBe(text)
      members.set(name, Buffer.from(change(text)))
    }, signerOf(bench.test.deps.sealKey))

  it('notices evidence that contradicts itself, and evidence of another archive, though the sums fit', async () => {
    const name = `evidence/${ordinary}.json`
    const amount = await signedBySelf(name, (text) => text.replace('"amount":"200000000"', '"amount":"900000000"'))
    expect((await faultsOf(amount)).every((fault) => fault.startsWith(`${name} contradicts itself: `))).toBe(true)
    const other = await forged((members) => {
      const names = [...members.keys()].filter((key) => key.startsWith('evidence/'))
      members.set(names[0]!, members.get(names[1]!)!)
    }, signerOf(bench.test.deps.sealKey))
    expect(await faultsOf(other)).toEqual([
      expect.stringMatching(/^evidence\/.+ is not the evidence of this transfer\.$/),
    ])
    const fewer = await forged((members) => void members.delete(name), signerOf(bench.test.deps.sealKey))
    expect(await faultsOf(fewer)).toEqual(['The archive has evidence of 3 transfers instead of 4.'])
  })

  it('notices seals that were changed, left out or cut, though the sums fit', async () => {
    const audit = 'seals/audit.jsonl'
    const linesOf = (text: string) => text.trimEnd().split('\n')
    const join = (lines: string[]) => lines.map((line) => `${line}\n`).join('')
    const faultsWith = async (change: (lines: string[]) => string[]) =>
      faultsOf(await signedBySelf(audit, (text) => join(change(linesOf(text)))))
    expect(linesOf(textOf(archive, audit)).length).toBeGreaterThan(0)
    const changed = await faultsWith((lines) => lines.map((line) => line.replace(/"size":\d+/, '"size":1000')))
    expect(changed).toContain(`${audit}: the first seal does not have its hash or its signature.`)
    const cut = await faultsWith((lines) => lines.slice(0, -1))
    expect(cut).toContain(`${audit} does not end with the head that manifest.json names.`)
    expect(cut).toContainEqual(expect.stringMatching(/names seal \d+ of the audit trail, which is not among the seals/))
    const ledger = await signedBySelf('seals/ledger.jsonl', (text) => join(linesOf(text).toSpliced(1, 1)))
    expect(await faultsOf(ledger)).toContainEqual(
      expect.stringMatching(/^seals\/ledger\.jsonl: the seal after \d+ is missing\.$/),
    )
  })

  it('takes seals from before seals were signed, and none after a signed seal', async () => {
    const chain = bench.vault.id
    const unsigned = (sequence: number, previousHash: Buffer) => {
      const sealedAt = new Date('2026-01-01T00:00:00.000Z')
      const leaves = [{ id: 'record', hash: sha256('record') }]
      const hash = hashSeal({ format: 1, chain, sequence: BigInt(sequence), previousHash, sealedAt, leaves })
      return {
        ...{ sequence, previousHash: previousHash.toString('hex'), sealedAt: sealedAt.toISOString() },
        ...{ root: null, keyId: null, publicKey: null, hash: hash.toString('hex'), signature: null },
        records: leaves.map(({ id, hash: ofRecord }) => ({ id, hash: ofRecord.toString('hex') })),
      }
    }
    const first = JSON.stringify(unsigned(1, genesisHash))
    expect(await checkSealLine(chain, 'audit', first)).toMatchObject({ sequence: 1, isUnsigned: true })
    expect(await checkSealLine(chain, 'audit', first.replace('"record"', '"other"'))).toBeNull()
    expect(await checkSealLine(chain, 'ledger', first)).toBeNull()
    expect(await checkSealLine(chain, 'audit', 'no seal')).toBeNull()
    const { heads } = JSON.parse(textOf(archive, manifestName))
    const last = heads[0].sequence
    const next = unsigned(last + 1, Buffer.from(heads[0].hash, 'hex'))
    const audit = 'seals/audit.jsonl'
    const added = await forged(
      (members) => members.set(audit, Buffer.from(`${textOf(archive, audit)}${JSON.stringify(next)}\n`)),
      signerOf(bench.test.deps.sealKey),
      { heads: [{ ...heads[0], sequence: last + 1, hash: next.hash }, heads[1]] },
    )
    expect(await faultsOf(added)).toEqual([`${audit}: the seal after ${last} is not signed, though seals are by then.`])
  })

  it('notices findings that were left out', async () => {
    const name = 'verification.json'
    const invented = await signedBySelf(name, (text) => text.replace('"findings": []', '"findings": [{}]'))
    expect(await faultsOf(invented)).toEqual([
      'verification.json does not have the findings that manifest.json counts.',
    ])
  })

  it('compares the seals with the heads that a witness keeps, such as its own output', async () => {
    const { heads } = JSON.parse(textOf(archive, manifestName))
    const kept = heads.map(headLine).join('\n')
    const { lines } = await check(archive, { heads: [kept] })
    expect(lines).toContain(`Compared ${heads.length} heads of witnesses: all are there.`)
    const again = await check(archive, { heads: [lines.join('\n')] })
    expect(again.lines).toContain(`Compared ${heads.length} heads of witnesses: all are there.`)
    const other = kept.replace(heads[0].hash, '0'.repeat(64))
    expect(await faultsOf(archive, { heads: [other] })).toEqual([
      `The witness keeps another seal ${heads[0].sequence} of the audit trail: ${'0'.repeat(64)}.`,
    ])
    await expect(check(archive, { heads: ['Nothing'] })).rejects.toThrow('There is no head')
  })
})

describe('T77 strongroom archive verify, as the process that an auditor runs', () => {
  const program = fileURLToPath(new URL('../../../../bin/strongroom.js', import.meta.url))
  const run = (...args: string[]): Promise<{ code: number | null; out: string; err: string }> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH }
      const child = execFile(process.execPath, [program, 'archive', 'verify', ...args], { env }, (_error, out, err) =>
        resolve({ code: child.exitCode, out, err }),
      )
    })

  it('ends with 0, with 1 for a difference and with 2 for a file that is not there', async () => {
    buildProject('build:server')
    const path = join(folder, 'auditor_archive.zip')
    await writeFile(path, archive)
    const { keyId } = bench.test.deps.sealKey
    const sound = await run(path, '--key', keyId)
    expect([sound.code, sound.out.split('\n').at(-2), sound.err]).toEqual([
      0,
      'Checked the archive: nothing was changed.',
      '',
    ])
    const kept = join(folder, 'kept.txt')
    await writeFile(kept, sound.out)
    const again = await run(path, '--head', kept)
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('heads of witnesses: all are there.')])
    const wrong = await run(path, '--key', '0'.repeat(32))
    expect(wrong).toEqual({
      code: 1,
      out: `FAIL The key ${keyId} signed, which is not one of those that were named.\nChecked the archive: 1 difference.\n`,
      err: '',
    })
    const missing = await run(join(folder, 'missing.zip'))
    expect([missing.code, missing.out, missing.err]).toEqual([2, '', expect.stringContaining('missing.zip')])
  })
})

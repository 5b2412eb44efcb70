import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { isSignedBy, readSignature } from '../lib/webhook-signature.ts'
import { sealAuditRecords } from '../modules/record/audit/audit-seals.ts'
import { insertAuditRecord } from '../modules/record/audit/record.ts'
import { compareHeads, readHeads } from '../modules/record/witnesses/heads.ts'
import { createTestApp, type TestApp } from '../testing/app.ts'
import { type SmtpServer, startSmtpServer } from '../testing/smtp-server.ts'
import { sendHeads } from './send-heads.ts'
import { judge } from './watch/checks.ts'
import { readSamples } from './watch/samples.ts'

const secret = randomBytes(24).toString('base64')
const posted: { headers: Record<string, string | string[] | undefined>; body: Buffer }[] = []
let test: TestApp
let smtp: SmtpServer
let folder: string
let file: string
/** The status with which the service behind the URL answers. */
let status = 503

const hook = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    posted.push({ headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(status).end('thanks')
  })
})

beforeAll(async () => {
  smtp = await startSmtpServer()
  folder = await mkdtemp(join(tmpdir(), 'strongroom-witness-'))
  file = join(folder, 'heads')
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/heads`
  test = await createTestApp({
    SMTP_URL: smtp.url,
    WITNESSES: `file:${file}, mailto:auditor@example.org, ${url}`,
    WITNESS_SECRET: secret,
  })
  await sendHeads(test.deps)
  await expect(readFile(file)).rejects.toThrow('ENOENT')
  expect([posted.length, smtp.mails.length]).toEqual([0, 0])
  const event = { actorId: null, action: 'test.happened', targetType: 'test', targetId: null, details: {} }
  await inTransaction(test.deps.db, async (trx) => {
    for (const vaultId of ['vault-1', null]) {
      await insertAuditRecord(trx, { ...event, vaultId, now: test.clock.now() })
    }
  })
  await sealAuditRecords(test.deps)
})

afterAll(async () => {
  await test.close()
  await smtp.close()
  await new Promise((resolve) => hook.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

const lines = async () => (await readFile(file, 'utf8')).trim().split('\n')
const redAlerts = async () => {
  const findings = judge(await readSamples({ ...test.deps, clock: test.clock.now }))
  return findings.filter(({ red }) => red.length > 0).map(({ check }) => check.alert)
}

it('T77 a file, a mailbox and a service get the heads once each, and a failed delivery is repeated', async () => {
  await sendHeads(test.deps)
  await sendHeads(test.deps)
  expect(await lines()).toHaveLength(1)
  expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['auditor@example.org']])
  expect(posted).toHaveLength(1)

  status = 204
  test.clock.advance(11_000)
  await sendHeads(test.deps)
  expect(posted).toHaveLength(2)
  const { headers, body } = posted[1]!
  expect(isSignedBy(readSignature(headers, body, test.clock.now()), [secret])).toBe(true)
  expect(await lines()).toHaveLength(1)
})

it('T77 the first line has heads, and does not name a log that has no heads yet', async () => {
  const text = await readFile(file, 'utf8')
  const trusted = new Set([test.deps.sealKey.keyId])
  expect(readHeads(text, 'audit', trusted).map(({ chain }) => chain)).toEqual(['platform', 'vault-1'])
  expect(readHeads(text, 'ledger', trusted)).toEqual([])
})

it('T77 the heads that each witness keeps are compared with the seal chains', async () => {
  const { db, sealKey } = test.deps
  const trusted = new Set([sealKey.keyId])
  for (const text of [await readFile(file, 'utf8'), smtp.mails[0]!.source, posted[1]!.body.toString()]) {
    const heads = readHeads(text, 'audit', trusted)
    expect(new Set(heads.map(({ chain }) => chain))).toEqual(new Set(['vault-1', 'platform']))
    expect(await compareHeads(db, 'audit', heads)).toEqual([])
    const [head] = heads
    const other = [{ ...head!, hash: '0'.repeat(64) }]
    expect(await compareHeads(db, 'audit', other)).toMatchObject([{ chain: head!.chain, sequence: head!.sequence }])
  }
})

it('T77 a file and a service get the heads every hour, a mailbox once a day', async () => {
  test.clock.advance(3_600_000)
  await sendHeads(test.deps)
  expect([(await lines()).length, smtp.mails.length, posted.length]).toEqual([2, 1, 3])
  test.clock.advance(23 * 3_600_000)
  await sendHeads(test.deps)
  expect([(await lines()).length, smtp.mails.length, posted.length]).toEqual([3, 2, 4])
})

it('T77 a witness that does not accept the heads makes a check red', async () => {
  expect(await redAlerts()).not.toContain('StrongroomWitnessLate')
  status = 500
  smtp.refusals.push(550)
  test.clock.advance(25 * 3_600_000)
  await sendHeads(test.deps)
  expect(await redAlerts()).toContain('StrongroomWitnessLate')
  status = 200
  test.clock.advance(3_600_000)
  await sendHeads(test.deps)
  expect(await redAlerts()).not.toContain('StrongroomWitnessLate')
  expect(smtp.mails).toHaveLength(3)
})

it('deletes witnesses that the settings no longer name', async () => {
  const { witnesses } = test.deps.config
  const fewer = { ...test.deps.config, witnesses: { ...witnesses, targets: witnesses.targets.slice(0, 1) } }
  await sendHeads({ ...test.deps, config: fewer })
  expect(await test.deps.db.selectFrom('witnesses').select('target').execute()).toEqual([{ target: `file:${file}` }])
})

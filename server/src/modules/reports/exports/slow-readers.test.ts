import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { inlineFilesMax, inlineFilesPerCallerMax } from '../../../lib/limits.ts'
import type { Person } from '../../../testing/app.ts'
import { createReportWorld, type ReportWorld } from '../../../testing/report-world.ts'
import { runDueExports } from './due-exports.ts'

const bounds = vi.hoisted(() => ({ inlineMilliseconds: 120_000, downloadMilliseconds: 60_000 }))
vi.mock('../../../lib/limits.ts', async (original) => ({
  ...(await original<object>()),
  get inlineFileMilliseconds() {
    return bounds.inlineMilliseconds
  },
  get downloadGraceMilliseconds() {
    return bounds.downloadMilliseconds
  },
  downloadBytesPerSecondMin: 1e12,
}))

/** The number of operations whose file is larger than the socket buffers between two programs. */
const operations = 60_000

let world: ReportWorld
let port: number
let query: string
const open: IncomingMessage[] = []

beforeAll(async () => {
  world = await createReportWorld()
  await world.test.app.listen({ port: 0, host: '127.0.0.1' })
  port = (world.test.app.server.address() as AddressInfo).port
  const id = await world.add({ at: '2026-01-01T00:00:00.000Z', amount: '1' })
  await world.sql(
    `insert into operations (vault_id, id, type, status, address_id, owner_id, network_id, token_id, amount, flow_type,
       created_at, updated_at)
     select vault_id, 'cmany' || lpad(i::text, 20, '0'), type, status, address_id, owner_id, network_id, token_id, amount,
       flow_type, created_at + i * interval '1 second', updated_at
     from operations, generate_series(1, $3::int - 1) i where vault_id = $1 and id = $2`,
    [world.vault.id, id, operations],
  )
  // A single table, which is not compressed.
  query = `operations?${new URLSearchParams({ from: '2026-01-01', to: '2026-03-01', format: 'csv' })}`
})
afterEach(async () => {
  for (const answer of open.splice(0)) answer.destroy()
  await expect.poll(openSnapshots).toBe(0)
})
afterAll(() => world.close())

/** Returns the start of the answer; its body is not read. */
async function ask(path: string, by: Person = world.owner): Promise<IncomingMessage> {
  const request = get({
    port,
    path: `/api/v1/vaults/${world.vault.code}/reports/${path}`,
    headers: { authorization: `Bearer ${by.token}` },
    agent: false,
  })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  open.push(answer)
  answer.on('error', () => {})
  return answer
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of answer) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

const rowsIn = (text: string) => text.match(/^2026-01-/gm)?.length ?? 0

/** Returns the number of open transactions of the service. */
async function openSnapshots(): Promise<number> {
  const [row] = await world.sql(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'strongroom' and state <> 'idle'`,
  )
  return row.count
}

describe('a file that is made while it is sent', () => {
  it('waits for a slow reader without reading ahead, and is complete in the end', async () => {
    const answer = await ask(query)
    await expect.poll(openSnapshots).toBe(1)
    const before = process.memoryUsage().arrayBuffers
    await sleep(300)
    expect(await openSnapshots()).toBe(1)
    // This is far less than the file, so the service does not buffer it.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000)
    expect(rowsIn(await textOf(answer))).toBe(operations)
    expect(answer.complete).toBe(true)
  })

  it('T54 ends with its reader, and frees its transaction and its connection', async () => {
    const answer = await ask(query)
    await expect.poll(openSnapshots).toBe(1)
    answer.destroy()
    await expect.poll(openSnapshots).toBe(0)
    const held = async () => {
      const [row] = await world.sql(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
      )
      return row.count
    }
    await expect.poll(held).toBe(0)
  })

  it('T54 holds a transaction for a limited time for any reader', async () => {
    bounds.inlineMilliseconds = 3_000
    const began = performance.now()
    const answer = await ask(query)
    bounds.inlineMilliseconds = 120_000
    await expect.poll(openSnapshots).toBe(0)
    expect(performance.now() - began).toBeGreaterThan(2_900)
    await expect(textOf(answer)).rejects.toThrow('aborted')
    expect(answer.complete).toBe(false)
  })

  it('breaks the connection after a failure halfway, so that it does not seem complete', async () => {
    const answer = await ask(query)
    expect(answer.statusCode).toBe(200)
    await expect.poll(openSnapshots).toBe(1)
    await world.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'strongroom' and state <> 'idle'`,
    )
    await expect(textOf(answer)).rejects.toThrow('aborted')
    expect(answer.complete).toBe(false)
    expect(rowsIn(await textOf(await ask(query)))).toBe(operations)
  })

  it('T54 is limited: a caller with too many gets 429, all callers 503, and other requests continue', async () => {
    for (let i = 0; i < inlineFilesPerCallerMax; i += 1) expect((await ask(query)).statusCode).toBe(200)
    const ofOwner = await ask(query)
    expect([ofOwner.statusCode, ofOwner.headers['retry-after']]).toEqual([429, '10'])
    expect(ofOwner.headers['content-disposition']).toBeUndefined()
    expect(JSON.parse(await textOf(ofOwner))).toMatchObject({ code: 429, error: 'Too Many Requests' })
    for (let i = inlineFilesPerCallerMax; i < inlineFilesMax; i += 1) {
      expect((await ask(query, world.admin)).statusCode).toBe(200)
    }
    const ofOther = await ask('transaction_activity?format=csv', world.other)
    expect([ofOther.statusCode, ofOther.headers['retry-after']]).toEqual([503, '10'])
    // JSON reports and all other requests do not wait for the files, which stay open; a busy machine may refuse one meanwhile.
    await expect.poll(async () => (await ask('transaction_activity', world.other)).statusCode).toBe(200)
    expect((await ask('transaction_activity?format=csv', world.other)).statusCode).toBe(503)
    for (const answer of open.splice(0)) answer.destroy()
    await expect.poll(async () => (await ask(query)).statusCode).toBe(200)
  })
})

describe('a file that was made before', () => {
  it('T54 is sent to slow readers for a limited time, and holds no transaction meanwhile', async () => {
    const { body } = await world.owner.post(`/vaults/${world.vault.code}/reports/operations/exports`, {
      ...Object.fromEntries(new URLSearchParams(query.split('?')[1])),
    })
    await runDueExports(world.test.deps, new AbortController().signal)
    const path = `exports/${body.id}/download`
    expect(rowsIn(await textOf(await ask(path)))).toBe(operations)
    const others = [await ask(path), await ask(path), await ask(path)]
    bounds.downloadMilliseconds = 3_000
    const slow = await ask(path)
    bounds.downloadMilliseconds = 60_000
    expect([slow, ...others].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    expect((await ask(path)).statusCode).toBe(429)
    const [row] = await world.sql(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    )
    expect(row.count).toBe(0)
    // No client reads. The download with the short limit is ended, and its slot becomes free.
    await expect.poll(async () => (await ask(path)).statusCode).toBe(200)
    await expect(textOf(slow)).rejects.toThrow('aborted')
  })
})

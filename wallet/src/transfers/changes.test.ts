import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import {
  call,
  deriveTestAddress,
  orderTestTransfer,
  otherVaultToken,
  testConfig,
  vaultToken,
  waitFor,
} from '../testing/wallet-client.ts'
import type { Changes } from './change-protocol.ts'

let anvil: Anvil
let database: TestDatabase
let wallet: RunningWallet
let pool: pg.Pool
let from: { derivationPath: string; fromAddress: string }
let count = 0

const start = () => startWallet(testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl }))

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  wallet = await start()
  pool = new pg.Pool({ connectionString: database.url })
  const derivationPath = 'm/44/60/7/0'
  from = { derivationPath, fromAddress: await deriveTestAddress(wallet.url, derivationPath) }
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await anvil?.stop()
  await database?.drop()
})

async function setQueued(client: pg.Pool | pg.ClientBase, id: string | undefined) {
  const { rowCount } = await client.query(
    `update wallet.transfers set status = 'queued', failure_reason = null, next_attempt_at = 'infinity' where id = $1`,
    [id],
  )
  expect(rowCount).toBe(1)
}

async function ask(query: Record<string, string> = {}, token = vaultToken) {
  const { status, body } = await call<Changes>(wallet.url, `/transfers/changes?${new URLSearchParams(query)}`, {
    token,
  })
  expect(status).toBe(200)
  return { ids: body.changes.map(({ id }) => id), ...body }
}

/** Orders an amount that the address cannot pay: the transfer waits, or fails before it is signed. */
async function order() {
  const id = `changed-${count++}`
  const ordered = {
    id,
    ...from,
    toAddress: '0x000000000000000000000000000000000000dEaD',
    amount: '1000000000000000000',
  }
  expect((await orderTestTransfer(wallet.url, ordered)).status).toBe(202)
  return id
}

const setStatus = (client: pg.Pool | pg.ClientBase, id: string, reason: string) =>
  client.query(`update wallet.transfers set status = 'failed', failure_reason = $2 where id = $1`, [id, reason])

/** Orders that have failed for good, so that nothing changes them any more. */
async function settled(number: number) {
  const ids = await Promise.all(Array.from({ length: number }, order))
  await waitFor('the orders to fail', async () => {
    const { rows } = await pool.query(`select from wallet.transfers where id = any($1) and status = 'failed'`, [ids])
    return rows.length === number
  })
  return ids
}

test('a request without a cursor begins at this moment', async () => {
  await settled(2)
  const begun = await ask()
  expect(begun.changes).toEqual([])
  expect((await ask({ after: begun.cursor })).changes).toEqual([])
  const [id] = await settled(1)
  const { changes } = await ask({ after: begun.cursor })
  expect(changes).toMatchObject([
    { id, status: 'failed', txHash: null, amount: '1000000000000000000', network: 'ethereum' },
  ])
})

test('the states of several transfers are one answer, without ids that the client does not have', async () => {
  const ids = await settled(2)
  const states = async (list: string[], token = vaultToken) => {
    const path = `/transfers?${new URLSearchParams({ ids: list.join() })}`
    return await call<{ transfers: { id: string }[] }>(wallet.url, path, { token })
  }
  const { status, body } = await states([...ids, 'unknown'])
  expect(status).toBe(200)
  const alone = await Promise.all(ids.map((id) => call<{ id: string }>(wallet.url, `/transfers/${id}`)))
  expect(new Map(body.transfers.map((state) => [state.id, state]))).toEqual(
    new Map(alone.map(({ body }) => [body.id, body])),
  )
  expect((await states(ids, otherVaultToken)).body.transfers).toEqual([])
  const hundred = Array.from({ length: 100 }, (_, index) => `many-${index}`)
  expect([(await states(hundred)).status, (await states([...hundred, 'more'])).status]).toEqual([200, 400])
  expect([(await states([''])).status, (await states(['a', ''])).status, (await states(['a b'])).status]).toEqual([
    400, 400, 400,
  ])
})

test('pages list every change once and end; a transfer that changes again moves to the end', async () => {
  const { cursor: first } = await ask()
  const ids = await settled(5)
  await setStatus(pool, ids[0]!, 'CANCELLED: the reason alone is not a change')
  await setQueued(pool, ids[1])
  const listed: string[] = []
  let after = first
  for (;;) {
    const page = await ask({ after, limit: '2' })
    if (page.ids.length === 0) break
    expect(page.ids.length).toBeLessThanOrEqual(2)
    listed.push(...page.ids)
    after = page.cursor
  }
  expect(listed).toHaveLength(5)
  expect(listed.at(-1)).toBe(ids[1])
  expect([...listed].sort()).toEqual([...ids].sort())
  expect((await ask({ after: first })).ids).toEqual(listed)
})

test('a change that is committed late is not skipped, and delays no reader', async () => {
  const [late, early] = await settled(2)
  const { cursor } = await ask()
  const client = await pool.connect()
  await client.query('begin')
  await setQueued(client, late)
  await setQueued(pool, early)
  const before = await ask({ after: cursor })
  expect(before.ids).toEqual([early])
  await client.query('commit')
  client.release()
  expect((await ask({ after: before.cursor })).ids).toEqual([late])
})

test('a reader misses no change while many transactions commit at once', async () => {
  const ids = await settled(40)
  let after = (await ask()).cursor
  const seen = new Set<string>()
  let isDone = false
  const reading = (async () => {
    while (!isDone || seen.size < ids.length) {
      const page = await ask({ after, limit: '7', wait: isDone ? '0' : '1' })
      for (const id of page.ids) seen.add(id)
      after = page.cursor
      if (isDone && page.ids.length === 0) break
    }
  })()
  await Promise.all(
    ids.map(async (id) => {
      const client = await pool.connect()
      await client.query('begin')
      await setQueued(client, id)
      await client.query('select pg_sleep(random() * 0.05)')
      await client.query('commit')
      client.release()
    }),
  )
  isDone = true
  await reading
  expect([...seen].sort()).toEqual([...ids].sort())
})

test('a request waits for a change of its client, whichever process commits it, and no longer than it may', async () => {
  const [id] = await settled(1)
  const { cursor } = await ask()
  const other = await ask({}, otherVaultToken)
  const waiting = ask({ after: cursor, wait: '25' })
  const waitingOther = ask({ after: other.cursor, wait: '2' }, otherVaultToken)
  // The connection that listens is ready when the change comes.
  await waitFor('the listener', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where query = 'listen wallet_changes' and state = 'idle'`,
    )
    return rows.length > 0
  })
  const began = performance.now()
  await setQueued(pool, id)
  expect((await waiting).ids).toEqual([id])
  expect(performance.now() - began).toBeLessThan(4_000)
  expect((await waitingOther).changes).toEqual([])
})

test('a wallet that stops answers the waiting requests', async () => {
  const second = await start()
  const { body } = await call<Changes>(second.url, '/transfers/changes')
  const waiting = call<Changes>(second.url, `/transfers/changes?after=${body.cursor}&wait=25`)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const began = performance.now()
  await second.stop()
  expect((await waiting).body.changes).toEqual([])
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('a client can hold eight requests; a ninth is answered at once', async () => {
  const { cursor } = await ask()
  const begun = performance.now()
  const took = async () => {
    await ask({ after: cursor, wait: '2' })
    return performance.now() - begun
  }
  const times = (await Promise.all(Array.from({ length: 9 }, took))).sort((a, b) => a - b)
  expect(times[0]).toBeLessThan(1_900)
  expect(times[1]).toBeGreaterThan(1_900)
})

test('a cursor of another client or of another form is refused', async () => {
  const { cursor } = await ask()
  for (const query of [
    { after: cursor, token: otherVaultToken },
    { after: `${cursor}x`, token: vaultToken },
    { after: 'nonsense', token: vaultToken },
    { after: '', token: vaultToken },
  ]) {
    const { status, body } = await call(wallet.url, `/transfers/changes?after=${query.after}`, { token: query.token })
    expect({ query, status }).toEqual({ query, status: 400 })
    expect(body).toMatchObject({ details: [{ field: 'after' }] })
  }
  for (const query of ['limit=0', 'limit=1001', 'limit=1e2', 'wait=26', 'wait=-1', 'waits=1', 'limit=1&limit=2'])
    expect((await call(wallet.url, `/transfers/changes?${query}`)).status).toBe(400)
  expect((await call(wallet.url, '/transfers/changes', { token: null })).status).toBe(401)
})

test('a restored database no longer knows the cursor; a database that kept running knows it', async () => {
  // PostgreSQL is not started again here: instead, the marks of the time before become those of another start.
  const timeBefore = 'c8f8a4c5ae8ce16b0ddf2ea4ef5e1bd4'
  const marked = (cursor: string) => {
    const [client, , number] = Buffer.from(cursor, 'base64url').toString().split(' ')
    return Buffer.from(`${client} ${timeBefore} ${number}`).toString('base64url')
  }
  const old = marked((await ask()).cursor)
  await settled(2)
  const newest = marked((await ask()).cursor)
  await pool.query('update wallet.epochs set mark = $1', [timeBefore])
  expect((await ask({ after: newest })).changes).toEqual([])

  // The backup lacks the last change, and others were made since under its number.
  await pool.query(
    'update wallet.epochs set began_after = began_after - 1 where number = (select max(number) from wallet.epochs)',
  )
  await settled(3)
  const lost = await call(wallet.url, `/transfers/changes?after=${newest}`)
  expect(lost).toMatchObject({ status: 410, body: { details: expect.stringMatching(/^CURSOR_LOST: /) } })
  expect((await ask({ after: old })).ids.length).toBeGreaterThan(0)
  // A time that the backup does not have.
  await pool.query('delete from wallet.epochs where mark = $1', [timeBefore])
  expect((await call(wallet.url, `/transfers/changes?after=${old}`)).status).toBe(410)
})

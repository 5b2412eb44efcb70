import pg from 'pg'
import { createTestClient, http, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { rescan } from '../deposits/rescan.ts'
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
import { startWebhookReceiver } from '../testing/webhook-receiver.ts'
import { acceptNonce } from '../transfers/accept-nonce.ts'
import type { Accepted } from './accepted-protocol.ts'

let anvil: Anvil
let database: TestDatabase
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
let wallet: RunningWallet
let pool: pg.Pool

const start = (databaseUrl = database.url) =>
  startWallet(testConfig({ databaseUrl, rpcUrl: anvil.rpcUrl, webhookUrl: receiver.url }))

beforeAll(async () => {
  ;[anvil, database, receiver] = await Promise.all([startAnvil(), createTestDatabase(), startWebhookReceiver()])
  wallet = await start()
  pool = new pg.Pool({ connectionString: database.url })
  pool.on('error', () => {})
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await receiver?.stop()
  await anvil?.stop()
  await database?.drop()
})

async function ask(query: Record<string, string> = {}, token = vaultToken): Promise<Accepted> {
  const { status, body } = await call<Accepted>(wallet.url, `/accepted?${new URLSearchParams(query)}`, { token })
  expect(status).toBe(200)
  return body
}

const order = (id: string, from: { derivationPath: string; fromAddress: string }) =>
  orderTestTransfer(wallet.url, {
    id,
    ...from,
    toAddress: '0x000000000000000000000000000000000000dEaD',
    amount: '1000000000000000000000000',
  })

async function newAddress(derivationPath: string, token = vaultToken) {
  return { derivationPath, fromAddress: await deriveTestAddress(wallet.url, derivationPath, token) }
}

async function deposit(to: `0x${string}`): Promise<string> {
  const before = receiver.received.length
  const chain = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl) })
  const [from] = (await chain.request({ method: 'eth_accounts' } as never)) as [`0x${string}`]
  await chain.request({
    method: 'eth_sendTransaction',
    params: [{ from, to, value: `0x${parseEther('1').toString(16)}` }],
  } as never)
  await chain.mine({ blocks: 2 })
  await waitFor('the deposit to be reported', async () => receiver.received.length > before)
  return receiver.received.at(-1)!.event.id
}

test('T26 orders, addresses and delivered events are listed in the order in which they were accepted, once each', async () => {
  const from = await newAddress('m/44/60/1/0')
  await order('listed-1', from)
  await order('listed-1', from)
  await newAddress('m/44/60/1/0')
  const id = await deposit(from.fromAddress)
  const listed = await waitFor('the event to count as accepted', async () => {
    const answer = await ask()
    return answer.count === 3 ? answer : null
  })
  expect(listed.entries).toEqual([
    { kind: 'address', network: 'ethereum', derivationPath: from.derivationPath, address: from.fromAddress },
    { kind: 'transfer', id: 'listed-1' },
    {
      kind: 'event',
      id,
      network: 'ethereum',
      asset: null,
      toAddress: from.fromAddress,
      txHash: expect.stringMatching(/^0x/),
      index: 0,
      occurrence: 0,
      isOrphan: false,
    },
  ])
  expect(await ask({ after: listed.cursor })).toEqual({
    entries: [],
    count: 3,
    cursor: listed.cursor,
    database: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
  const first = await ask({ limit: '1' })
  expect(first).toMatchObject({ entries: [listed.entries[0]], count: 3 })
  expect((await ask({ after: first.cursor })).entries).toEqual(listed.entries.slice(1))
  expect(await ask({}, otherVaultToken)).toMatchObject({ entries: [], count: 0 })
})

test('T26 an order that is refused, or is rolled back, is not listed', async () => {
  const { cursor } = await ask()
  const from = await newAddress('m/44/60/1/1')
  expect((await order('refused-1', { ...from, derivationPath: 'm/44/60/1/2' })).status).toBe(400)
  expect((await ask({ after: cursor })).entries).toMatchObject([{ kind: 'address' }])
})

test('T26 concurrent orders and addresses have numbers without a gap', async () => {
  const from = await newAddress('m/44/60/2/0')
  const before = await ask()
  await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => order(`together-${n}`, from)),
    ...Array.from({ length: 20 }, (_, n) => newAddress(`m/44/60/2/${n + 1}`)),
  ])
  const { entries, count } = await ask({ after: before.cursor })
  expect(count).toBe(before.count + 40)
  expect(new Set(entries.map((entry) => JSON.stringify(entry))).size).toBe(40)
})

test('T26 a database that was restored does not know a cursor of what it lost, however much it accepts afterwards', async () => {
  const from = await newAddress('m/44/60/3/0')
  const kept = await ask()
  await wallet.stop()
  const backup = await copyOf(database.url)
  wallet = await start()
  await order('lost-1', from)
  const newest = (await ask()).cursor
  await wallet.stop()

  wallet = await start(backup.url)
  expect((await call(wallet.url, `/accepted?after=${newest}`)).body).toMatchObject({
    code: 410,
    details: expect.stringMatching(/^CURSOR_LOST: /),
  })
  for (const id of ['since-1', 'since-2']) await order(id, from)
  expect((await call(wallet.url, `/accepted?after=${newest}`)).status).toBe(410)
  const since = await ask({ after: kept.cursor })
  expect(since.entries).toMatchObject([{ id: 'since-1' }, { id: 'since-2' }])
  expect(since.database).not.toBe(kept.database)
  await wallet.stop()
  wallet = await start()
  await backup.drop()
})

test.each(['x', 'MSA', Buffer.from('1 abc').toString('base64url'), Buffer.from('-1 ').toString('base64url')])(
  '%s is not a cursor',
  async (cursor) => {
    expect((await call(wallet.url, `/accepted?after=${cursor}`)).status).toBe(400)
  },
)

test('T26 the cursor of another client is lost, not read', async () => {
  await newAddress('m/44/60/9/0', otherVaultToken)
  const { cursor } = await ask()
  expect((await call(wallet.url, `/accepted?after=${cursor}`, { token: otherVaultToken })).status).toBe(410)
})

test('T26 events are sent again on request under their ids, and those of another client are not', async () => {
  const from = await newAddress('m/44/60/4/0')
  const id = await deposit(from.fromAddress)
  const isListed = async () => (await ask()).entries.some((entry) => entry.kind === 'event' && entry.id === id)
  await waitFor('the event to count as accepted', isListed)
  const { count } = await ask()
  const before = receiver.received.length
  const replay = (ids: string[], token = vaultToken) => call(wallet.url, '/events/replay', { body: { ids }, token })
  expect(await replay([id], otherVaultToken)).toMatchObject({ status: 202, body: { replayed: 0 } })
  expect(await replay([id, 'evt_unknown'])).toMatchObject({ status: 202, body: { replayed: 1 } })
  await waitFor('the event to arrive again', async () => receiver.received.length > before)
  expect(receiver.received.at(-1)!.event.id).toBe(id)
  expect(receiver.received.length).toBe(before + 1)
  expect((await ask()).count).toBe(count)
  for (const body of [{}, { ids: [] }, { ids: ['bad id'] }, { ids: [id], more: 1 }])
    expect((await call(wallet.url, '/events/replay', { body })).status).toBe(400)
})

test('T26 what was accepted cannot be rewritten', async () => {
  await expect(pool.query('update wallet.accepted set key = key')).rejects.toThrow('never changed')
  await expect(pool.query('delete from wallet.accepted')).rejects.toThrow('never changed')
})

test('T26 a transaction of an address that this database has no record of is listed, and holds orders of the same back', async () => {
  const chain = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl) })
  const from = await newAddress('m/44/60/6/0')
  const to = '0x000000000000000000000000000000000000bEEF'
  await chain.setBalance({ address: from.fromAddress, value: parseEther('10') })
  await chain.impersonateAccount({ address: from.fromAddress })
  const { cursor } = await ask()
  const params = [{ from: from.fromAddress, to, value: '0x7' }]
  const txHash = (await chain.request({ method: 'eth_sendTransaction', params } as never)) as string
  await chain.mine({ blocks: 2 })
  const listed = await waitFor('the transaction', async () => {
    const { entries } = await ask({ after: cursor })
    return entries.length > 0 ? entries : null
  })
  expect(listed).toEqual([
    {
      kind: 'transaction',
      network: 'ethereum',
      txHash,
      fromAddress: from.fromAddress,
      nonce: 0,
      fee: expect.stringMatching(/^[1-9]\d+$/),
      payments: [{ toAddress: to, contractAddress: null, amount: '7' }],
    },
  ])
  await orderTestTransfer(wallet.url, { id: 'again-1', ...from, toAddress: to, amount: '7' })
  const accept = () => acceptNonce(pool, { network: 'ethereum', address: from.fromAddress, nextNonce: 1 })
  await expect(accept()).rejects.toThrow('again-1')
  const cancelled = await call(wallet.url, '/transfers/again-1/cancel-on-chain', { body: { txHash: null } })
  expect(cancelled.status).toBeLessThan(300)
  expect(await accept()).toBe(true)
  await orderTestTransfer(wallet.url, { id: 'after-1', ...from, toAddress: to, amount: '8' })
  await waitFor('the next payment', async () => {
    await chain.mine({ blocks: 1 })
    return (await call<{ status: string }>(wallet.url, '/transfers/after-1')).body.status === 'confirmed'
  })
  // Blocks that are read again tell nothing twice.
  const { count } = await ask()
  const nextBlock = async () => (await pool.query('select next_block::int from wallet.cursors')).rows[0].next_block
  const before = await nextBlock()
  expect(await rescan(pool, { network: 'ethereum', block: 0 })).toBe(true)
  await chain.mine({ blocks: 1 })
  await waitFor('the blocks to be read again', async () => (await nextBlock()) >= before)
  expect((await ask()).count).toBe(count)
  expect(await rescan(pool, { network: 'nowhere', block: 0 })).toBe(false)
})

test('a queued transfer says why it waits', async () => {
  const chain = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl) })
  const from = await newAddress('m/44/60/5/0')
  await chain.setBalance({ address: from.fromAddress, value: parseEther('10') })
  await chain.setNonce({ address: from.fromAddress, nonce: 2 })
  const ordered = { id: 'waits-1', ...from, toAddress: '0x000000000000000000000000000000000000dEaD', amount: '1' }
  expect((await orderTestTransfer(wallet.url, ordered)).body.waitingReason).toBeNull()
  const reason = await waitFor('the reason', async () => {
    const { body } = await call<{ status: string; waitingReason: string | null }>(wallet.url, '/transfers/waits-1')
    return body.status === 'queued' && body.waitingReason
  })
  expect(reason).toMatch(/^UNKNOWN_TRANSACTIONS: /)
})

async function copyOf(url: string): Promise<TestDatabase> {
  const copy = await createTestDatabase()
  const [from, to] = [url, copy.url].map((address) => new URL(address).pathname.slice(1))
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from])
  await client.query(`drop database ${to}`)
  await client.query(`create database ${to} template ${from} strategy file_copy`)
  await client.end()
  return copy
}

import pg from 'pg'
import { type Hex, parseEther, parseGwei, parseTransaction } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import type { ReplacementQuote, TransferStatus } from '../protocol.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { type Faucet, openFaucet } from '../testing/test-token.ts'
import {
  call,
  deriveTestAddress,
  orderTestTransfer,
  otherVaultToken,
  testConfig,
  waitFor,
  waitForTransfer,
} from '../testing/wallet-client.ts'

const recipient = '0x000000000000000000000000000000000000dEaD'
const low = parseGwei('1')
const high = parseGwei('40')

let anvil: Anvil
let chain: LocalChain
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let faucet: Faucet
let pool: pg.Pool
let pathCount = 0

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  proxy = await startNodeProxy(anvil.rpcUrl)
  faucet = openFaucet(anvil.rpcUrl)
  wallet = await start()
  pool = new pg.Pool({ connectionString: database.url })
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

beforeEach(async () => {
  proxy.control.fault = 'none'
  await chain.mine(low)
})

const start = () => startWallet(testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl }))

async function fundedAddress() {
  const derivationPath = `m/44/60/2/${pathCount++}`
  const fromAddress = await deriveTestAddress(wallet.url, derivationPath)
  await chain.setBalance(fromAddress, parseEther('10'))
  return { derivationPath, fromAddress }
}

type Order = Parameters<typeof orderTestTransfer>[1]
const order = (changes: Omit<Order, 'toAddress' | 'amount'> & Partial<Order>) =>
  orderTestTransfer(wallet.url, { toAddress: recipient, amount: '7', ...changes })

const stateOf = async (id: string) => (await call<TransferStatus>(wallet.url, `/transfers/${id}`)).body

const untilBroadcast = (id: string, isHash = (_hash: string) => true) =>
  waitFor(`the broadcast of ${id}`, async () => {
    const { status, txHash } = await stateOf(id)
    return status === 'broadcast' && txHash !== null && isHash(txHash) && (await isPooled(txHash)) && txHash
  })

const isPooled = (hash: string) =>
  faucet.getTransaction({ hash: hash as Hex }).then(
    () => true,
    () => false,
  )

type Action = 'speed-up' | 'cancel-on-chain'
const replace = (id: string, action: Action, txHash: string | null, maxFee?: string) =>
  call<TransferStatus & { details: string }>(wallet.url, `/transfers/${id}/${action}`, {
    body: { txHash, ...(maxFee === undefined ? {} : { maxFee }) },
  })

/** A transfer whose transaction waits because the base fee has risen above what it pays. */
async function stuckTransfer(id: string, changes: Partial<Order> = {}) {
  const from = await fundedAddress()
  await order({ id, ...from, ...changes })
  const txHash = await untilBroadcast(id)
  await chain.mine(high)
  expect(await stateOf(id)).toMatchObject({ status: 'broadcast', confirmations: 0 })
  return { ...from, txHash }
}

async function mineUntilSettled(id: string, baseFee = high) {
  return await waitFor(`${id} to settle`, async () => {
    await chain.mine(baseFee)
    const state = await stateOf(id)
    return (state.status === 'confirmed' || state.status === 'failed') && state
  })
}

const paidTo = (address: string) => faucet.getBalance({ address: address as Hex })

/** A recipient that only the test pays, so that its balance is what was paid. */
const freshRecipient = (number: number) =>
  `0x00000000000000000000000000000000000${(0xa0000 + number).toString(16)}` as const

const signed = async (hash: string) => parseTransaction(await rawOf(hash))

const rawOf = async (hash: string) => {
  const { rows } = await pool.query('select raw_transaction from wallet.transactions where tx_hash = $1', [hash])
  return rows[0].raw_transaction as Hex
}

describe('T75 replacement', () => {
  test('three transfers behind a stuck one are confirmed after it was sped up once', async () => {
    const from = await stuckTransfer('first')
    const behind = ['second', 'third', 'fourth']
    for (const id of behind) await order({ id, derivationPath: from.derivationPath, fromAddress: from.fromAddress })
    for (const id of behind) await untilBroadcast(id)
    await chain.mine(high)
    for (const id of behind) expect(await stateOf(id)).toMatchObject({ status: 'broadcast', waitsFor: 'first' })
    expect(await stateOf('first')).toMatchObject({ waitsFor: null })
    expect(await replace('second', 'speed-up', (await stateOf('second')).txHash)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^EARLIER_FIRST: /) },
    })

    const sped = await replace('first', 'speed-up', from.txHash)
    expect(sped.status).toBe(202)
    expect(sped.body.txHashes).toEqual([from.txHash, sped.body.txHash])
    await untilBroadcast('first', (hash) => hash !== from.txHash)
    for (const id of ['first', ...behind]) expect(await mineUntilSettled(id)).toMatchObject({ status: 'confirmed' })
    expect(await faucet.getTransactionCount({ address: from.fromAddress })).toBe(4)
  })

  test('both fees rise by an eighth or more, and the nonce and the payment stay', async () => {
    const { txHash } = await stuckTransfer('eighth')
    const { body } = await replace('eighth', 'speed-up', txHash)
    const [before, after] = [await signed(txHash), await signed(body.txHash!)]
    const payment = ({ nonce, to, value, data, gas }: typeof after) => ({ nonce, to, value, data, gas })
    expect(before).toMatchObject({ nonce: 0, to: recipient.toLowerCase(), value: 7n, gas: 21_000n })
    expect(payment(after)).toEqual(payment(before))
    expect(after.maxFeePerGas! * 8n).toBeGreaterThanOrEqual(before.maxFeePerGas! * 9n)
    expect(after.maxPriorityFeePerGas! * 8n).toBeGreaterThanOrEqual(before.maxPriorityFeePerGas! * 9n)
    expect(await mineUntilSettled('eighth')).toMatchObject({ status: 'confirmed', txHash: body.txHash })
  })

  test.each([
    ['the old', 'speed-up'],
    ['the new', 'speed-up'],
    ['the old', 'cancel-on-chain'],
    ['the new', 'cancel-on-chain'],
  ] as const)('when %s transaction is mined after %s, the amount moves at most once', async (mined, action) => {
    const toAddress = freshRecipient(pathCount)
    const id = `either-${mined.slice(4)}-${action}`
    const { txHash, fromAddress } = await stuckTransfer(id, { toAddress, amount: '1000' })
    const { body } = await replace(id, action, txHash)
    const newHash = await untilBroadcast(id, (hash) => hash === body.txHash)
    if (mined === 'the old') {
      // Another node still has the old transaction and mines it.
      proxy.control.fault = 'dropSend'
      await chain.drop(newHash)
      await chain.mine(low)
      await chain.send(await rawOf(txHash))
    }
    const settled = await mineUntilSettled(id, mined === 'the old' ? low : high)
    const isPaid = mined === 'the old' || action === 'speed-up'
    expect(settled).toMatchObject({
      status: isPaid ? 'confirmed' : 'failed',
      txHash: mined === 'the old' ? txHash : newHash,
      txHashes: [txHash, newHash],
      feePaidBy: fromAddress,
      failureReason: isPaid ? null : expect.stringMatching(/^CANCELLED: /),
    })
    expect(await paidTo(toAddress)).toBe(isPaid ? 1000n : 0n)
    expect(await faucet.getTransactionCount({ address: fromAddress })).toBe(1)
    // Neither variant can be mined any more.
    proxy.control.fault = 'none'
    for (const hash of [txHash, newHash]) await chain.send(await rawOf(hash)).catch(() => undefined)
    await chain.mine(low)
    expect(await paidTo(toAddress)).toBe(isPaid ? 1000n : 0n)
  })

  test('the same request again, and many at once, sign one transaction', async () => {
    const { txHash } = await stuckTransfer('once')
    const answers = await Promise.all(Array.from({ length: 10 }, () => replace('once', 'speed-up', txHash)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202))
    expect((await replace('once', 'speed-up', txHash)).status).toBe(202)
    expect((await stateOf('once')).txHashes).toHaveLength(2)
    expect(await mineUntilSettled('once')).toMatchObject({ status: 'confirmed' })
  })

  test('a cancellation can be sped up, and never becomes the payment again', async () => {
    const toAddress = freshRecipient(pathCount)
    const { txHash } = await stuckTransfer('regret', { toAddress })
    const cancelled = await replace('regret', 'cancel-on-chain', txHash)
    await untilBroadcast('regret', (hash) => hash === cancelled.body.txHash)
    const faster = await replace('regret', 'speed-up', cancelled.body.txHash)
    expect(faster.body.txHashes).toHaveLength(3)
    await untilBroadcast('regret', (hash) => hash === faster.body.txHash)
    expect(await mineUntilSettled('regret')).toMatchObject({ status: 'failed', txHash: faster.body.txHash })
    expect(await paidTo(toAddress)).toBe(0n)
  })

  test('a replacement that the node has lost is sent again with the same bytes', async () => {
    const { txHash } = await stuckTransfer('lost')
    const { body } = await replace('lost', 'speed-up', txHash)
    await untilBroadcast('lost', (hash) => hash === body.txHash)
    await chain.drop(body.txHash!)
    await untilBroadcast('lost', (hash) => hash === body.txHash)
    expect(await mineUntilSettled('lost')).toMatchObject({ status: 'confirmed', txHash: body.txHash })
    expect((await stateOf('lost')).txHashes).toHaveLength(2)
  })

  test('a signed transaction is stored before it is sent, and cannot be changed', async () => {
    const { txHash } = await stuckTransfer('kept')
    proxy.control.fault = 'dropSend'
    const { body } = await replace('kept', 'speed-up', txHash)
    await waitFor('a send attempt', async () => proxy.control.sent.includes(await rawOf(body.txHash!)))
    await wallet.stop()
    proxy.control.fault = 'none'
    const change = "update wallet.transactions set raw_transaction = '0x00' where tx_hash = $1"
    await expect(pool.query(change, [txHash])).rejects.toThrow('kept as it is')
    await expect(pool.query('delete from wallet.transactions where tx_hash = $1', [txHash])).rejects.toThrow('kept')
    const swap = "update wallet.transfers set tx_hash = '0x00', raw_transaction = '0x00' where id = 'kept'"
    await expect(pool.query(swap)).rejects.toThrow('cannot be replaced')
    wallet = await start()
    expect(await mineUntilSettled('kept')).toMatchObject({ status: 'confirmed', txHash: body.txHash })
  })

  test('is refused for a mined, final, unsigned or unknown transaction, and for another client', async () => {
    const { txHash } = await stuckTransfer('done')
    await replace('done', 'speed-up', txHash)
    const { txHash: minedHash } = await mineUntilSettled('done')
    for (const action of ['speed-up', 'cancel-on-chain'] as const) {
      expect(await replace('done', action, minedHash)).toMatchObject({
        status: 409,
        body: { details: expect.stringMatching(/^ENDED: /) },
      })
      const path = `/transfers/done/${action}` as const
      expect((await call(wallet.url, path, { body: { txHash }, token: otherVaultToken })).status).toBe(404)
      expect((await call(wallet.url, '/transfers/never/speed-up', { body: { txHash } })).status).toBe(404)
      expect((await call(wallet.url, path, { body: {} })).status).toBe(400)
      expect((await call(wallet.url, path, { body: { txHash, amount: '1' } })).status).toBe(400)
    }
    expect((await call(wallet.url, '/transfers/done/replacement')).body).toMatchObject({
      speedUp: { refusal: expect.stringMatching(/^ENDED: /) },
      cancelOnChain: { refusal: expect.stringMatching(/^ENDED: /) },
    })
  })

  test('a fee that is far above the usual one is not raised again', async () => {
    let { txHash } = await stuckTransfer('dear')
    await chain.mine(low)
    const refusal = await waitFor('the end of the replacements', async () => {
      await chain.drop(txHash)
      const { status, body } = await replace('dear', 'speed-up', txHash)
      if (status === 409) return body.details
      txHash = body.txHash!
      return null
    })
    expect(refusal).toMatch(/^(FEE_HIGH_ENOUGH|ALREADY_MINED): /)
  })
})

describe('T63 the highest fee', () => {
  test('is never exceeded by a signed transaction; the transfer waits until the fee falls', async () => {
    const from = await fundedAddress()
    await chain.mine(high)
    const maxFee = (21_000n * parseGwei('20')).toString()
    const ordered = await order({ id: 'patient', ...from, maxFee, feeLevel: 'high' })
    expect(ordered.status).toBe(202)
    await waitFor('the reason', async () => {
      const { rows } = await pool.query(
        "select from wallet.transfers where id = 'patient' and last_error like 'ABOVE_MAX_FEE%'",
      )
      return rows.length === 1
    })
    expect(await stateOf('patient')).toMatchObject({ status: 'queued', txHash: null })
    await chain.mine(low)
    const hash = await untilBroadcast('patient')
    const transaction = await faucet.getTransaction({ hash: hash as Hex })
    expect(transaction.gas * transaction.maxFeePerGas!).toBeLessThanOrEqual(BigInt(maxFee))
    expect(BigInt((await mineUntilSettled('patient', low)).fee!)).toBeLessThanOrEqual(BigInt(maxFee))
  })

  test('limits a replacement, as the limit of the caller does', async () => {
    const maxFee = (21_000n * parseGwei('60')).toString()
    const { txHash } = await stuckTransfer('bounded', { maxFee })
    const quote = (await call<ReplacementQuote>(wallet.url, '/transfers/bounded/replacement')).body
    expect(quote).toMatchObject({ txHash, speedUp: { maxFee: expect.any(String) } })
    expect(await replace('bounded', 'speed-up', txHash, '1000')).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: /) },
    })
    const { body } = await replace('bounded', 'speed-up', txHash)
    await untilBroadcast('bounded', (hash) => hash === body.txHash)
    const transaction = await faucet.getTransaction({ hash: body.txHash as Hex })
    expect(transaction.gas * transaction.maxFeePerGas!).toBeLessThanOrEqual(BigInt(maxFee))
    // The next one would have to pay more than the order permits.
    expect(await replace('bounded', 'speed-up', body.txHash)).toMatchObject({
      status: 409,
      body: { details: expect.stringMatching(/^ABOVE_MAX_FEE: /) },
    })
    expect(await mineUntilSettled('bounded')).toMatchObject({ status: 'confirmed' })
  })

  test('can be raised for a replacement, whose quote says how much it needs', async () => {
    const ordered = 21_000n * parseGwei('20')
    const { txHash } = await stuckTransfer('raised', { maxFee: ordered.toString() })
    await chain.mine(high)
    const { speedUp } = (await call<ReplacementQuote>(wallet.url, '/transfers/raised/replacement')).body
    expect(speedUp).toEqual({ refusal: expect.stringMatching(/^ABOVE_MAX_FEE: /), maxFee: expect.any(String) })
    const needed = BigInt((speedUp as { maxFee: string }).maxFee)
    expect(needed).toBeGreaterThan(ordered)
    expect((await replace('raised', 'speed-up', txHash)).body.details).toMatch(/^ABOVE_MAX_FEE: /)
    expect((await replace('raised', 'speed-up', txHash, (ordered + 1n).toString())).status).toBe(409)

    const { status, body } = await replace('raised', 'speed-up', txHash, needed.toString())
    expect(status).toBe(202)
    const { gas, maxFeePerGas } = await signed(body.txHash!)
    expect(gas! * maxFeePerGas!).toBeGreaterThan(ordered)
    expect(gas! * maxFeePerGas!).toBeLessThanOrEqual(needed)
    // The limit was raised for this transaction only.
    expect((await replace('raised', 'speed-up', body.txHash)).body.details).toMatch(/^ABOVE_MAX_FEE: /)
    expect(await mineUntilSettled('raised')).toMatchObject({ status: 'confirmed', txHash: body.txHash })
  })

  test('an unsigned transfer is cancelled without a transaction', async () => {
    const from = await fundedAddress()
    await order({ id: 'unsigned', ...from, maxFee: '1' })
    expect((await replace('unsigned', 'speed-up', null)).body).toMatchObject({
      details: expect.stringMatching(/^NOT_SIGNED: /),
    })
    expect((await call(wallet.url, '/transfers/unsigned/replacement')).body).toMatchObject({
      txHash: null,
      cancelOnChain: { maxFee: '0' },
    })
    expect((await replace('unsigned', 'cancel-on-chain', null)).body).toMatchObject({
      status: 'failed',
      txHash: null,
      fee: null,
      failureReason: expect.stringMatching(/^CANCELLED: /),
    })
    expect((await faucet.getTransactionCount({ address: from.fromAddress, blockTag: 'pending' })) as number).toBe(0)
  })

  test.each([
    ['maxFee', '0'],
    ['maxFee', '-1'],
    ['maxFee', '1.5'],
    ['maxFee', 5],
    ['maxFee', (2n ** 256n).toString()],
    ['feeLevel', 'urgent'],
  ])('is refused with a 400 as %s %j', async (field, value) => {
    const from = await fundedAddress()
    expect(await order({ id: 'bad', ...from, [field]: value })).toMatchObject({
      status: 400,
      body: { details: expect.arrayContaining([expect.objectContaining({ field })]) },
    })
  })

  test('is refused with a 409 when it differs under the same id', async () => {
    const from = await fundedAddress()
    await order({ id: 'same', ...from, maxFee: '1' })
    expect((await order({ id: 'same', ...from, maxFee: '1' })).status).toBe(202)
    expect((await order({ id: 'same', ...from, maxFee: '2' })).status).toBe(409)
    expect((await order({ id: 'same', ...from, maxFee: '1', feeLevel: 'low' })).status).toBe(409)
    expect((await order({ id: 'same', ...from })).status).toBe(409)
  })

  test('estimates rise with the level', async () => {
    const { fromAddress } = await fundedAddress()
    const question = { network: 'ethereum', fromAddress, toAddress: recipient, contractAddress: null, amount: '1' }
    const estimate = async (feeLevel?: string) => {
      const { body } = await call<{ maxFee: string }>(wallet.url, '/fees', {
        body: { ...question, ...(feeLevel === undefined ? {} : { feeLevel }) },
      })
      return BigInt(body.maxFee)
    }
    const [lowest, usual, highest] = [await estimate('low'), await estimate(), await estimate('high')]
    expect(lowest).toBeLessThan(usual)
    expect(usual).toBeLessThan(highest)
  })
})

test('T26 a wallet that was restored from an older backup signs nothing with a used nonce', async () => {
  const from = await fundedAddress()
  await order({ id: 'backup-0', ...from })
  await mineUntilSettled('backup-0', low)
  await order({ id: 'backup-1', ...from })
  await untilBroadcast('backup-1')
  await wallet.stop()
  // The backup is from before the second transfer, which waits in the pool.
  await pool.query('alter table wallet.transactions disable trigger user')
  await pool.query('alter table wallet.nonces disable trigger user')
  await pool.query("delete from wallet.transactions where id = 'backup-1'")
  await pool.query("delete from wallet.transfers where id = 'backup-1'")
  await pool.query('update wallet.nonces set next_nonce = 1 where address = $1', [from.fromAddress])
  await pool.query('alter table wallet.transactions enable trigger user')
  await pool.query('alter table wallet.nonces enable trigger user')
  wallet = await start()
  // The forgotten one is handed over again under its id, and another one after it.
  for (const id of ['backup-1', 'backup-2']) {
    await order({ id, ...from })
    await waitFor('the reason', async () => {
      const { rows } = await pool.query(
        "select from wallet.transfers where id = $1 and last_error like 'UNKNOWN_TRANSACTIONS%'",
        [id],
      )
      return rows.length === 1
    })
    expect(await stateOf(id)).toMatchObject({ status: 'queued', txHash: null })
  }
  // Settled by people, it is ended here without a transaction.
  expect((await replace('backup-1', 'cancel-on-chain', null)).body).toMatchObject({ status: 'failed', txHash: null })
  const rewind = 'update wallet.nonces set next_nonce = 0 where address = $1'
  await expect(pool.query(rewind, [from.fromAddress])).rejects.toThrow('cannot go back')
})

test('a transfer that nobody replaced is confirmed as before', async () => {
  const from = await fundedAddress()
  await chain.setAutomine(true)
  try {
    await order({ id: 'plain', ...from })
    expect(await waitForTransfer(wallet.url, 'plain')).toMatchObject({ status: 'confirmed', waitsFor: null })
  } finally {
    await chain.setAutomine(false)
  }
})

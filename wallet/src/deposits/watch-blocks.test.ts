import pg from 'pg'
import { type Address, parseEther } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { inTransaction } from '../database/in-transaction.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { deployTestToken, type Faucet, openFaucet, readTestToken } from '../testing/test-token.ts'
import { deriveTestAddress, testConfig, waitFor } from '../testing/wallet-client.ts'
import { hasValidSignature, startWebhookReceiver } from '../testing/webhook-receiver.ts'

const { abi } = readTestToken()

let anvil: Anvil
let database: TestDatabase
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
let wallet: RunningWallet
let faucet: Faucet
let pool: pg.Pool
let token: Address
let pathCount = 0

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  receiver = await startWebhookReceiver()
  faucet = openFaucet(anvil.rpcUrl)
  token = await deployTestToken(faucet)
  pool = new pg.Pool({ connectionString: database.url })
  wallet = await start()
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await receiver?.stop()
  await anvil?.stop()
  await database?.drop()
})

beforeEach(() => {
  receiver.received.length = 0
})

async function start(confirmations = 1) {
  const ethereum = { rpcUrl: anvil.rpcUrl, chainId: 31337, confirmations, pollMilliseconds: 50 }
  const config = testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl, webhookUrl: receiver.url })
  return await startWallet({ ...config, chains: { ethereum } })
}

const newAddress = () => deriveTestAddress(wallet.url, `m/44/60/2/${pathCount++}`)

async function sendCoin(to: Address, coins: string) {
  const hash = await faucet.sendTransaction({ to, value: parseEther(coins), chain: null })
  return await faucet.waitForTransactionReceipt({ hash })
}

async function sendToken(functionName: 'transfer' | 'transferMany', args: unknown[]) {
  const hash = await faucet.writeContract({ address: token, abi, functionName, args, chain: null })
  return await faucet.waitForTransactionReceipt({ hash })
}

const eventsTo = (address: Address) => receiver.received.filter(({ event }) => event.tx.toAddress === address)

/** Waits until the watcher has read every block that is deep enough, and everything that it found is delivered. */
async function watched(blocksAbove = 0n) {
  const headBlock = (await faucet.getBlockNumber()) - blocksAbove
  await waitFor('the watcher', async () => {
    const { rows } = await pool.query(
      `select from wallet.cursors where next_block > $1
       and not exists (select from wallet.webhook_deliveries where delivered_at is null)`,
      [headBlock.toString()],
    )
    return rows.length === 1
  })
}

test('a deposit of the coin is reported once, in token units and signed', async () => {
  const address = await newAddress()
  const receipt = await sendCoin(address, '1.50')
  await watched()
  expect(eventsTo(address)).toHaveLength(1)
  const [delivery] = eventsTo(address)
  const block = await faucet.getBlock({ blockNumber: receipt.blockNumber })
  expect(delivery!.event).toEqual({
    kind: 'TOPUP',
    id: delivery!.headers['webhook-id'],
    tx: {
      network: 'ethereum',
      asset: null,
      amount: '1.5',
      toAddress: address,
      txHash: receipt.transactionHash,
      index: 0,
      fromAddress: faucet.account.address,
      blockTime: new Date(Number(block.timestamp) * 1000).toISOString(),
      occurrence: 0,
      confirmations: expect.any(Number),
    },
  })
  expect(hasValidSignature(delivery!)).toBe(true)
  expect(Math.abs(Number(delivery!.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(10)
})

test('a deposit of a token is reported with its contract and its decimals', async () => {
  const address = await newAddress()
  const receipt = await sendToken('transfer', [address, 1_230_000n])
  await watched()
  expect(eventsTo(address)).toHaveLength(1)
  const { event } = eventsTo(address)[0]!
  expect(event.tx).toMatchObject({ asset: token, amount: '1.23', txHash: receipt.transactionHash, index: 0 })
})

test('T12 transfers of one transaction have distinct positions, and the position is not block-wide', async () => {
  const [first, second] = [await newAddress(), await newAddress()]
  await rpc('evm_setAutomine', [false])
  try {
    // Another Transfer log precedes these in the block, so a block-wide index would start at 1.
    const args = [faucet.account.address, 1n]
    const before = await faucet.writeContract({
      address: token,
      abi,
      functionName: 'transfer',
      args,
      chain: null,
      gas: 200_000n,
    })
    const many = [
      [first, second, first],
      [1n, 2n, 3n],
    ]
    const hash = await faucet.writeContract({
      address: token,
      abi,
      functionName: 'transferMany',
      args: many,
      chain: null,
      gas: 300_000n,
      nonce: (await faucet.getTransaction({ hash: before })).nonce + 1,
    })
    await rpc('evm_mine', [])
    expect((await faucet.getTransactionReceipt({ hash })).logs[0]!.logIndex).toBe(1)
  } finally {
    await rpc('evm_setAutomine', [true])
  }
  await watched()
  const seen = [...eventsTo(first), ...eventsTo(second)].map(({ event }) => [event.tx.index, event.tx.amount])
  expect(seen.sort()).toEqual([
    [0, '0.000001'],
    [1, '0.000002'],
    [2, '0.000003'],
  ])
  expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(3)
})

test('T16 T21 reverted transactions and zero amounts are not reported', async () => {
  const address = await newAddress()
  await sendToken('transfer', [address, 0n])
  await sendCoin(address, '0')
  const hash = await faucet.sendTransaction({
    to: token,
    data: `0xa9059cbb${address.slice(2).padStart(64, '0')}${'f'.repeat(64)}`,
    gas: 100_000n,
    chain: null,
  })
  expect((await faucet.waitForTransactionReceipt({ hash })).status).toBe('reverted')
  await watched()
  expect(receiver.received).toHaveLength(0)
})

test('T16 coins of a transaction that reverted are not reported, though it names the address and the amount', async () => {
  const address = await newAddress()
  // With code that reverts at the address itself, the transaction still carries its recipient and its value.
  await rpc('anvil_setCode', [address, '0x60006000fd'])
  const hash = await faucet.sendTransaction({ to: address, value: parseEther('1'), gas: 100_000n, chain: null })
  expect((await faucet.waitForTransactionReceipt({ hash })).status).toBe('reverted')
  await rpc('anvil_setCode', [address, '0x'])
  await sendCoin(address, '0.3')
  await watched()
  expect(eventsTo(address).map(({ event }) => event.tx.amount)).toEqual(['0.3'])
})

test('a hostile token that never answers cannot hold up the deposits behind it', async () => {
  const address = await newAddress()
  // Runtime: 32 bytes of input make a Transfer log to the address in them; anything else, such as decimals(), loops forever.
  const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const runtime = `36602014600b575b6007565b6005600052600035337f${transferTopic}60206000a300`
  const length = (runtime.length / 2).toString(16).padStart(2, '0')
  const creation = await faucet.sendTransaction({ data: `0x60${length}80600b6000396000f3${runtime}`, chain: null })
  const { contractAddress } = await faucet.waitForTransactionReceipt({ hash: creation })
  const input = `0x${address.slice(2).padStart(64, '0')}` as const
  const hash = await faucet.sendTransaction({ to: contractAddress!, data: input, chain: null })
  expect((await faucet.waitForTransactionReceipt({ hash })).logs).toHaveLength(1)
  await sendCoin(address, '0.7')
  await watched()
  expect(eventsTo(address).map(({ event }) => event.tx.amount)).toEqual(['0.7'])
})

test('a delivery that fails is retried until the receiver accepts it, with the same id and body', async () => {
  const address = await newAddress()
  receiver.control.failures = 2
  await sendCoin(address, '0.25')
  await watched()
  expect(receiver.control).toMatchObject({ failures: 0 })
  expect(eventsTo(address)).toHaveLength(1)
  expect(hasValidSignature(eventsTo(address)[0]!)).toBe(true)
  const { rows } = await pool.query('select attempts from wallet.webhook_deliveries where id = $1', [
    eventsTo(address)[0]!.event.id,
  ])
  expect(rows[0].attempts).toBe(3)
})

test('a restarted wallet continues from the cursor: nothing is missed, nothing is reported twice', async () => {
  const address = await newAddress()
  await sendCoin(address, '0.1')
  await watched()
  await wallet.stop()
  await sendCoin(address, '0.2')
  await rpc('anvil_mine', ['0x96'])
  await sendCoin(address, '0.3')
  wallet = await start()
  await watched()
  expect(
    eventsTo(address)
      .map(({ event }) => event.tx.amount)
      .sort(),
  ).toEqual(['0.1', '0.2', '0.3'])
})

test('a deposit that was made before the first pass of the watcher is found', async () => {
  const fresh = await createTestDatabase()
  const proxy = await startNodeProxy(anvil.rpcUrl)
  proxy.control.fault = 'down'
  const settings = testConfig({ databaseUrl: fresh.url, rpcUrl: proxy.rpcUrl, webhookUrl: receiver.url })
  const late = await startWallet(settings)
  try {
    const address = await deriveTestAddress(late.url, 'm/44/60/0/0')
    await sendCoin(address, '0.8')
    proxy.control.fault = 'none'
    await waitFor('the deposit', async () => eventsTo(address).length === 1)
  } finally {
    await late.stop()
    await proxy.stop()
    await fresh.drop()
  }
})

test('two wallets on one database report a deposit once', async () => {
  const second = await start()
  try {
    const address = await newAddress()
    // Both have read the same block and found the deposit before either of them may move the cursor.
    await inTransaction(pool, async (tx) => {
      await tx.query('select from wallet.cursors for update')
      await sendCoin(address, '0.01')
      await waitFor('both watchers', async () => {
        const { rows } = await pool.query<{ count: number }>(
          `select count(distinct l.pid)::int as count from pg_locks l join pg_stat_activity a using (pid)
           where not l.granted and a.datname = current_database()`,
        )
        return rows[0]!.count === 2
      })
    })
    for (const coins of ['0.02', '0.03']) await sendCoin(address, coins)
    await watched()
    expect(
      eventsTo(address)
        .map(({ event }) => event.tx.amount)
        .sort(),
    ).toEqual(['0.01', '0.02', '0.03'])
  } finally {
    await second.stop()
  }
})

test('T17 a rewound chain is read again: known deposits are not reported twice, new deposits are reported', async () => {
  const address = await newAddress()
  await sendCoin(address, '0.4')
  await watched()
  const snapshot = await rpc('evm_snapshot', [])
  await rpc('anvil_mine', ['0x5'])
  await watched()
  await rpc('evm_revert', [snapshot])
  await sendCoin(address, '0.5')
  await watchedAfterRewind()
  expect(
    eventsTo(address)
      .map(({ event }) => event.tx.amount)
      .sort(),
  ).toEqual(['0.4', '0.5'])
})

test('a deposit counts only at the configured depth', async () => {
  await wallet.stop()
  wallet = await start(3)
  const address = await newAddress()
  await sendCoin(address, '0.6')
  await rpc('evm_mine', [])
  await watched(2n)
  expect(eventsTo(address)).toHaveLength(0)
  await rpc('evm_mine', [])
  await waitFor('the deposit', async () => eventsTo(address).length === 1)
  expect(eventsTo(address)[0]!.event.tx).toMatchObject({ confirmations: 3 })
})

async function watchedAfterRewind() {
  const headBlock = await faucet.getBlockNumber()
  await waitFor('the watcher to read again', async () => {
    const { rows } = await pool.query('select from wallet.cursors where next_block = $1', [(headBlock + 1n).toString()])
    return rows.length === 1
  })
  await watched()
}

async function rpc(method: string, params: unknown[]): Promise<unknown> {
  const response = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: unknown }).result
}

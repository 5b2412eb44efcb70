import pg from 'pg'
import { type Address, encodeFunctionData, type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { deployTestToken, type Faucet, openFaucet, readTestToken } from '../testing/test-token.ts'
import { deriveTestAddress, testConfig, waitFor } from '../testing/wallet-client.ts'
import { hasValidSignature, startWebhookReceiver } from '../testing/webhook-receiver.ts'

const { abi } = readTestToken()

let anvil: Anvil
let chain: LocalChain
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
  chain = controlChain(anvil.rpcUrl)
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

async function start({ confirmations = 1, watchDepth = 1000 } = {}) {
  const ethereum = { rpcUrl: anvil.rpcUrl, chainId: 31337, confirmations, pollMilliseconds: 50, watchDepth }
  const config = testConfig({ databaseUrl: database.url, rpcUrl: anvil.rpcUrl, webhookUrl: receiver.url })
  return await startWallet({ ...config, chains: { ethereum } })
}

const newAddress = () => deriveTestAddress(wallet.url, `m/44/60/3/${pathCount++}`)
const snapshot = () => chain.rpc<string>('evm_snapshot')
const revert = (id: string) => chain.rpc('evm_revert', [id])
const mine = (blocks: number) => chain.rpc('anvil_mine', [`0x${blocks.toString(16)}`])

/** Signs a payment, which stays the same transaction when it is sent again after a reorganisation. */
async function sign(to: Address, coins: string, data?: { to: Address; data: Hex }): Promise<Hex> {
  const nonce = await faucet.getTransactionCount({ address: faucet.account.address })
  const fees = { maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') }
  const what = data === undefined ? { to, value: parseEther(coins) } : data
  return await faucet.account.signTransaction({
    ...what,
    ...fees,
    nonce,
    gas: 100_000n,
    chainId: 31337,
    type: 'eip1559',
  })
}

/** Returns the delivered events about an address in the order of storage, because deliveries may overtake each other. */
async function toldOf(address: Address): Promise<string[]> {
  const { rows } = await pool.query<{ told: string }>(
    `select body::json ->> 'kind' || ' ' || (body::json #>> '{tx,occurrence}') as told from wallet.webhook_deliveries
     where body::json #>> '{tx,toAddress}' = $1 and delivered_at is not null order by sequence`,
    [address],
  )
  return rows.map(({ told }) => told)
}

const untilTold = (address: Address, ...events: string[]) =>
  waitFor(events.join(', '), async () => JSON.stringify(await toldOf(address)) === JSON.stringify(events))

/** Waits until every block that is deep enough is read, no deposit is in doubt, and every event is delivered. */
async function settled(confirmations = 1) {
  const firstUnread = (await faucet.getBlockNumber()) - BigInt(confirmations) + 2n
  await waitFor('the watcher', async () => {
    const { rows } = await pool.query(
      `select from wallet.cursors where next_block = $1 and not exists (select from wallet.deposits where is_doubtful)
       and not exists (select from wallet.webhook_deliveries where delivered_at is null)`,
      [firstUnread.toString()],
    )
    return rows.length === 1
  })
}

test('T17 a deposit that the chain loses is told, and told again each time that it comes back', async () => {
  const address = await newAddress()
  await settled()
  const before = [await snapshot()]
  const raw = await sign(address, '1.5')
  const hash = await chain.send(raw)
  await untilTold(address, 'TOPUP 0')
  for (const occurrence of [0, 1]) {
    await revert(before.pop()!)
    before.push(await snapshot())
    await mine(4 + 4 * occurrence)
    const gone = (times: number) =>
      Array.from({ length: times }, (_, i) => [`TOPUP ${i}`, `DEPOSIT_ORPHANED ${i}`]).flat()
    await untilTold(address, ...gone(occurrence + 1))
    expect(await chain.send(raw)).toBe(hash)
    await untilTold(address, ...gone(occurrence + 1), `TOPUP ${occurrence + 1}`)
  }
  const orphaned = receiver.received.find(({ event }) => event.kind === 'DEPOSIT_ORPHANED')!
  expect(orphaned.event).toEqual({
    kind: 'DEPOSIT_ORPHANED',
    id: orphaned.headers['webhook-id'],
    tx: {
      network: 'ethereum',
      asset: null,
      amount: '1.5',
      toAddress: address,
      txHash: hash,
      index: 0,
      fromAddress: faucet.account.address,
      blockTime: expect.any(String),
      occurrence: 0,
    },
  })
  expect(hasValidSignature(orphaned)).toBe(true)
  const ids = receiver.received.map(({ event }) => event.id)
  expect(new Set(ids).size).toBe(5)
})

test('T17 a transaction that is mined again elsewhere, deep enough, is not told again', async () => {
  const address = await newAddress()
  await settled()
  const before = await snapshot()
  const raw = await sign(address, '0.3')
  await chain.send(raw)
  await settled()
  await wallet.stop()
  await revert(before)
  await mine(2)
  const hash = await chain.send(raw)
  await mine(2)
  wallet = await start()
  await settled()
  expect(await toldOf(address)).toEqual(['TOPUP 0'])
  const { blockNumber } = await faucet.getTransactionReceipt({ hash })
  const { rows } = await pool.query("select block_number from wallet.deposits where tx ->> 'txHash' = $1", [hash])
  expect(rows).toEqual([{ block_number: blockNumber.toString() }])
})

test('T16 T17 a deposit that is mined again counts as gone until it is deep enough', async () => {
  await wallet.stop()
  wallet = await start({ confirmations: 3 })
  const address = await newAddress()
  const before = await snapshot()
  const raw = await sign(address, '0.4')
  await chain.send(raw)
  await mine(2)
  await untilTold(address, 'TOPUP 0')
  await wallet.stop()
  await revert(before)
  await mine(4)
  await chain.send(raw)
  wallet = await start({ confirmations: 3 })
  await untilTold(address, 'TOPUP 0', 'DEPOSIT_ORPHANED 0')
  await mine(2)
  await untilTold(address, 'TOPUP 0', 'DEPOSIT_ORPHANED 0', 'TOPUP 1')
  await settled(3)
  await wallet.stop()
  wallet = await start()
})

test('T17 a token transfer that moves another amount when it is mined again is another deposit', async () => {
  const address = await newAddress()
  await settled()
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [address, 1_230_000n] })
  const before = await snapshot()
  const raw = await sign(address, '0', { to: token, data })
  const hash = await chain.send(raw)
  await untilTold(address, 'TOPUP 0')
  await settled()
  // As if the contract had moved less before: the transaction and its position stay the same.
  await wallet.stop()
  await pool.query(
    `update wallet.deposits set amount = 5, tx = tx || '{"amount": "0.000005"}' where tx ->> 'txHash' = $1`,
    [hash],
  )
  await revert(before)
  await mine(1)
  expect(await chain.send(raw)).toBe(hash)
  await mine(1)
  wallet = await start()
  await untilTold(address, 'TOPUP 0', 'DEPOSIT_ORPHANED 0', 'TOPUP 1')
  await settled()
  const events = receiver.received.filter(({ event }) => event.tx.toAddress === address).map(({ event }) => event)
  const told = Object.fromEntries(events.map(({ kind, tx }) => [`${kind} ${tx.occurrence}`, tx.amount]))
  expect(told).toEqual({ 'TOPUP 0': '1.23', 'DEPOSIT_ORPHANED 0': '0.000005', 'TOPUP 1': '1.23' })
})

test('T17 a chain that is only shorter for now proves nothing', async () => {
  const address = await newAddress()
  await settled()
  const before = await snapshot()
  const raw = await sign(address, '0.2')
  await mine(5)
  await chain.send(raw)
  await untilTold(address, 'TOPUP 0')
  const { nextBlock } = await cursor()
  await revert(before)
  // The watcher has gone back, and waits for the chain to reach the block of the deposit.
  await waitFor('the watcher to go back', async () => (await cursor()).nextBlock < nextBlock)
  await mine(1)
  await waitFor('the doubt', async () => {
    const { rows } = await pool.query("select from wallet.deposits where is_doubtful and tx ->> 'toAddress' = $1", [
      address,
    ])
    return rows.length === 1
  })
  expect(await toldOf(address)).toEqual(['TOPUP 0'])
  await mine(8)
  await untilTold(address, 'TOPUP 0', 'DEPOSIT_ORPHANED 0')
})

test('T17 deeper than the setting a deposit is not watched any more', async () => {
  await wallet.stop()
  wallet = await start({ watchDepth: 3 })
  const [deep, shallow] = [await newAddress(), await newAddress()]
  await settled()
  const before = await snapshot()
  await chain.send(await sign(deep, '0.1'))
  await mine(6)
  await chain.send(await sign(shallow, '0.1'))
  await untilTold(shallow, 'TOPUP 0')
  await settled()
  await wallet.stop()
  await revert(before)
  await mine(9)
  wallet = await start({ watchDepth: 3 })
  await untilTold(shallow, 'TOPUP 0', 'DEPOSIT_ORPHANED 0')
  await settled()
  expect(await toldOf(deep)).toEqual(['TOPUP 0'])
  await wallet.stop()
  wallet = await start()
})

test('T17 two wallets on one database tell the loss once, and a wallet that was not there tells it later', async () => {
  const second = await start()
  const address = await newAddress()
  try {
    await settled()
    const before = await snapshot()
    await chain.send(await sign(address, '0.7'))
    await untilTold(address, 'TOPUP 0')
    await settled()
    await Promise.all([wallet.stop(), second.stop()])
    await revert(before)
    await mine(3)
  } finally {
    wallet = await start()
  }
  const third = await start()
  try {
    await untilTold(address, 'TOPUP 0', 'DEPOSIT_ORPHANED 0')
    await settled()
    expect(await toldOf(address)).toEqual(['TOPUP 0', 'DEPOSIT_ORPHANED 0'])
  } finally {
    await third.stop()
  }
})

async function cursor(): Promise<{ nextBlock: number }> {
  const { rows } = await pool.query<{ next_block: string }>('select next_block from wallet.cursors')
  return { nextBlock: Number(rows[0]!.next_block) }
}

import pg from 'pg'
import { type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { campaignOf } from '../../../server/src/testing/campaign.ts'
import { type Anvil, startAnvil } from '../anvil.ts'
import type { TransferStatus } from '../protocol.ts'
import { type RunningWallet, startWallet } from '../start-wallet.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { controlChain, type LocalChain } from '../testing/local-chain.ts'
import { startNodeProxy } from '../testing/node-proxy.ts'
import { type Faucet, openFaucet } from '../testing/test-token.ts'
import { call, orderTestTransfer, testConfig, waitFor } from '../testing/wallet-client.ts'

const { runs: seedsCount, seed: firstSeed } = campaignOf('REPLACEMENT', { runs: 10, seed: 1 })
const lastSeed = firstSeed + seedsCount - 1
/** The number of seeds that share a chain. A reorganisation affects all of them. */
const seedsAtOnce = 50
const stepsOfSeed = 6
const transfersOfSeed = 2
/** Long, because a nightly run shares its machine. */
const settleMilliseconds = 150_000
/** The depth of finality; the reorganisations of the test are less deep. */
const confirmations = 3

let anvil: Anvil
let chain: LocalChain
let database: TestDatabase
let proxy: Awaited<ReturnType<typeof startNodeProxy>>
let wallet: RunningWallet
let faucet: Faucet
let pool: pg.Pool

beforeAll(async () => {
  ;[anvil, database] = await Promise.all([startAnvil(), createTestDatabase()])
  chain = controlChain(anvil.rpcUrl)
  await chain.setAutomine(false)
  proxy = await startNodeProxy(anvil.rpcUrl)
  faucet = openFaucet(anvil.rpcUrl)
  pool = new pg.Pool({ connectionString: database.url })
  wallet = await start()
})

afterAll(async () => {
  await wallet?.stop()
  await pool?.end()
  await proxy?.stop()
  await anvil?.stop()
  await database?.drop()
})

function start() {
  const config = testConfig({ databaseUrl: database.url, rpcUrl: proxy.rpcUrl })
  const ethereum = { ...config.chains.ethereum!, confirmations }
  return startWallet({ ...config, chains: { ethereum } })
}

/** Numbers from 0 to 1 that depend on the seed only (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Repeats a request while the wallet answers 503, as the protocol requires of every client. On a busy machine, the database of
 * the wallet is sometimes too slow.
 */
function answerOf<T>(ask: () => Promise<{ status: number; body: T }>): Promise<{ status: number; body: T }> {
  return waitFor('an answer of the wallet', async () => {
    const answer = await ask()
    return answer.status !== 503 && answer
  })
}

type Run = {
  seed: number
  random: () => number
  derivationPath: string
  fromAddress: Hex
  toAddress: Hex
  ids: string[]
}

async function prepare(seed: number): Promise<Run> {
  const derivationPath = `m/44/60/3/${seed}`
  const path = { network: 'ethereum', coinType: 60, derivationPath }
  const derived = await answerOf(() => call<{ address: Hex }>(wallet.url, '/addresses', { body: path }))
  const fromAddress = derived.body.address
  await chain.setBalance(fromAddress, parseEther('100'))
  const toAddress = `0x${(0xc0ffee0000n + BigInt(seed)).toString(16).padStart(40, '0')}` as const
  const run = { seed, random: randomOf(seed), derivationPath, fromAddress, toAddress, ids: [] as string[] }
  for (let number = 0; number < transfersOfSeed; number += 1) {
    const id = `seed-${seed}-${number}`
    run.ids.push(id)
    const order = { id, derivationPath, fromAddress, toAddress, amount: amountOf(number) }
    expect((await answerOf(() => orderTestTransfer(wallet.url, order))).status).toBe(202)
  }
  return run
}

/** Returns another power of 1,000 for each transfer, so that a sum shows which transfers were paid, and how often. */
const amountOf = (number: number) => (1000n ** BigInt(number)).toString()

async function stateOf(id: string): Promise<TransferStatus> {
  const { status, body } = await answerOf(() => call<TransferStatus>(wallet.url, `/transfers/${id}`))
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Does one random thing to a transfer of the seed: a replacement, a lost transaction or a repeated broadcast. */
async function step({ random, ids }: Run): Promise<void> {
  const id = ids[Math.floor(random() * ids.length)]!
  const { txHash, txHashes } = await stateOf(id)
  const dice = random()
  if (dice < 0.4) {
    const action = random() < 0.7 ? 'speed-up' : 'cancel-on-chain'
    await call(wallet.url, `/transfers/${id}/${action}`, { body: { txHash } })
  } else if (dice < 0.6 && txHash !== null) {
    await chain.drop(txHash)
  } else if (dice < 0.8 && txHashes.length > 0) {
    // Another sender broadcasts one of the transactions again.
    const hash = txHashes[Math.floor(random() * txHashes.length)]!
    const { rows } = await pool.query('select raw_transaction from wallet.transactions where tx_hash = $1', [hash])
    await chain.send(rows[0].raw_transaction).catch(() => undefined)
  }
}

/** Disturbs all transfers at once: a block at a random base fee, an outage, a restart or a reorganisation. */
async function disturb(random: () => number): Promise<void> {
  const dice = random()
  if (dice < 0.15) proxy.control.fault = (['dropSend', 'dropSendAnswer', 'down'] as const)[Math.floor(random() * 3)]!
  else proxy.control.fault = 'none'
  if (dice > 0.9) {
    await wallet.stop()
    // Retries as a supervisor does when the database does not answer in time.
    wallet = await waitFor('the wallet to start', () => start().catch(() => null))
  }
  const snapshot = dice > 0.15 && dice < 0.3 ? await chain.rpc('evm_snapshot') : null
  await chain.mine(parseGwei(String(1 + Math.floor(random() ** 3 * 30))))
  if (snapshot === null) return
  await chain.mine()
  await chain.rpc('evm_revert', [snapshot])
  await chain.mine()
}

async function settle(runs: Run[]): Promise<void> {
  proxy.control.fault = 'none'
  const open = new Set(runs.flatMap(({ ids }) => ids))
  const pass = async () => {
    await chain.mine(parseGwei('1'))
    const first = await Promise.all([...open].slice(0, 10).map(stateOf))
    for (const { id, status } of first) if (status === 'confirmed' || status === 'failed') open.delete(id)
    return open.size === 0
  }
  await waitFor('all transfers to settle', pass, settleMilliseconds)
}

for (let first = firstSeed; first <= lastSeed; first += seedsAtOnce) {
  const last = Math.min(first + seedsAtOnce - 1, lastSeed)
  test(`T75 a transfer is paid at most once, whatever happens: seeds ${first} to ${last}`, async () => {
    const runs = await Promise.all(Array.from({ length: last - first + 1 }, (_, offset) => prepare(first + offset)))
    const random = randomOf(first + 1_000_000)
    for (let number = 0; number < stepsOfSeed; number += 1) {
      await Promise.all(runs.map(step))
      await disturb(random)
    }
    await settle(runs)
    await Promise.all(runs.map(expectOnePayment))
  })
}

async function expectOnePayment({ seed, fromAddress, toAddress, ids }: Run): Promise<void> {
  const states = await Promise.all(ids.map(stateOf))
  const owed = states.reduce(
    (sum, { status }, number) => (status === 'confirmed' ? sum + BigInt(amountOf(number)) : sum),
    0n,
  )
  expect(await faucet.getBalance({ address: toAddress }), `seed ${seed}`).toBe(owed)
  // Each transfer that was signed used one nonce, whether it was paid or cancelled.
  const signed = states.filter(({ txHash }) => txHash !== null)
  expect(await faucet.getTransactionCount({ address: fromAddress }), `seed ${seed}`).toBe(signed.length)
  for (const { txHashes, txHash } of signed) {
    const receipts = await Promise.all(
      txHashes.map((hash) => faucet.getTransactionReceipt({ hash: hash as Hex }).catch(() => null)),
    )
    const mined = receipts.filter((receipt) => receipt !== null)
    expect(
      mined.map(({ transactionHash }) => transactionHash),
      `seed ${seed}`,
    ).toEqual([txHash])
  }
}

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { formatEther, type Hex, parseEther } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recoverVaults } from '../server/src/composition/recover.ts'
import { verifyState } from '../server/src/composition/verify-state.ts'
import { readConfig } from '../server/src/config/config.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyAudit } from '../server/src/modules/record/audit/verify.ts'
import { walletComparedMilliseconds } from '../server/src/modules/vaults/wallets/compare-accepted.ts'
import { type RunningServer, startServer } from '../server/src/start.ts'
import { createEmptyDatabase, createTestDatabase } from '../server/src/testing/database.ts'
import { type Anvil, startAnvil } from '../wallet/src/anvil.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { anvilMnemonic, type Faucet, openFaucet } from '../wallet/src/testing/test-token.ts'
import { type Call, signInTo, until } from './setup/running-service.ts'

const webhookSecret = 'a webhook secret for restored books'
const walletToken = 'a-wallet-token-for-restored-books'
const supplier = mnemonicToAccount(anvilMnemonic, { addressIndex: 7 }).address

let anvil: Anvil
let faucet: Faucet
let server: RunningServer
let wallet: RunningWallet
let treasurer: Call
let operator: Call
const urls = { books: '', wallet: '' }
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  faucet = openFaucet(anvil.rpcUrl)
  const [books, keys] = await Promise.all([createTestDatabase(), createEmptyDatabase()])
  cleanUps.push(books.drop, keys.drop)
  urls.books = books.url
  urls.wallet = keys.url
  server = await startBooks('0')
  cleanUps.push(() => server.stop())
  wallet = await startKeys(0)
  cleanUps.push(() => wallet.stop())
  await makeVault()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

const startBooks = (port: string) =>
  startServer(
    readConfig({
      DEMO: 'true',
      PORT: port,
      DATABASE_URL: urls.books,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      STRONGROOM_SECRET_KEY: 'a key of restored books that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      LOG_LEVEL: 'silent',
    }),
  )

const startKeys = (port: number) =>
  startWallet({
    databaseUrl: urls.wallet,
    passphrase: 'a passphrase for restored books',
    logLevel: 'silent',
    port,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: anvil.rpcUrl, chainId: anvil.chainId, confirmations: 1, pollMilliseconds: 100 } },
    webhookUrl: `${server.url}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'restored', token: walletToken }],
  })

async function makeVault() {
  operator = await signInTo(server, 'operator@example.org')
  await operator('POST', '/vaults', 201, {
    vault: { code: 'treasury', name: 'Treasury', walletServiceUrl: wallet.url, walletServiceSecret: walletToken },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      desk: { order: 1, name: 'Desk', variants: [{ id: 1, code: 'ops', name: 'Operations' }] },
      index: { order: 2, name: 'Index', dynamic: true },
    },
  })
  const eth = { network: 'ethereum', code: 'ETH', symbol: 'E', name: 'Ether', decimals: 18, contractAddress: null }
  await operator('POST', '/tokens', 201, eth)
  await operator('POST', '/vaults/treasury/lock', 200)
  const group = await operator('POST', '/vaults/treasury/policy-groups', 201, { code: 'treasury', name: 'Treasury' })
  await operator('POST', '/invitations', 201, { email: 'treasurer@example.org', groupIds: [group.id] })
  treasurer = await signInTo(server, 'treasurer@example.org')
  for (const actionType of ['create_address', 'transfer']) {
    const policy = { code: actionType.replace('_', '-'), name: actionType, actionType, effect: 'allow' }
    await operator('POST', `/policy-groups/${group.id}/policies`, 201, policy)
  }
}

/** Copies a database that nobody is connected to; returns the function that puts the copy in its place. */
async function keepDatabase(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1)
  const copy = `${name.slice(0, 40)}_${randomBytes(4).toString('hex')}`
  await administer(`create database ${copy} template ${name} strategy file_copy`)
  cleanUps.unshift(() => administer(`drop database if exists ${copy} with (force)`))
  return async () => {
    await administer(`drop database ${name} with (force)`)
    await administer(`create database ${name} template ${copy} strategy file_copy`)
  }
}

async function administer(statement: string) {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  const [, source] = / template (\w+) /.exec(statement) ?? []
  if (source !== undefined)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [source])
  await client.query(statement)
  await client.end()
}

async function whileBooksStand<Result>(work: () => Promise<Result>): Promise<Result> {
  const { port } = new URL(server.url)
  await server.stop()
  const result = await work()
  server = await startBooks(port)
  return result
}

async function whileKeysStand<Result>(work: () => Promise<Result>): Promise<Result> {
  const { port } = wallet
  await wallet.stop()
  const result = await work()
  wallet = await startKeys(port)
  return result
}

const newAddress = () =>
  treasurer('POST', '/vaults/treasury/addresses', 201, { network: 'ethereum', segments: { desk: 'ops' }, token: 'ETH' })
const balanceOf = async (addressId: string) => {
  const url = `/vaults/treasury/balances?summary=true&addressId=${addressId}` as const
  return (await operator('GET', url, 200)).totals.find(({ token }) => token.code === 'ETH')?.availableDecimal ?? '0'
}
async function fund(address: string, amount: string) {
  await faucet.sendTransaction({ to: address as Hex, value: parseEther(amount), chain: null })
  await faucet.sendTransaction({ to: supplier, value: 1n, chain: null })
}
const order = (fromAddressId: string, amount: string) =>
  treasurer('POST', '/vaults/treasury/transfers', 201, { fromAddressId, toAddress: supplier, amount, token: 'ETH' })
const readTransfer = (id: string) => treasurer('GET', `/vaults/treasury/transfers/${id}`, 200)
const isConfirmed = (id: string) => async () => {
  await faucet.sendTransaction({ to: supplier, value: 1n, chain: null })
  return (await readTransfer(id)).status === 'confirmed'
}
const readHalt = async () => (await operator('GET', '/vaults/treasury', 200)).halt

async function recover(options: { isDry?: boolean; owner?: string | null } = {}) {
  const said: string[] = []
  const { isDry = false, owner = 'treasurer@example.org' } = options
  const settings = {
    isDry,
    owner,
    operator: 'root',
    say: (line: string) => said.push(line),
    replayMilliseconds: 20_000,
  }
  return { left: await recoverVaults(server.deps, settings), said: said.join('\n') }
}

async function expectSoundBooks() {
  const { items } = await operator('GET', '/vaults/treasury/addresses?limit=100', 200)
  const onChain: Record<string, string> = {}
  const booked: Record<string, string> = {}
  for (const { id, address } of items) {
    onChain[address] = formatEther(await faucet.getBalance({ address: address as Hex }))
    booked[address] = await balanceOf(id)
  }
  expect(booked).toEqual(onChain)
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  expect((await verifyAudit(server.deps.db)).map(({ fault }) => fault).filter((fault) => fault !== null)).toEqual([])
  expect((await verifyState(server.deps.db)).differences).toEqual([])
}

describe('T26 books that were restored to an earlier time', () => {
  it('pay nothing and give no address, until everything that they lost is back in them', async () => {
    const kept = await newAddress()
    await fund(kept.address, '2')
    await until(async () => (await balanceOf(kept.id)) === '2')
    const restore = await whileBooksStand(() => keepDatabase(urls.books))

    const lost = await newAddress()
    await fund(lost.address, '1.5')
    await fund(kept.address, '0.5')
    await until(async () => (await balanceOf(lost.id)) === '1.5' && (await balanceOf(kept.id)) === '2.5')
    const { id: paid } = await order(kept.id, '0.25')
    await until(isConfirmed(paid))

    await whileBooksStand(restore)
    await until(async () => (await readHalt()) !== null)
    expect(await readHalt()).toMatchObject({ reason: 'books_behind' })
    await treasurer('POST', '/vaults/treasury/addresses', 409, { network: 'ethereum', segments: { desk: 'ops' } })
    const { id: waiting } = await order(kept.id, '0.125')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(await readTransfer(waiting)).toMatchObject({ status: 'pending', handedOverAt: null, txHash: null })

    const dry = await recover({ isDry: true })
    expect(dry.left).toBe(1)
    expect(dry.said).toContain(lost.address)
    expect(dry.said).toContain(paid)
    expect((await recover({ owner: null })).left).toBe(1)
    const first = await recover()
    expect(first.left).toBe(1)
    const bookings = [...first.said.matchAll(/POST \/vaults\/treasury\/adjustments (\{.*\})/g)].map(([, body]) =>
      JSON.parse(body!),
    )
    expect(bookings.map(({ addressId }) => addressId)).toEqual([kept.id, kept.id])
    expect(await readHalt()).not.toBeNull()
    for (const booking of bookings) await operator('POST', '/vaults/treasury/adjustments', 201, booking)
    expect((await recover()).left).toBe(0)
    expect(await readHalt()).toBeNull()
    expect((await recover()).said).toBe('No vault is halted.')

    const { items } = await operator('GET', '/vaults/treasury/addresses?limit=100', 200)
    const recovered = items.find(({ address }) => address === lost.address)!
    expect(await balanceOf(recovered.id)).toBe('1.5')
    const next = await newAddress()
    expect([kept.address, lost.address]).not.toContain(next.address)
    await until(isConfirmed(waiting))
    const { id: fromRecovered } = await order(recovered.id, '0.5')
    await until(isConfirmed(fromRecovered))
    await expectSoundBooks()
  })
})

describe('T26 a wallet service that was restored to an earlier time', () => {
  it('gets nothing until it watches all addresses again', async () => {
    const restore = await whileKeysStand(() => keepDatabase(urls.wallet))
    const address = await newAddress()
    await whileKeysStand(restore)
    // The comparison before the address is older than the time for which it counts.
    await new Promise((resolve) => setTimeout(resolve, walletComparedMilliseconds))
    await treasurer('POST', '/vaults/treasury/addresses', 409, { network: 'ethereum', segments: { desk: 'ops' } })
    expect(await readHalt()).toMatchObject({ reason: 'wallet_behind' })
    expect((await recover({ isDry: true })).left).toBe(0)
    expect((await recover()).left).toBe(0)
    expect(await readHalt()).toBeNull()
    await fund(address.address, '0.75')
    await until(async () => (await balanceOf(address.id)) === '0.75')
    expect((await newAddress()).address).not.toBe(address.address)
    await expectSoundBooks()
  })
})

import { sql } from 'kysely'
import pg from 'pg'
import { createTestClient, formatEther, type Hex, http, parseEther } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { recoverVaults } from '../../server/src/composition/recover.ts'
import { verifyState } from '../../server/src/composition/verify-state.ts'
import { readConfig } from '../../server/src/config/config.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { verifyLedger } from '../../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyAudit } from '../../server/src/modules/record/audit/verify.ts'
import { type RunningServer, startServer } from '../../server/src/start.ts'
import { type Anvil, startAnvil } from '../../wallet/src/anvil.ts'
import { rescan } from '../../wallet/src/deposits/rescan.ts'
import { type RunningWallet, startWallet } from '../../wallet/src/start-wallet.ts'
import { anvilMnemonic, type Faucet, openFaucet } from '../../wallet/src/testing/test-token.ts'
import { acceptNonce, PaidOrdersError } from '../../wallet/src/transfers/accept-nonce.ts'
import { freePort } from '../setup/free-port.ts'
import { type Call, callTo, signInTo, tokenOf, until } from '../setup/running-service.ts'
import { type ArchivedCluster, startArchivedCluster } from './archived-cluster.ts'

/** The databases that are restored, and to which time. */
export const drillCases = ['books alone', 'both to the same time', 'wallet alone'] as const
export type DrillCase = (typeof drillCases)[number]

const webhookSecret = 'a webhook secret for the drill'
const walletToken = 'a-wallet-token-for-the-drill'
const people = { operator: 'operator@example.org', second: 'second@example.org', treasurer: 'treasurer@example.org' }
const supplier = mnemonicToAccount(anvilMnemonic, { addressIndex: 7 }).address
const ordersAtOnce = 3

/** An address that was given to a customer. */
type Given = { id: string; address: Hex; at: Date }

export type RestoreDrill = {
  /** The moments between the base backup and the end of the load. */
  period: { from: Date; to: Date }
  /** Restores, recovers as the operator's page says, and checks. Returns in words what was lost. */
  runPoint(kind: DrillCase, moment: Date): Promise<string>
  close(): Promise<void>
}

/**
 * Starts the service, the reference wallet and a chain, each with a database server whose log is archived, and puts load on them for some
 * seconds. Each point then starts from a copy.
 */
export async function startRestoreDrill(loadMilliseconds: number): Promise<RestoreDrill> {
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const anvil = await startAnvil()
    cleanUps.push(() => anvil.stop())
    const ports = { server: await freePort(), wallet: await freePort() }
    const stack: Stack = { anvil, faucet: openFaucet(anvil.rpcUrl), ports }
    const [books, keys] = await Promise.all([
      startArchivedCluster((url) => migrate(url).then(() => {})),
      startArchivedCluster(async () => {}),
    ])
    cleanUps.push(books.close, keys.close)
    const steps: (() => Promise<unknown>)[] = []
    const stop = async () => {
      for (const step of steps.splice(0).reverse()) await step()
    }
    cleanUps.push(stop)
    const wallet = await startKeys(stack, keys.url)
    steps.push(() => wallet.stop())
    const running = await start(stack, wallet, books.url)
    steps.push(() => running.server.stop())
    await makeVault(running)
    const from = new Date()
    const handedOut = await putLoadOn(stack, running, loadMilliseconds)
    const to = new Date()
    await until(async () => await isSettled(stack, running, handedOut))
    await stop()
    await Promise.all([books.end(), keys.end()])
    return {
      period: { from, to },
      runPoint: (kind, moment) => runPoint(stack, { books, keys, handedOut }, { kind, moment }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Stack = { anvil: Anvil; faucet: Faucet; ports: { server: number; wallet: number } }
type Running = {
  server: RunningServer
  wallet: RunningWallet
  startedAt: Date
  operator: Call
  second: Call
  treasurer: Call
}

const startKeys = ({ anvil, ports }: Stack, databaseUrl: string): Promise<RunningWallet> =>
  startWallet({
    databaseUrl,
    passphrase: 'a passphrase for the drill',
    logLevel: 'silent',
    port: ports.wallet,
    host: '127.0.0.1',
    chains: {
      ethereum: {
        rpcUrl: anvil.rpcUrl,
        chainId: anvil.chainId,
        confirmations: 1,
        pollMilliseconds: 100,
        startBlock: 0,
      },
    },
    webhookUrl: `http://127.0.0.1:${ports.server}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'drill', token: walletToken }],
  })

async function start({ ports }: Stack, wallet: RunningWallet, booksUrl: string): Promise<Running> {
  const startedAt = new Date()
  const server = await startServer(
    readConfig({
      DEMO: 'true',
      PORT: String(ports.server),
      DATABASE_URL: booksUrl,
      STRONGROOM_ADMIN_EMAIL: people.operator,
      STRONGROOM_SECRET_KEY: 'a key of the drill that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      LOG_LEVEL: 'silent',
    }),
  )
  const nobody = callTo(server.url)
  return {
    server,
    wallet,
    startedAt,
    operator: await signInTo(server, people.operator),
    second: nobody,
    treasurer: nobody,
  }
}

async function makeVault(running: Running): Promise<void> {
  const { operator, server, wallet } = running
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
  const groups = await operator('GET', '/vaults/treasury/policy-groups', 200)
  const administrators = groups.items.find(({ code }) => code === 'administrators')!
  await operator('POST', '/invitations', 201, { email: people.second, groupIds: [administrators.id] })
  await operator('POST', '/invitations', 201, { email: people.treasurer, groupIds: [group.id] })
  running.second = callTo(server.url, await tokenOf(server, people.second))
  running.treasurer = callTo(server.url, await tokenOf(server, people.treasurer))
  for (const actionType of ['create_address', 'transfer']) {
    const policy = { code: actionType.replace('_', '-'), name: actionType, actionType, effect: 'allow' }
    await operator('POST', `/policy-groups/${group.id}/policies`, 201, policy)
  }
}

async function newAddress({ treasurer }: Running): Promise<Given> {
  const body = { network: 'ethereum', segments: { desk: 'ops' }, token: 'ETH' }
  const { id, address } = await treasurer('POST', '/vaults/treasury/addresses', 201, body)
  return { id, address: address as Hex, at: new Date() }
}

/** Every amount of an order is paid once at most on the whole chain, so each order has its own. */
let orders = 0
const nextAmount = () => {
  orders += 1
  return `0.0001${String(orders).padStart(6, '0')}`
}

const order = ({ treasurer }: Running, fromAddressId: string) =>
  treasurer('POST', '/vaults/treasury/transfers', 201, {
    fromAddressId,
    toAddress: supplier,
    amount: nextAmount(),
    token: 'ETH',
  })

const fund = ({ faucet }: Stack, address: Hex, amount = '1') =>
  faucet.sendTransaction({ to: address, value: parseEther(amount), chain: null })

/** New addresses, deposits and orders, until the time is over. */
async function putLoadOn(stack: Stack, running: Running, milliseconds: number): Promise<Given[]> {
  const handedOut: Given[] = []
  const until = Date.now() + milliseconds
  const giveAddresses = async () => {
    while (Date.now() < until) {
      const address = await newAddress(running)
      handedOut.push(address)
      await fund(stack, address.address)
      await pause(100)
    }
  }
  const orderOn = async (seat: number) => {
    for (let n = seat; Date.now() < until; n += 1) {
      const source = handedOut[n % Math.max(handedOut.length, 1)]
      if (source !== undefined && Number(await balanceOf(running, source.id)) > 0.1) await order(running, source.id)
      await pause(60)
    }
  }
  await Promise.all([giveAddresses(), ...Array.from({ length: ordersAtOnce }, (_, seat) => orderOn(seat))])
  return handedOut
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

async function balanceOf({ operator }: Running, addressId: string): Promise<string> {
  const url = `/vaults/treasury/balances?summary=true&addressId=${addressId}` as const
  return (await operator('GET', url, 200)).totals.find(({ token }) => token.code === 'ETH')?.availableDecimal ?? '0'
}

const listAddresses = async ({ operator }: Running) =>
  (await operator('GET', '/vaults/treasury/addresses?limit=100', 200)).items

async function isSettled(stack: Stack, running: Running, handedOut: Given[]): Promise<boolean> {
  await stack.faucet.sendTransaction({ to: supplier, value: 1n, chain: null })
  const { operator } = running
  const pending = await operator('GET', '/vaults/treasury/transfers?status=pending', 200)
  if (pending.items.length > 0) return false
  for (const { id, address } of handedOut)
    if ((await balanceOf(running, id)) !== formatEther(await stack.faucet.getBalance({ address }))) return false
  return true
}

type Kept = { books: ArchivedCluster; keys: ArchivedCluster; handedOut: Given[] }

async function runPoint(
  stack: Stack,
  kept: Kept,
  { kind, moment }: { kind: DrillCase; moment: Date },
): Promise<string> {
  const chain = createTestClient({ mode: 'anvil', transport: http(stack.anvil.rpcUrl) })
  const snapshot = await chain.snapshot()
  const cleanUps: (() => Promise<unknown>)[] = [() => chain.revert({ id: snapshot })]
  try {
    const books = await kept.books.startAt(kind === 'wallet alone' ? 'end' : moment)
    cleanUps.push(books.close)
    const keys = await kept.keys.startAt(kind === 'books alone' ? 'end' : moment)
    cleanUps.push(keys.close)
    const pool = new pg.Pool({ connectionString: keys.url, max: 2 })
    pool.on('error', () => {})
    cleanUps.push(() => pool.end())
    // Customers pay while nothing runs.
    const [first, last] = [kept.handedOut[0]!, kept.handedOut.at(-1)!]
    await fund(stack, first.address, '0.5')
    if (kind !== 'both to the same time') await fund(stack, last.address, '0.25')
    const wallet = await startKeys(stack, keys.url)
    cleanUps.push(() => wallet.stop())
    await until(async () => await hasReadChain(stack, pool))
    const running = await start(stack, wallet, books.url)
    cleanUps.push(() => running.server.stop())
    running.second = await signInTo(running.server, people.second)
    running.treasurer = await signInTo(running.server, people.treasurer)
    const lost = await recoverAsOperator(stack, running, { kind, pool })
    const addresses = (await listAddresses(running)).map(({ address }) => address)
    const handedOut = kept.handedOut.map(({ address }) => address)
    if (kind !== 'both to the same time') expect(addresses).toEqual(expect.arrayContaining(handedOut))
    await expectSound(stack, running, kept.handedOut)
    return lost
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}

/** Recovers as docs/restore.md tells an operator. */
async function recoverAsOperator(
  stack: Stack,
  running: Running,
  { kind, pool }: { kind: DrillCase; pool: pg.Pool },
): Promise<string> {
  const { server, operator, second, startedAt } = running
  // The comparison by itself: the vault is halted, or nothing is missing.
  await until(async () => {
    const { rows } = await sql<{ is_compared: boolean }>`
        select v.halted_at is not null or m.compared_at > ${startedAt} as is_compared
        from vaults v join wallet_marks m on m.vault_id = v.id`.execute(server.deps.db)
    return rows[0]?.is_compared === true
  })
  const lines: string[] = []
  let left = 1
  for (let round = 1; left > 0; round += 1) {
    expect(round, lines.slice(-20).join('\n')).toBeLessThan(8)
    const said: string[] = []
    const recovery = { isDry: false, owner: people.treasurer, operator: 'root', say: (line: string) => said.push(line) }
    left = await recoverVaults(server.deps, { ...recovery, replayMilliseconds: 20_000 })
    lines.push(...said)
    if (round === 1 && kind !== 'books alone') {
      expect(await rescan(pool, { network: 'ethereum', block: 0 })).toBe(true)
      // The wallet service looks again with the next block.
      await stack.faucet.sendTransaction({ to: supplier, value: 1n, chain: null })
    }
    await until(async () => (await hasReadChain(stack, pool)) && (await hasDelivered(pool)))
    for (const [, path, body] of said.join('\n').matchAll(/POST (\/vaults\/\S+) (\{.*\})/g)) {
      const booking = JSON.parse(body!)
      if (path!.endsWith('/adjustments')) await operator('POST', '/vaults/treasury/adjustments', 201, booking)
      else {
        const url = `/vaults/treasury/transfers/${path!.split('/').at(-2)!}/resolve` as const
        const { request } = await operator('POST', url, 202, booking)
        await second('POST', `/vaults/treasury/approval-requests/${request.id}/approve`, 200, {})
      }
    }
  }
  await signOn(stack, running, pool)
  return lines.find((line) => line.includes('unknown to the books')) ?? 'nothing was unknown'
}

async function hasReadChain({ faucet }: Stack, pool: pg.Pool): Promise<boolean> {
  const height = await faucet.getBlockNumber()
  const { rows } = await pool.query('select next_block > $1 as has_read from wallet.cursors', [height.toString()])
  return rows[0]?.has_read === true
}

/** The deposits that the books lost are needed before what was paid from them is booked. */
async function hasDelivered(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ has_delivered: boolean }>(
    'select not exists (select from wallet.webhook_deliveries where delivered_at is null) as has_delivered',
  )
  return rows[0]?.has_delivered === true
}

/** Lets the wallet service sign for addresses whose transactions it has forgotten, after the orders that they paid were cancelled there. */
async function signOn({ faucet }: Stack, { wallet }: Running, pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ address: Hex; next_nonce: string }>(
    `select address, coalesce(n.next_nonce, 0) as next_nonce from wallet.addresses a left join wallet.nonces n using (network, address)`,
  )
  for (const { address, next_nonce } of rows) {
    const nextNonce = await faucet.getTransactionCount({ address })
    if (nextNonce <= Number(next_nonce)) continue
    const accept = () => acceptNonce(pool, { network: 'ethereum', address, nextNonce })
    const isAccepted = await accept().catch(async (error: unknown) => {
      if (!(error instanceof PaidOrdersError)) throw error
      for (const id of error.ids) {
        const response = await fetch(`${wallet.url}/transfers/${id}/cancel-on-chain`, {
          method: 'POST',
          headers: { authorization: `Bearer ${walletToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ txHash: null }),
        })
        expect(response.status, await response.text()).toBeLessThan(300)
      }
      return await accept()
    })
    expect(isAccepted).toBe(true)
  }
}

async function expectSound(stack: Stack, running: Running, handedOut: Given[]): Promise<void> {
  const { server, operator } = running
  expect((await operator('GET', '/vaults/treasury', 200)).halt).toBeNull()
  const next = [await newAddress(running), await newAddress(running)]
  for (const { address } of next) expect(handedOut.map((before) => before.address)).not.toContain(address)
  await fund(stack, next[0]!.address)
  const all = await listAddresses(running)
  await until(async () => await isSettled(stack, running, all.map(toGiven)))
  // Work goes on: from an address of before, and from a new one.
  for (const { id } of [all.at(-1)!, next[0]!]) {
    const { id: transferId } = await order(running, id)
    await until(async () => {
      await stack.faucet.sendTransaction({ to: supplier, value: 1n, chain: null })
      return (await operator('GET', `/vaults/treasury/transfers/${transferId}`, 200)).status === 'confirmed'
    })
  }
  await until(async () => await isSettled(stack, running, all.map(toGiven)))
  await expectPaidOnce(stack)
  expect((await verifyLedger(server.deps.db)).differences).toEqual([])
  expect((await verifyAudit(server.deps.db)).map(({ fault }) => fault).filter((fault) => fault !== null)).toEqual([])
  expect((await verifyState(server.deps.db)).differences).toEqual([])
}

const toGiven = ({ id, address }: { id: string; address: string }): Given => ({
  id,
  address: address as Hex,
  at: new Date(),
})

async function expectPaidOnce({ faucet }: Stack): Promise<void> {
  const paid = new Map<bigint, number>()
  const height = await faucet.getBlockNumber()
  for (let blockNumber = 1n; blockNumber <= height; blockNumber += 1n) {
    const { transactions } = await faucet.getBlock({ blockNumber, includeTransactions: true })
    for (const { to, value } of transactions)
      if (to?.toLowerCase() === supplier.toLowerCase() && value > 1n) paid.set(value, (paid.get(value) ?? 0) + 1)
  }
  expect([...paid].filter(([, times]) => times > 1)).toEqual([])
}

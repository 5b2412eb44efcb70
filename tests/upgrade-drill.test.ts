import { type ChildProcess, execFile, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { verifyState } from '../server/src/composition/verify-state.ts'
import { type Db, openDatabase } from '../server/src/db/client.ts'
import { useRecordKey } from '../server/src/db/record-key.ts'
import { inTransaction } from '../server/src/db/transaction.ts'
import { createRecordKey } from '../server/src/lib/record-key.ts'
import { verifyLedger } from '../server/src/modules/money/verifications/verify-ledger.ts'
import { verifyLedgerSeals } from '../server/src/modules/money/verifications/verify-seals.ts'
import { createSignInLink } from '../server/src/modules/people/sign-in/actions.ts'
import { verifyAudit } from '../server/src/modules/record/audit/verify.ts'
import { buildProject } from '../server/src/testing/build-project.ts'
import { createEmptyDatabase } from '../server/src/testing/database.ts'
import { type FakeWallet, fakeAddress, startFakeWallet } from '../server/src/testing/fake-wallet.ts'
import { buildNext, buildPrevious, presentBuild } from './drill/other-versions.ts'
import { type Call, callTo, until } from './setup/running-service.ts'

/** Nodes of the version before and of this one, side by side on one database that is migrated under load. */

const secretKey = 'a key of the upgrade that is long enough'
const seats = 6
/** A migration of the next version adds this. Nodes of this version and of the one before do not know it. */
const furtherMigration = `
  alter table transfers add column next_version_note text, add column next_version_count integer not null default 0;
  create index transfers_next_version on transfers (vault_id, next_version_count) where next_version_note is not null;
  create table next_version_things (id text primary key, transfer_id text);
  create function note_next_version() returns trigger language plpgsql as $$
  begin
    insert into next_version_things (id, transfer_id) values (new.vault_id || new.id, new.id);
    return new;
  end $$;
  create trigger next_version_noted after insert on transfers for each row execute function note_next_version();
  alter table operations add constraint operations_next_version check (amount >= 0) not valid;`

/** `open` counts the requests that it has not answered yet. */
type Node = { process: ChildProcess; url: string; version: string; open: number }

let previous: ReturnType<typeof buildPrevious>
let database: { url: string; drop(): Promise<void> }
let db: Db
let wallet: FakeWallet
/** The nodes to which the load balancer leads. */
const rotation: Node[] = []
const cleanUps: (() => unknown)[] = []

beforeAll(async () => {
  buildProject('build:server')
  previous = buildPrevious()
  cleanUps.push(previous.remove)
  database = await createEmptyDatabase()
  cleanUps.push(database.drop)
  await run(previous.cli, 'migrate')
  rotation.push(await startNode(previous.main, 'previous'), await startNode(previous.main, 'previous'))
  cleanUps.push(async () => {
    for (const node of rotation.splice(0)) await stopNode(node)
  })
  wallet = await startFakeWallet()
  cleanUps.push(() => wallet.close())
  const opened = openDatabase({ url: database.url, connectionsMax: 2, onError: () => {} })
  db = opened.db
  useRecordKey(db, createRecordKey(secretKey))
  cleanUps.push(() => db.destroy())
})
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

const environment = () => ({
  PATH: process.env.PATH ?? '',
  DEMO: 'true',
  DATABASE_URL: database.url,
  STRONGROOM_SECRET_KEY: secretKey,
  STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
  PORT: '0',
  LOG_LEVEL: 'error',
})

const run = (program: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [program, ...args], { env: environment() })

async function startNode(program: string, version: string): Promise<Node> {
  const child = fork(program, { env: environment(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => expect.fail(`A node of the ${version} version ended while it was starting`)),
  ])) as [{ url: string }]
  await until(async () => (await fetch(`${message.url}/readyz`)).ok)
  return { process: child, url: message.url, version, open: 0 }
}

async function stopNode({ process: child, version }: Node): Promise<void> {
  const begun = performance.now()
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = await ended
  expect(code, `a node of the ${version} version ended after ${Math.round(performance.now() - begun)} ms`).toBe(0)
}

/** Replaces a node as a roll-out does: it gets no new requests, ends its last ones, and the next one takes its place. */
async function replace(node: Node): Promise<void> {
  rotation.splice(rotation.indexOf(node), 1)
  await until(async () => node.open === 0)
  await stopNode(node)
  rotation.push(await startNode(presentBuild.main, 'present'))
}

let turn = 0
/** Leads each request to the next node of the rotation, as a load balancer does. */
function balanced(token: string, counts: Record<string, number>): Call {
  return async (...request) => {
    turn += 1
    const node = rotation[turn % rotation.length]!
    node.open += 1
    try {
      const answer = await callTo(node.url, token)(...request)
      counts[node.version] = (counts[node.version] ?? 0) + 1
      return answer
    } finally {
      node.open -= 1
    }
  }
}

async function signIn(email: string): Promise<string> {
  const publicOrigin = () => rotation[0]!.url
  const link = new URL(await inTransaction(db, (trx) => createSignInLink(trx, { publicOrigin }, email, new Date())))
  const token = link.searchParams.get('token')
  return (await callTo(rotation[0]!.url)('POST', '/auth/magic-link/verify', 200, { token })).token
}

type Vault = { token: string; operator: string; addresses: string[] }

async function makeVault(): Promise<Vault> {
  const operatorToken = await signIn('operator@example.org')
  const operator = callTo(rotation[0]!.url, operatorToken)
  await operator('POST', '/vaults', 201, {
    vault: { code: 'harbour', name: 'Harbour', walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  const eth = { network: 'ethereum', code: 'ETH', symbol: 'E', name: 'Ether', decimals: 18, contractAddress: null }
  const { id: tokenId } = await operator('POST', '/tokens', 201, eth)
  await operator('POST', '/vaults/harbour/lock', 200)
  const group = await operator('POST', '/vaults/harbour/policy-groups', 201, { code: 'members', name: 'Members' })
  await operator('POST', '/invitations', 201, { email: 'member@example.org', groupIds: [group.id] })
  for (const actionType of ['create_address', 'transfer']) {
    const policy = { code: actionType.replace('_', '-'), name: actionType, actionType, effect: 'allow' }
    await operator('POST', `/policy-groups/${group.id}/policies`, 201, policy)
  }
  const token = await signIn('member@example.org')
  const addresses: string[] = []
  for (let n = 0; n < seats; n += 1) {
    const body = { network: 'ethereum', segments: {}, token: 'ETH' }
    const { id } = await callTo(rotation[0]!.url, token)('POST', '/vaults/harbour/addresses', 201, body)
    const funds = { addressId: id, tokenId, amount: '1000', reason: 'Funds for the drill' }
    await operator('POST', '/vaults/harbour/adjustments', 201, funds)
    addresses.push(id)
  }
  return { token, operator: operatorToken, addresses }
}

type Load = { orders: string[]; counts: Record<string, number>; end(): Promise<void> }

/** People order, read and make addresses on whichever node is in rotation. Each answer must be the documented one. */
function putLoadOn({ token, operator, addresses }: Vault): Load {
  const orders: string[] = []
  const counts: Record<string, number> = {}
  let isOver = false
  const [member, administrator] = [balanced(token, counts), balanced(operator, counts)]
  const work = async (seat: number) => {
    const fromAddressId = addresses[seat]!
    for (let n = 0; !isOver; n += 1) {
      const body = { fromAddressId, toAddress: fakeAddress(`supplier ${seat}`), amount: '0.001', token: 'ETH' }
      const key = { 'idempotency-key': randomUUID() }
      orders.push((await member('POST', '/vaults/harbour/transfers', 201, body, key)).id)
      await member('GET', `/vaults/harbour/balances?addressId=${fromAddressId}`, 200)
      await administrator('GET', '/vaults/harbour/history?limit=5', 200)
      if (n % 10 === 9)
        await member('POST', '/vaults/harbour/addresses', 201, { network: 'ethereum', segments: {}, token: 'ETH' })
      for (const { id, status } of wallet.transfers()) if (status === 'queued') wallet.confirm(id)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const working = Promise.all(Array.from({ length: seats }, (_, seat) => work(seat)))
  // A failure shows at the end, and not as a rejection that nobody handles.
  working.catch(() => {})
  return {
    orders,
    counts,
    async end() {
      isOver = true
      await working
    },
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

it('an upgrade under load: nodes of the version before run beside the new schema and are replaced, and no request fails', async () => {
  const vault = await makeVault()
  const load = putLoadOn(vault)
  await pause(1_000)
  await run(presentBuild.cli, 'migrate')
  const next = buildNext(furtherMigration)
  cleanUps.push(next.remove)
  await run(next.cli, 'migrate')
  const before = load.counts.previous ?? 0
  await pause(1_500)
  expect(load.counts.previous).toBeGreaterThan(before)
  for (const node of [...rotation]) {
    await replace(node)
    await pause(1_000)
  }
  expect(rotation.map(({ version }) => version)).toEqual(['present', 'present'])
  await load.end()
  expect(load.counts.present).toBeGreaterThan(10)

  const operator = callTo(rotation[0]!.url, vault.operator)
  await expect
    .poll(async () => {
      for (const { id, status } of wallet.transfers()) if (status === 'queued') wallet.confirm(id)
      return (await operator('GET', '/vaults/harbour/transfers?status=pending&limit=1', 200)).items
    })
    .toEqual([])
  expect(new Set(load.orders).size).toBe(load.orders.length)
  expect(load.orders.filter((id) => wallet.broadcastCount(id) !== 1)).toEqual([])
  // Every entry gets into a seal, those of the version before too.
  await expect.poll(async () => (await verifyLedgerSeals(db)).map(({ fault }) => fault)).toEqual([null])
  expect((await verifyLedger(db)).differences).toEqual([])
  expect((await verifyAudit(db)).map(({ fault }) => fault).filter((fault) => fault !== null)).toEqual([])
  expect((await verifyState(db)).differences).toEqual([])
  console.info(
    `${load.orders.length} orders; by version: ${JSON.stringify(load.counts)}; from git: ${previous.isPrevious}`,
  )
})

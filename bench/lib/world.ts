import { randomBytes } from 'node:crypto'
import { type Db, openDatabase } from '../../server/src/db/client.ts'
import { createGroupCommit } from '../../server/src/db/group-commit.ts'
import { newId } from '../../server/src/lib/ids.ts'
import { eventCommitsInFlightMax, eventsPerCommitMax, eventsWaitingMax } from '../../server/src/lib/limits.ts'
import { newSecret, sha256 } from '../../server/src/lib/secrets.ts'
import { signatureOf } from '../../server/src/lib/webhook-signature.ts'
import {
  type Arrival,
  type ArrivalAnswer,
  commitWalletEvents,
} from '../../server/src/modules/money/deposits/actions.ts'
import { parseWalletEvent } from '../../server/src/modules/money/deposits/parse-event.ts'
import { type FakeWallet, fakeAddress, startFakeWallet } from '../../server/src/testing/fake-wallet.ts'
import { toRequest } from './http-load.ts'
import { type Stack, webhookSecret } from './stack.ts'

export type Address = { id: string; address: string }
type Token = { id: string; contractAddress: string }

/** Vaults, users, policies and addresses, so many of each that their numbers distort no measurement. */
export type World = {
  wallet: FakeWallet
  usdt: Token
  disabled: Token
  vault: { id: string; code: string }
  /** Bearer tokens of members of the first vault. */
  admin: string
  initiator: string
  approvers: string[]
  /**
   * Addresses that take deposits: `hot` is one address and `spread` many, of the first vault. For comparison, because rows
   * that have grown under load are slower than new rows, `inOneVault` has as many again of the first vault, and
   * `overVaults` as many over all vaults.
   */
  hot: Address[]
  spread: Address[]
  inOneVault: Address[]
  overVaults: Address[]
  /** Addresses of the initiator, with more USDT on each than a load can spend. */
  funded: Address[]
  /** Number of deposits that were made during the set-up. */
  deposited: number
  call(token: string, method: string, path: string, body?: object, headers?: Record<string, string>): Promise<unknown>
  /** Runs the same transactions as the webhook, without HTTP, in this process. */
  receive(arrival: Arrival): Promise<ArrivalAnswer>
  close(): Promise<void>
}

export type Size = { vaults: number; spread: number; funded: number }
export const fullSize: Size = { vaults: 64, spread: 10_000, funded: 1_000 }
const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'

export async function createWorld(stack: Stack, size: Size = fullSize): Promise<World> {
  const wallet = await startFakeWallet()
  const { db } = openDatabase({ url: stack.databaseUrl, statementMilliseconds: 0, onError: () => {} })
  const call = createCaller(stack)
  const [admin, initiator, ...approvers] = await signIn(db, 5)

  const vaults: { id: string; code: string }[] = []
  for (let i = 1; i <= size.vaults; i += 1) {
    const code = `vault-${i}`
    const vault = { code, name: code, walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret }
    vaults.push((await call(admin!.token, 'POST', '/vaults', { vault, routes })) as { id: string; code: string })
  }
  const token = { network: 'ethereum', decimals: 6, code: 'USDT', symbol: 'USDT', name: 'Tether USD' }
  await call(admin!.token, 'POST', '/tokens', {
    ...token,
    code: 'ETH',
    symbol: 'ETH',
    decimals: 18,
    contractAddress: null,
  })
  const usdt = (await call(admin!.token, 'POST', '/tokens', { ...token, contractAddress: contract })) as Token
  const disabled = (await call(admin!.token, 'POST', '/tokens', {
    ...token,
    code: 'OLD',
    contractAddress: fakeAddress('a token that is no longer taken'),
  })) as Token
  await call(admin!.token, 'PATCH', `/tokens/${disabled.id}`, { enabled: false })
  for (const { code } of vaults) await call(admin!.token, 'POST', `/vaults/${code}/lock`, {})

  const vault = vaults[0]!
  const ownerId = initiator!.userId
  await addPolicies(call, admin!.token, vault.code, {
    initiator: ownerId,
    approvers: approvers.map((approver) => approver.userId),
  })
  const insert = (vaultId: string, count: number) =>
    insertAddresses(stack, { vaultId, count, ownerId, tokenId: usdt.id })
  const [hot, spread, inOneVault, funded] = [
    await insert(vault.id, 1),
    await insert(vault.id, size.spread),
    await insert(vault.id, size.spread),
    await insert(vault.id, size.funded),
  ]
  const overVaults: Address[] = []
  for (const { id } of vaults) overVaults.push(...(await insert(id, Math.ceil(size.spread / size.vaults))))
  shuffle(overVaults)

  const arrivals = createGroupCommit<Arrival, ArrivalAnswer>({
    commit: (batch) => commitWalletEvents(db, batch, { now: new Date(), isScreened: false }),
    batchMax: eventsPerCommitMax,
    inFlightMax: eventCommitsInFlightMax,
    waitingMax: eventsWaitingMax,
  })
  const world: World = {
    wallet,
    usdt,
    disabled,
    vault,
    admin: admin!.token,
    initiator: initiator!.token,
    approvers: approvers.map((approver) => approver.token),
    hot,
    spread,
    inOneVault,
    overVaults,
    funded,
    deposited: hot.length + spread.length + inOneVault.length + overVaults.length + funded.length,
    call,
    receive: arrivals.submit,
    async close() {
      await db.destroy()
      await wallet.close()
    },
  }
  // Creates all accounts before the measurements. In production, too, only the first deposit of an address creates
  // accounts.
  await depositBare(world, [...hot, ...spread, ...inOneVault, ...overVaults], '1')
  await depositBare(world, funded, '1000000000')
  await orderTransfers(world)
  // Computes statistics of every table, as autovacuum would within a minute of the first rows.
  await stack.sql('vacuum analyze')
  return world
}

/** Sends requests that must succeed, with a bearer token. */
export function createCaller({ port }: Stack): World['call'] {
  return async (token, method, path, body, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}

/** Orders some transfers that need no vote, and some that get all their votes. */
async function orderTransfers({ call, vault, initiator, approvers, funded }: World): Promise<void> {
  const order = async (amount: string, fromAddressId: string) => {
    const body = { fromAddressId, toAddress: fakeAddress('a supplier of the bench'), token: 'USDT', amount }
    const transfer = (await call(initiator, 'POST', `/vaults/${vault.code}/transfers`, body)) as { id: string }
    return transfer.id
  }
  for (const { id } of funded.slice(0, 100)) {
    await order('1', id)
    const large = await order('20000', id)
    for (const approver of approvers)
      await call(approver, 'POST', `/vaults/${vault.code}/transfers/${large}/approve`, {})
  }
}

const routes = {
  network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
  purpose: { order: 1, name: 'Purpose', variants: [{ id: 1, code: 'ops', name: 'Operations' }] },
  index: { order: 2, name: 'Index', dynamic: true },
}

export type EventBody = { kind: 'TOPUP'; tx: Record<string, unknown> }

/** Creates a deposit to one of the addresses in turn, with a new transaction hash. */
export function createEvents({ usdt }: World, addresses: Address[], amount = '1'): () => EventBody {
  let turn = 0
  return () => ({
    kind: 'TOPUP',
    tx: {
      network: 'ethereum',
      asset: usdt.contractAddress,
      amount,
      toAddress: addresses[turn++ % addresses.length]!.address,
      txHash: `0x${randomBytes(32).toString('hex')}`,
      index: 0,
      fromAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      blockTime: new Date().toISOString(),
      confirmations: 12,
    },
  })
}

export const toArrival = (body: EventBody): Arrival => ({
  event: parseWalletEvent(body),
  rawBody: JSON.stringify(body),
  signedBy: null,
})

/** Returns the signed event, as the wallet service sends it. */
export function toWebhook(body: object, more: Record<string, string> = {}): Buffer {
  const text = JSON.stringify(body)
  const id = `evt_${newId()}`
  const timestamp = `${Math.floor(Date.now() / 1000)}`
  const signature = `v1,${signatureOf(webhookSecret, id, timestamp, text)}`
  const headers = { ...more, 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return toRequest('POST', '/webhooks/wallet', headers, text)
}

async function depositBare(world: World, addresses: Address[], amount: string): Promise<void> {
  const next = createEvents(world, addresses, amount)
  for (let done = 0; done < addresses.length; done += 2_000) {
    await Promise.all(addresses.slice(done, done + 2_000).map(() => world.receive(toArrival(next()))))
  }
}

/** Signs in new users. The first user is an administrator of the platform. */
export async function signIn(db: Db, count: number): Promise<{ userId: string; token: string }[]> {
  const now = new Date()
  const inAWeek = new Date(now.getTime() + 7 * 86_400_000)
  const people = Array.from({ length: count }, () => ({ userId: newId(now), token: newSecret() }))
  for (const [i, { userId, token }] of people.entries()) {
    const email = `person-${i}@example.org`
    const dates = { created_at: now, updated_at: now }
    await db
      .insertInto('users')
      .values({ id: userId, email, name: email, is_platform_admin: i === 0, ...dates })
      .execute()
    const session = { id: newId(now), token_hash: sha256(token), user_id: userId, created_at: now }
    await db
      .insertInto('sessions')
      .values({ ...session, last_seen_at: now, expires_at: inAWeek, ends_at: inAWeek })
      .execute()
  }
  return people
}

/**
 * Creates three layers of policies by amount: small needs no vote, medium needs one, large needs two and one of another
 * group.
 */
async function addPolicies(
  call: World['call'],
  admin: string,
  vault: string,
  people: { initiator: string; approvers: string[] },
): Promise<void> {
  const group = async (code: string, members: string[]) => {
    const path = `/vaults/${vault}/policy-groups`
    const { id } = (await call(admin, 'POST', path, { code, name: code })) as { id: string }
    for (const userId of members) await call(admin, 'POST', `/policy-groups/${id}/members`, { userId })
    return id
  }
  const treasury = await group('treasury', [people.initiator, ...people.approvers.slice(0, 2)])
  const compliance = await group('compliance', people.approvers.slice(2))
  const policy = (code: string, amounts: object[], effect: object) =>
    call(admin, 'POST', `/policy-groups/${treasury}/policies`, {
      code,
      name: code,
      actionType: 'transfer',
      rules: [
        {
          conditionType: 'require',
          selectors: [
            { selectorType: 'token', value: 'USDT' },
            ...amounts.map((value) => ({ selectorType: 'amount', value })),
          ],
        },
      ],
      ...effect,
    })
  const votes = (approvalThreshold: number, groupId: string) => ({
    effect: 'requireApproval',
    approvalThreshold,
    approvers: [{ kind: 'group', groupId }],
  })
  await policy('small', [{ op: 'lte', value: '100' }], { effect: 'allow' })
  await policy(
    'medium',
    [
      { op: 'gt', value: '100' },
      { op: 'lte', value: '10000' },
    ],
    votes(1, treasury),
  )
  await policy('large-treasury', [{ op: 'gt', value: '10000' }], votes(2, treasury))
  await policy('large-compliance', [{ op: 'gt', value: '10000' }], votes(1, compliance))
}

let addressesCount = 0

/**
 * Inserts the rows of address creation by SQL, because 20,000 requests to the wallet service are not part of the bench.
 */
async function insertAddresses(
  stack: Stack,
  { vaultId, count, ownerId, tokenId }: { vaultId: string; count: number; ownerId: string; tokenId: string },
): Promise<Address[]> {
  const first = addressesCount
  addressesCount += count
  const addresses = Array.from({ length: count }, (_, i) => ({
    id: newId(),
    address: fakeAddress(`bench ${first + i}`),
  }))
  await stack.sql(
    `insert into addresses (vault_id, id, network_id, address, address_key, derivation_path, static_prefix, path_index,
       segments, owner_id, token_id, created_at, updated_at)
     select $1, a.id, n.id, a.address, lower(a.address), 'm/44/60/1/' || ($5 + a.n), 'm/44/60/1', $5 + a.n,
       '{"network": 60, "purpose": 1}', $3, $4, now(), now()
     from unnest($2::text[], $6::text[]) with ordinality as a(id, address, n), networks n where n.slug = 'ethereum'`,
    [
      vaultId,
      addresses.map((address) => address.id),
      ownerId,
      tokenId,
      first,
      addresses.map((address) => address.address),
    ],
  )
  return addresses
}

function shuffle(items: unknown[]): void {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[items[i], items[j]] = [items[j], items[i]]
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Hex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  readAuthority,
  SigningError,
  signApproval,
  signOrder,
  termsOf,
  type Signer as VoteSigner,
} from '../sdk/src/signing/signing.ts'
import { mutated, randomOf } from '../sdk/src/testing/signed-orders.ts'
import { recoverVaults } from '../server/src/composition/recover.ts'
import { readConfig } from '../server/src/config/config.ts'
import { confirmationHeader, hashOfBody } from '../server/src/http/confirmation.ts'
import { canonicalJson } from '../server/src/lib/canonical-json.ts'
import { sha256 } from '../server/src/lib/secrets.ts'
import { planPayout } from '../server/src/lib/signed-payout.ts'
import type { Vote } from '../server/src/lib/signed-vote.ts'
import { verifyTransfers } from '../server/src/modules/money/transfers/compare-order.ts'
import { compareAccepted } from '../server/src/modules/vaults/wallets/compare-accepted.ts'
import { walletOfVault } from '../server/src/modules/vaults/wallets/wallet-settings.ts'
import { type RunningServer, startServer } from '../server/src/start.ts'
import type { Address, TransferPayload } from '../server/src/testing/answer.ts'
import { Authenticator } from '../server/src/testing/authenticator.ts'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { createTestDatabase, createWalletDatabase } from '../server/src/testing/database.ts'
import { createRandom } from '../server/src/testing/random.ts'
import { newVote } from '../server/src/testing/votes.ts'
import { type Anvil, startAnvil } from '../wallet/src/anvil.ts'
import type { Authority } from '../wallet/src/authority/documents.ts'
import { pinAuthority } from '../wallet/src/authority/protection.ts'
import { AuthorityStore } from '../wallet/src/authority/store.ts'
import { type RunningWallet, startWallet } from '../wallet/src/start-wallet.ts'
import { testPassphrase } from '../wallet/src/testing/database.ts'
import { controlChain } from '../wallet/src/testing/local-chain.ts'
import { type Faucet, openFaucet } from '../wallet/src/testing/test-token.ts'
import { type Call, signInTo, until } from './setup/running-service.ts'

/** The number of orders that the attacker generates. */
const { runs: tries, seed } = campaignOf('TAKE_OVER', { runs: 300, seed: 1 })

const walletToken = 'a-take-over-wallet-service-token'
const webhookSecret = 'a take-over webhook secret'
/** Only the attacker has its key. */
const thief = privateKeyToAddress(generatePrivateKey())
const supplier = privateKeyToAddress(generatePrivateKey())

let anvil: Anvil
let server: RunningServer
let wallet: RunningWallet
let faucet: Faucet
/** The owner of the database of the service, and of that of the wallet service. */
let service: pg.Pool
let keeper: pg.Pool
let address: Address
let vaultId: string
let clientId: string
let authorityHash: string
const people: Record<string, Signer> = {}
/** Switched the protection on; the wallet service does not know this key. */
let administrator: Signer
const cleanUps: (() => Promise<unknown>)[] = []

type Signer = { id: string; key: Authenticator; publicKey: string; call: Call }
beforeAll(async () => {
  anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const [database, walletDatabase] = await Promise.all([createTestDatabase(), createWalletDatabase()])
  cleanUps.push(
    () => database.drop(),
    () => walletDatabase.drop(),
  )
  faucet = openFaucet(anvil.rpcUrl)
  server = await startServer(
    readConfig({
      DEMO: 'true',
      PORT: '0',
      DATABASE_URL: database.url,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      STRONGROOM_SECRET_KEY: 'a take-over key that is long enough',
      WALLET_WEBHOOK_SECRET: webhookSecret,
      LOG_LEVEL: 'silent',
    }),
  )
  cleanUps.push(() => server.stop())
  const authorityDir = await mkdtemp(join(tmpdir(), 'strongroom-authority-'))
  cleanUps.push(() => rm(authorityDir, { recursive: true }))
  wallet = await startWallet({
    databaseUrl: walletDatabase.url,
    passphrase: testPassphrase,
    logLevel: 'silent',
    port: 0,
    host: '127.0.0.1',
    chains: { ethereum: { rpcUrl: anvil.rpcUrl, chainId: anvil.chainId, confirmations: 1, pollMilliseconds: 100 } },
    webhookUrl: `${server.url}/webhooks/wallet`,
    webhookSecret,
    clients: [{ name: 'treasury', token: walletToken }],
    authorityDir,
  })
  cleanUps.push(() => wallet.stop())
  service = new pg.Pool({ connectionString: database.url })
  keeper = new pg.Pool({ connectionString: walletDatabase.url })
  cleanUps.push(
    () => service.end(),
    () => keeper.end(),
  )
  vaultId = await openVault()
  clientId = (await keeper.query('select id from wallet.clients')).rows[0].id
  const { hash } = await pinAuthority(keeper, new AuthorityStore(authorityDir), clientId, authorityOf(vaultId))
  authorityHash = hash
})
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

describe('T58 an attacker who has taken over the service', () => {
  it(`T58 signs none of ${tries} generated orders, with whatever people ever signed`, async () => {
    const honest = await captured()
    const random = createRandom(seed)
    const answers = new Set<string>()
    for (let i = 0; i < tries; i++) {
      const order = forgedOrder(honest.order, random)
      const { status, details } = await handOver(order, forgedAuthorization(honest, order, random))
      // A signature that is missing, or the id of an order that was already placed.
      expect([403, 409], `${details} ${JSON.stringify(order)}`).toContain(status)
      answers.add(`${status} ${/^[A-Z_]+(?=: )/.exec(details)?.[0] ?? 'ordered with other fields'}`)
    }
    const codes = ['MISSING', 'MALFORMED'].map((code) => `403 AUTHORIZATION_${code}`)
    const others = ['ORDER_DIFFERS', 'AUTHORITY_VERSION_DIFFERS', 'KEY_UNKNOWN', 'SIGNATURE_INVALID', 'NOT_INITIATED']
    expect([...answers].sort()).toEqual(
      [...codes, ...others.map((code) => `403 ${code}`), '409 ordered with other fields'].sort(),
    )
    await nothingMoved()
  })

  it('T58 moves nothing by rewriting a waiting order and every row about it, after honest votes', async () => {
    const { id } = await orderAs('treasurer', '2')
    await service.query(
      `update transfers set to_address = $2, payload = jsonb_set(payload, '{toAddress}', to_jsonb($2::text)) where id = $1`,
      [id, thief],
    )
    const { payload } = (await service.query('select payload from transfers where id = $1', [id])).rows[0]
    await service.query('update transfers set payload_hash = $2 where id = $1', [id, sha256(canonicalJson(payload))])
    await people.first!.call('POST', `/vaults/treasury/transfers/${id}/approve`, 409, await voteAs('first', id))
    expect(
      (await verifyTransfers(server.deps.db)).differences.map((difference) => JSON.stringify(difference)).join(),
    ).toContain(id)
    await nothingMoved()
  })

  it('T58 moves nothing with a passkey that was written into the database for a person', async () => {
    const { id } = await orderAs('treasurer', '2')
    // A passkey of the attacker, registered as their own, is written over to the person.
    await service.query('update passkeys set user_id = $2 where user_id = $1', [administrator.id, people.first!.id])
    const vote = await voteAs('first', id, administrator.key)
    await people.first!.call('POST', `/vaults/treasury/transfers/${id}/approve`, 200, vote)
    await until(async () => (await read(id)).status === 'failed')
    expect((await read(id)).failureReason).toMatch(/VOTES_MISSING|KEY_UNKNOWN/)
    await nothingMoved()
  })

  it('T58 moves nothing by switching the protection off in the database', async () => {
    await service.query(`update vaults set protection = 'off'`)
    const order = { fromAddressId: address.id, toAddress: thief, amount: '0.5' }
    const { id } = await people.treasurer!.call('POST', '/vaults/treasury/transfers', 201, order)
    await service.query(`update vaults set protection = 'votes'`)
    const { reason } = await people.first!.call('POST', `/vaults/treasury/transfers/${id}/approve`, 409, {})
    expect(reason).toBe('not_in_protected_vault')
    await nothingMoved()
  })

  it('T58 moves nothing by rows in the database of the wallet service, which names each', async () => {
    const honest = await captured()
    const forged: Record<string, unknown> = { ...honest.order, toAddress: thief, transferId: 'forged-row' }
    for (const [id, authorization] of [
      ['forged-row', null],
      ['forged-row-with-votes', { ...honest, order: forged }],
      ['forged-row-with-honest-votes', honest],
    ] as const) {
      await keeper.query(
        `insert into wallet.transfers (client_id, id, network, coin_type, derivation_path, from_address, to_address, amount,
           signed_order) values ($1, $2, 'ethereum', 60, $3, $4, $5, 7, $6)`,
        [
          clientId,
          id,
          forged.derivationPath,
          forged.fromAddress,
          thief,
          authorization && JSON.stringify(authorization),
        ],
      )
      await until(async () => (await ask('GET', `/transfers/${id}`)).body.status === 'failed')
      const { failureReason, txHash } = (await ask('GET', `/transfers/${id}`)).body
      expect([failureReason, txHash]).toEqual([expect.stringMatching(/^AUTHORIZATION_REFUSED: /), null])
    }
    await nothingMoved()
    // The books do not have these rows. They paid nothing, so that the operator books nothing.
    await expect(compareBooks()).rejects.toThrow('The vault is halted')
    const recovery = { isDry: false, owner: null, operator: 'root', say: () => {}, replayMilliseconds: 1_000 }
    expect(await recoverVaults(server.deps, recovery)).toBe(0)
  })

  it('T58 signs no row that is not, as it is, in a payout that enough people signed for its sum', async () => {
    const [paid, others] = [await orderAllAs('treasurer', ['1', '1', '1']), await orderAllAs('treasurer', ['1', '1'])]
    await people.first!.call('POST', `${payouts}/${paid.payoutId}/approve`, 200, await voteOnAllAs('first', paid))
    for (const { transferId } of paid.orders) await until(async () => (await read(transferId)).status === 'confirmed')
    const { rows } = await keeper.query('select signed_order from wallet.transfers where id = $1', [
      paid.orders[0]!.transferId,
    ])
    const honest = rows[0].signed_order as Captured
    const forged = { ...honest.order, toAddress: thief, transferId: 'forged-payout-row' }
    const waiting = (i: number) => ({ ...honest, order: others.orders[i], batch: others.plan.placeOf(i) })
    const [initiation] = await votesOf(others.payoutId)
    const attacks: [what: string, order: object, authorization: object, code: string][] = [
      ['not in the payout', forged, { ...honest, order: forged }, 'NOT_IN_PAYOUT'],
      ['altered', { ...honest.order, toAddress: thief }, honest, ''],
      ['under another id', { ...honest.order, transferId: 'forged-twice' }, honest, 'ORDER_DIFFERS'],
      [
        'with the place in another',
        forged,
        { ...honest, order: forged, batch: others.plan.placeOf(0) },
        'NOT_IN_PAYOUT',
      ],
      ['with the votes on another', others.orders[0]!, waiting(0), 'ORDER_DIFFERS'],
      ['with a vote too few', others.orders[1]!, { ...waiting(1), votes: [initiation] }, 'VOTES_MISSING'],
    ]
    for (const [what, order, authorization, code] of attacks) {
      const { status, details } = await handOver(order, authorization)
      expect([status, details], what).toEqual(
        code === '' ? [409, expect.anything()] : [403, expect.stringMatching(`^${code}: `)],
      )
    }
    await nothingMoved()
  })

  it('T58 signs no payout whose sum is a lie, and none that pays in small rows what needs more votes as one', async () => {
    const { payoutId, orders } = await orderAllAs('treasurer', ['2', '2', '2'])
    const toThief = orders.map((order) => ({ ...order, toAddress: thief }))
    const { plan } = planOf(payoutId, toThief)
    const [sum] = plan.document.sums
    const lied = { ...plan.document, sums: [{ ...sum!, amount: parseEther('3').toString() }] }
    for (const [payout, code] of [
      [lied, 'NOT_IN_PAYOUT'],
      [plan.document, 'VOTES_MISSING'],
    ] as const) {
      // Both have the passkeys of the initiator and of one approver, where the sum asks for two.
      const hash = sha256(canonicalJson(payout)).toString('hex')
      const votes = [voteOf('treasurer', hash, 'initiate'), voteOf('first', hash, 'approve')]
      const batch = { ...plan.placeOf(0), payout }
      const { status, details } = await handOver(toThief[0]!, { order: toThief[0], authorityVersion: 1, votes, batch })
      expect([status, details]).toEqual([403, expect.stringMatching(`^${code}: `)])
    }
    await nothingMoved()
  })

  it('an order that people did sign is mined', async () => {
    const { id } = await orderAs('treasurer', '2')
    const before = await faucet.getBalance({ address: supplier })
    await people.first!.call('POST', `/vaults/treasury/transfers/${id}/approve`, 200, await voteAs('first', id))
    await until(async () => (await read(id)).status === 'confirmed')
    expect(await faucet.getBalance({ address: supplier })).toBe(before + parseEther('2'))
    await nothingMoved()
  })

  it('T80 whatever the service answers to people who do honest work, what moves is what they typed', async () => {
    const random = randomOf(seed + 36)
    const before = await faucet.getBalance({ address: supplier })
    const accepted = new Set<string>()
    let signedCount = 0
    for (let i = 0; i < alteredCount; i++) {
      const signed = await signAltered(random)
      if (signed === null) continue
      signedCount++
      // The attacker sends the signed order to the wallet service directly.
      const { order, authorization } = signed
      const { status } = await handOver(order, authorization)
      if (status < 300) accepted.add((order as TransferPayload).transferId)
    }
    expect(signedCount).toBeGreaterThan(0)
    expect(signedCount).toBeLessThan(alteredCount)
    expect(accepted.size).toBeGreaterThan(0)
    for (const id of accepted)
      await until(async () => (await ask('GET', `/transfers/${id}`)).body.status === 'confirmed')
    const moved = (await faucet.getBalance({ address: supplier })) - before
    expect(moved).toBe(parseEther(typedAmount) * BigInt(accepted.size))
    await nothingMoved()
    // The books do not have these orders, so that nothing more is handed over until they do.
    await expect(compareBooks()).rejects.toThrow('The vault is halted')
  }, 240_000)
})

/** Compares the books of the vault with what its wallet service accepted, as each hand-over does. */
const compareBooks = () => compareAccepted(server.deps, vaultId, () => walletOfVault(server.deps, vaultId))

/** Answers that are altered for people who do honest work. */
const alteredCount = tries / 10
const typedAmount = '0.01'

/** An order and a vote by people whose service alters one value of one answer; null when they sign nothing. */
async function signAltered(random: () => number) {
  const { treasurer, first } = people
  const body = { fromAddressId: address.id, toAddress: supplier, amount: typedAmount }
  const preview = await treasurer!.call('POST', '/vaults/treasury/transfers/preview', 200, body)
  const answer = await treasurer!.call('GET', '/vaults/treasury/authority', 200)
  const isOfOrder = random() < 0.8
  const order: unknown = isOfOrder ? mutated(preview.order, random).answer : preview.order
  const document: unknown = isOfOrder ? answer.document : mutated(answer.document, random).answer
  try {
    const authority = await readAuthority(document)
    const typed = { network: 'ethereum', contractAddress: null, fromAddress: address.address, toAddress: supplier }
    const terms = { ...termsOf(order), fromAddressId: address.id }
    const who = { vaultId: preview.order.vaultId, initiatorId: treasurer!.id }
    const expected = { ...who, ...typed, amount: typedAmount, terms, authority }
    const votes = [
      await signOrder(order, expected, signerOf(treasurer!)),
      await signApproval({ kind: 'transfer', order, expected }, signerOf(first!)),
    ]
    return { order: order as object, authorization: { order, authorityVersion: 1, votes } }
  } catch (error) {
    expect(error).toBeInstanceOf(SigningError)
    return null
  }
}

const signerOf = ({ id, key }: Signer): VoteSigner => ({ person: id, sign: async (vote) => key.vote(vote) })

type Captured = { order: Record<string, unknown>; authorityVersion: number; votes: Record<string, unknown>[] }

/** An order that people signed and that was paid, as the attacker read it. */
let known: Captured | undefined
async function captured(): Promise<Captured> {
  if (known !== undefined) return known
  const { id } = await orderAs('treasurer', '0.5')
  await people.first!.call('POST', `/vaults/treasury/transfers/${id}/approve`, 200, await voteAs('first', id))
  await until(async () => (await read(id)).status === 'confirmed')
  const { rows } = await keeper.query('select signed_order from wallet.transfers where id = $1', [id])
  known = rows[0].signed_order as Captured
  return known
}

type Random = ReturnType<typeof createRandom>
const pick = <Item>(random: Random, items: Item[]): Item => items[random.below(items.length)]!

/** An order to the thief, or an honest one with one thing changed. */
function forgedOrder(honest: Captured['order'], random: Random): Record<string, unknown> {
  const transferId = pick(random, [String(honest.transferId), `forged-${random.below(1e9)}`])
  const amount = pick(random, [String(honest.amount), '1', '900000000000000000'])
  return { ...honest, transferId, toAddress: thief, amount }
}

/** Nothing, the honest votes, or votes by keys of the attacker in the names of the people. */
function forgedAuthorization(honest: Captured, order: Record<string, unknown>, random: Random): unknown {
  const hash = sha256(canonicalJson(order)).toString('hex')
  const authenticator = new Authenticator(server.url)
  const forged = ['treasurer', 'first', 'second'].map((name, i) =>
    authenticator.vote(
      newVote({
        subject: 'transfer',
        hash,
        decision: i === 0 ? 'initiate' : 'approve',
        person: people[name]!.id,
        authority: authorityHash,
      }),
    ),
  )
  const named = forged.map((vote, i) => ({ ...vote, keyId: String(honest.votes[i]?.keyId ?? vote.keyId) }))
  const relabelled = honest.votes.map((vote) => ({ ...vote, vote: { ...(vote.vote as object), hash } }))
  const votes = pick(random, [[], honest.votes, forged, named, relabelled])
  return pick(random, [
    undefined,
    null,
    honest,
    { ...honest, order, votes },
    { ...honest, order, votes, authorityVersion: random.below(3) },
  ])
}

/** As the service hands an order over, with its bearer secret. */
async function handOver(order: object, authorization: unknown) {
  const { transferId: id, ...rest } = order as Partial<TransferPayload>
  const { network, coinType, derivationPath, fromAddress, toAddress, contractAddress, amount } = rest
  const fields = { id, network, coinType, derivationPath, fromAddress, toAddress, contractAddress, amount }
  const { status, body } = await ask('POST', '/transfers', { ...fields, authorization })
  return { status, details: body.details }
}

async function ask(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${walletToken}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${wallet.url}${path}`, init)
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers of many shapes.
  return { status: response.status, body: (await response.json()) as any }
}

/** The thief has nothing on the chain, and nothing was signed for them. */
async function nothingMoved(): Promise<void> {
  expect(await faucet.getBalance({ address: thief })).toBe(0n)
  const { rows } = await keeper.query(
    `select id from wallet.transfers where to_address = $1 and raw_transaction is not null`,
    [thief],
  )
  expect(rows).toEqual([])
}

async function openVault(): Promise<string> {
  const operator = await signIn('operator@example.org')
  const { id: vaultId } = await operator('POST', '/vaults', 201, {
    vault: { code: 'treasury', name: 'Treasury', walletServiceUrl: wallet.url, walletServiceSecret: walletToken },
    routes: {
      network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
      index: { order: 1, name: 'Index', dynamic: true },
    },
  })
  const coin = { network: 'ethereum', code: 'ETH', symbol: 'Ξ', name: 'Ether', decimals: 18, contractAddress: null }
  await operator('POST', '/tokens', 201, coin)
  await operator('POST', '/vaults/treasury/lock', 200)
  const group = (code: string) => operator('POST', '/vaults/treasury/policy-groups', 201, { code, name: code })
  const [treasury, approvers] = [await group('treasury'), await group('approvers')]
  for (const [name, groupId] of [
    ['treasurer', treasury.id],
    ['first', approvers.id],
    ['second', approvers.id],
  ] as const) {
    await operator('POST', '/invitations', 201, { email: `${name}@example.org`, groupIds: [groupId] })
    people[name] = await withPasskey(await signIn(`${name}@example.org`))
  }
  const policies = [
    { code: 'addresses', name: 'Addresses', actionType: 'create_address', effect: 'allow' },
    {
      code: 'one-vote',
      name: 'Every transfer needs a vote',
      actionType: 'transfer',
      effect: 'requireApproval',
      approvalThreshold: 1,
      approvers: [{ kind: 'group', groupId: approvers.id }],
    },
  ]
  for (const policy of policies) await operator('POST', `/policy-groups/${treasury.id}/policies`, 201, policy)
  address = await people.treasurer!.call('POST', '/vaults/treasury/addresses', 201, {
    network: 'ethereum',
    segments: {},
    token: 'ETH',
  })
  const hash = await faucet.sendTransaction({ to: address.address as Hex, value: parseEther('20'), chain: null })
  await faucet.waitForTransactionReceipt({ hash })
  await controlChain(anvil.rpcUrl).setAutomine(true)
  await until(async () => (await people.treasurer!.call('GET', '/vaults/treasury/balances', 200)).totals.length === 1)
  administrator = await withPasskey(operator)
  const protection = { protection: 'votes' }
  const confirmed = { method: 'PUT', path: '/api/v1/vaults/treasury/protection', bodyHash: hashOfBody(protection)! }
  const prepared = await operator('POST', '/users/me/passkeys/confirmation', 200, confirmed)
  const assertion = await administrator.key.confirm(confirmed, prepared)
  const header = Buffer.from(JSON.stringify(assertion)).toString('base64url')
  await operator('PUT', '/vaults/treasury/protection', 200, protection, { [confirmationHeader]: header })
  return vaultId
}

/** The order of the treasurer needs one vote of the approvers, whatever the service believes. */
function authorityOf(vaultId: string): Authority {
  const keys = Object.values(people).map(({ id, key, publicKey }) => ({
    id: key.id.toString('base64url'),
    person: id,
    name: 'Phone',
    kind: 'passkey' as const,
    publicKey,
    rpId: new URL(server.url).hostname,
    origins: [server.url],
  }))
  const { treasurer, first, second } = people
  return {
    format: 'strongroom-authority-2',
    vaultId,
    version: 1,
    previous: null,
    keys,
    groups: [
      { id: 'initiators', persons: [treasurer!.id] },
      { id: 'approvers', persons: [first!.id, second!.id] },
    ],
    addresses: [],
    change: { group: 'approvers', votes: 2 },
    trustsServicePage: true,
    delayHours: 0,
    contacts: [],
    rules: [
      {
        network: 'ethereum',
        contractAddress: null,
        symbol: 'ETH',
        decimals: 18,
        initiators: 'initiators',
        perDay: null,
        floors: [
          { above: '0', to: 'any', group: 'approvers', votes: 1 },
          { above: parseEther('5').toString(), to: 'any', group: 'approvers', votes: 2 },
        ],
      },
    ],
  }
}

async function withPasskey(call: Call): Promise<Signer> {
  const key = new Authenticator(server.url)
  const { creation } = await call('POST', '/users/me/passkeys/options', 200, {})
  const { publicKey } = await call('POST', '/users/me/passkeys', 201, {
    name: 'Phone',
    credential: await key.register(creation),
  })
  const { user } = await call('GET', '/auth/session', 200)
  return { id: user.id, key, publicKey, call }
}

/** An order that its initiator signed, which waits for a vote. */
async function orderAs(name: string, amount: string) {
  const { call, key } = people[name]!
  const order = { fromAddressId: address.id, toAddress: supplier, amount }
  const { order: payload, vote } = await call('POST', '/vaults/treasury/transfers/preview', 200, order)
  const { transferId, expiresAt, rulesVersion } = payload
  const signed = { transferId, expiresAt, rulesVersion, vote: key.vote(vote) }
  return call('POST', '/vaults/treasury/transfers', 201, { ...order, signed })
}

async function voteAs(name: string, id: string, key = people[name]!.key) {
  const { payloadHash: hash } = await people[name]!.call('GET', `/vaults/treasury/transfers/${id}`, 200)
  const by = { person: people[name]!.id, authority: authorityHash }
  const vote = newVote({ subject: 'transfer', hash, decision: 'approve', ...by })
  return { payloadHash: hash, signature: key.vote(vote) }
}

const payouts = '/vaults/treasury/payouts'
let rowCount = 0

function planOf(payoutId: string, orders: TransferPayload[]) {
  const { vaultId, initiatorId, ...terms } = orders[0]!
  const [rulesVersion, expiresAt] = [terms.rulesVersion!, terms.expiresAt!]
  const paid = orders.map(({ network, contractAddress, amount, ...order }) => {
    const hash = sha256(canonicalJson({ network, contractAddress, amount, ...order })).toString('hex')
    return { network, contractAddress, amount, order: hash }
  })
  return { payoutId, orders, plan: planPayout({ payoutId, vaultId, initiatorId, rulesVersion, expiresAt }, paid) }
}

/** A payout that its initiator signed, which waits for a vote. */
async function orderAllAs(name: string, amounts: string[]) {
  const { call } = people[name]!
  const rows = amounts.map((amount) => ({
    externalId: `row-${rowCount++}`,
    fromAddressId: address.id,
    toAddress: supplier,
    amount,
  }))
  const { payoutId, orders } = (await call('POST', `${payouts}/preview`, 200, { rows })).toSign
  const planned = planOf(payoutId, orders)
  const { expiresAt, rulesVersion } = orders[0]!
  const vote = voteOf(name, planned.plan.hash.toString('hex'), 'initiate')
  await call('POST', payouts, 201, { rows, signed: { payoutId, expiresAt, rulesVersion, vote } })
  return planned
}

function voteOf(name: string, hash: string, decision: Vote['decision']) {
  const { key, id: person } = people[name]!
  return key.vote(newVote({ subject: 'payout', hash, decision, person, authority: authorityHash }))
}

async function voteOnAllAs(name: string, { payoutId, plan }: Awaited<ReturnType<typeof orderAllAs>>) {
  const hash = plan.hash.toString('hex')
  const { payloadHash } = await people[name]!.call('GET', `${payouts}/${payoutId}`, 200)
  expect(payloadHash).toBe(hash)
  return { payloadHash, signature: voteOf(name, hash, 'approve') }
}

/** Reads the votes as the attacker does, in the database of the service. */
const votesOf = async (subjectId: string) =>
  (await service.query('select signed_vote from signed_votes where subject_id = $1', [subjectId])).rows.map(
    ({ signed_vote }) => signed_vote,
  )

const read = (id: string) => people.treasurer!.call('GET', `/vaults/treasury/transfers/${id}`, 200)

const signIn = (email: string): Promise<Call> => signInTo(server, email)

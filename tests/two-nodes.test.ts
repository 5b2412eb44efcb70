import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CookieBrowser } from '../demo/src/cookie-browser.ts'
import { type Db, openDatabase } from '../server/src/db/client.ts'
import { useRecordKey } from '../server/src/db/record-key.ts'
import { inTransaction } from '../server/src/db/transaction.ts'
import { createRecordKey } from '../server/src/lib/record-key.ts'
import { sha256 } from '../server/src/lib/secrets.ts'
import { createSignInLink } from '../server/src/modules/people/sign-in/actions.ts'
import { disableUser } from '../server/src/modules/people/users/actions.ts'
import type { BodyOf, Method } from '../server/src/testing/answer.ts'
import { buildProject } from '../server/src/testing/build-project.ts'
import { createTestDatabase } from '../server/src/testing/database.ts'
import { type FakeWallet, fakeAddress, startFakeWallet } from '../server/src/testing/fake-wallet.ts'
import { TestProvider } from '../server/src/testing/identity-provider.ts'

/**
 * Two processes of the service on one database, as behind a load balancer. A change of rights on one of them applies to the
 * very next request to the other: authorisation uses no cache.
 */

const repository = fileURLToPath(new URL('..', import.meta.url))

type Reply<Body> = { status: number; body: Body }
type Call = <M extends Uppercase<Method>, Url extends string>(
  method: M,
  path: Url,
  body?: object,
) => Promise<Reply<BodyOf<Lowercase<M> & Method, Url>>>
/** A user's client for each of the nodes, with one session. */
type Person = { id: string; email: string; token: string; first: Call; second: Call }
type Node = { process: ChildProcess; url: string }

let nodes: [Node, Node]
const secretKey = 'a key of two nodes that is long enough'
let db: Db
let wallet: FakeWallet
const cleanUps: (() => Promise<unknown>)[] = []

let operator: Person
let owner: Person
let viewer: Person
let groups: { members: string; viewers: string }
let address: string

beforeAll(async () => {
  // The compiled server runs as processes of its own, as in production.
  buildProject('build:server')
  const database = await createTestDatabase()
  cleanUps.push(() => database.drop())
  const opened = openDatabase({ url: database.url, connectionsMax: 2, onError: () => {} })
  db = opened.db
  useRecordKey(db, createRecordKey(secretKey))
  cleanUps.push(() => db.destroy())
  wallet = await startFakeWallet()
  cleanUps.push(() => wallet.close())
  nodes = await Promise.all([startNode(database.url), startNode(database.url)])
  await prepareVault()
})

afterAll(async () => {
  for (const { process: node } of nodes ?? []) {
    node.kill('SIGTERM')
    await once(node, 'exit')
  }
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

it('T47 a removed membership, and the removed membership of a group of administrators, end on the other node', async () => {
  const leaver = await enrol('leaver@example.org', groups.members)
  expect((await leaver.second('GET', '/vaults/harbour')).status).toBe(200)
  await ok(operator.first('DELETE', `/policy-groups/${groups.members}/members/${leaver.id}`))
  expect((await leaver.second('GET', '/vaults/harbour')).status).toBe(403)
  await ok(operator.first('POST', `/policy-groups/${groups.members}/members`, { userId: leaver.id }))
  expect((await leaver.second('GET', '/vaults/harbour')).status).toBe(200)

  const { body } = await operator.first('GET', '/vaults/harbour/policy-groups')
  const administrators = body.items.find((group) => group.code === 'administrators')!.id
  await ok(operator.first('POST', `/policy-groups/${administrators}/members`, { userId: leaver.id }))
  expect((await leaver.second('GET', '/vaults/harbour/audit-log')).status).toBe(200)
  await ok(operator.first('DELETE', `/policy-groups/${administrators}/members/${leaver.id}`))
  expect((await leaver.second('GET', '/vaults/harbour/audit-log')).status).toBe(403)
})

it('T47 a grant to a person is there on the other node with the next request, and so is its end', async () => {
  const grants = `/vaults/harbour/addresses/${address}/grants` as const
  const subject = { subjectType: 'user', subjectId: viewer.id }
  expect(await seenBySecond()).toEqual({ address: 404, preview: 404, listed: 0 })
  const { body: grant } = await ok(owner.first('POST', grants, subject))
  expect(await seenBySecond()).toEqual({ address: 200, preview: 403, listed: 1 })
  await ok(owner.first('POST', grants, { ...subject, canTransfer: true }))
  expect(await seenBySecond()).toEqual({ address: 200, preview: 200, listed: 1 })
  await ok(owner.first('DELETE', `${grants}/${grant.id}`))
  expect(await seenBySecond()).toEqual({ address: 404, preview: 404, listed: 0 })
})

it('T47 a grant to a group holds on the other node for as long as there are both grant and membership', async () => {
  const grants = `/vaults/harbour/addresses/${address}/grants` as const
  const subject = { subjectType: 'group', subjectId: groups.viewers }
  const { body: grant } = await ok(owner.first('POST', grants, subject))
  expect(await seenBySecond()).toEqual({ address: 200, preview: 403, listed: 1 })
  await ok(operator.first('DELETE', `/policy-groups/${groups.viewers}/members/${viewer.id}`))
  expect(await seenBySecond()).toEqual({ address: 404, preview: 404, listed: 0 })
  await ok(operator.first('POST', `/policy-groups/${groups.viewers}/members`, { userId: viewer.id }))
  expect(await seenBySecond()).toEqual({ address: 200, preview: 403, listed: 1 })
  await ok(owner.first('DELETE', `${grants}/${grant.id}`))
  expect(await seenBySecond()).toEqual({ address: 404, preview: 404, listed: 0 })
})

it('T47 a shared folder opens and closes on the other node with each change of what is in it and for whom it is', async () => {
  const { body: folder } = await ok(owner.first('POST', '/vaults/harbour/address-groups', { name: 'Payroll' }))
  const url = `/vaults/harbour/address-groups/${folder.id}` as const
  const subject = { subjectType: 'group', subjectId: groups.viewers, canTransfer: true }
  const seen = async () => ({ folder: (await viewer.second('GET', url)).status, ...(await seenBySecond()) })
  const nothing = { folder: 404, address: 404, preview: 404, listed: 0 }
  const all = { folder: 200, address: 200, preview: 200, listed: 1 }

  await ok(owner.first('POST', `${url}/members`, { addressId: address }))
  expect(await seen()).toEqual(nothing)
  const { body: grant } = await ok(owner.first('POST', `${url}/grants`, subject))
  expect(await seen()).toEqual(all)
  await ok(owner.first('DELETE', `${url}/members/${address}`))
  expect(await seen()).toEqual({ ...nothing, folder: 200 })
  await ok(owner.first('POST', `${url}/members`, { addressId: address }))
  expect(await seen()).toEqual(all)
  await ok(owner.first('DELETE', `${url}/grants/${grant.id}`))
  expect(await seen()).toEqual(nothing)
  await ok(owner.first('POST', `${url}/grants`, subject))
  expect(await seen()).toEqual(all)
  await ok(owner.first('DELETE', url))
  expect(await seen()).toEqual(nothing)
})

it('T47 a session that was signed out or revoked, a disabled user and a revoked service token end on the other node', async () => {
  const ends = {
    'signed out': async () => {
      const person = await signIn(viewer.email)
      return { call: person.second, end: () => person.first('POST', '/auth/sign-out') }
    },
    revoked: async () => {
      const person = await signIn(viewer.email)
      const { body } = await ok(person.first('GET', '/auth/sessions?limit=1'))
      return { call: person.second, end: () => viewer.first('DELETE', `/auth/sessions/${body.items[0]!.id}`) }
    },
    'signed out everywhere by a platform administrator': async () => {
      const person = await enrol('elsewhere@example.org', groups.members)
      const end = () => operator.first('POST', `/users/${person.id}/sign-out-everywhere`)
      return { call: person.second, end }
    },
    disabled: async () => {
      const person = await enrol('disabled@example.org', groups.members)
      const end = async () => {
        await inTransaction(db, (trx) => disableUser(trx, person.id, new Date()))
        return { status: 204, body: null }
      }
      return { call: person.second, end }
    },
    'service token': async () => {
      const body = { name: 'Bookkeeping', groupIds: [groups.members] }
      const { body: created } = await ok(operator.first('POST', '/vaults/harbour/service-tokens', body))
      const end = () => operator.first('DELETE', `/vaults/harbour/service-tokens/${created.id}`)
      return { call: callerOf(nodes[1], created.token), end }
    },
  }
  for (const [how, prepare] of Object.entries(ends)) {
    const { call, end } = await prepare()
    expect((await call('GET', '/vaults/harbour')).status, how).toBe(200)
    await ok<unknown>(end())
    expect((await call('GET', '/vaults/harbour')).status, how).toBe(401)
  }
})

/** Reads and orders as the viewer on the second node, for the only address. */
async function seenBySecond() {
  const order = { fromAddressId: address, toAddress: fakeAddress('a supplier'), amount: '1' }
  const list = await ok(viewer.second('GET', '/vaults/harbour/addresses?access=shared'))
  return {
    address: (await viewer.second('GET', `/vaults/harbour/addresses/${address}`)).status,
    preview: (await viewer.second('POST', '/vaults/harbour/transfers/preview', order)).status,
    listed: list.body.items.length,
  }
}

async function prepareVault(): Promise<void> {
  operator = await signIn('operator@example.org')
  await ok(
    operator.first('POST', '/vaults', {
      vault: { code: 'harbour', name: 'Harbour', walletServiceUrl: wallet.url, walletServiceSecret: wallet.secret },
      routes: {
        network: { order: 0, name: 'Network', variants: [{ id: 60, code: 'ethereum', name: 'Ethereum' }] },
        index: { order: 1, name: 'Index', dynamic: true },
      },
    }),
  )
  const coin = { network: 'ethereum', code: 'ETH', symbol: 'ETH', name: 'Ether', contractAddress: null, decimals: 18 }
  await ok(operator.first('POST', '/tokens', coin))
  await ok(operator.first('POST', '/vaults/harbour/lock', {}))
  const createGroup = async (code: string): Promise<string> =>
    (await ok(operator.first('POST', '/vaults/harbour/policy-groups', { code, name: code }))).body.id
  groups = { members: await createGroup('members'), viewers: await createGroup('viewers') }
  for (const actionType of ['create_address', 'transfer']) {
    const policy = { code: actionType, name: actionType, actionType, effect: 'allow' }
    for (const id of Object.values(groups)) {
      await ok(operator.first('POST', `/policy-groups/${id}/policies`, { ...policy, code: `${id}-${actionType}` }))
    }
  }
  owner = await enrol('owner@example.org', groups.members)
  viewer = await enrol('viewer@example.org', groups.members, groups.viewers)
  const created = await ok(
    owner.first('POST', '/vaults/harbour/addresses', { network: 'ethereum', segments: {}, token: 'ETH' }),
  )
  address = created.body.id
}

it('T90 a session that ends at the identity provider, told to one node, ends on the other with the next request', async () => {
  const idp = await TestProvider.start(() => new Date())
  cleanUps.push(() => idp.stop())
  const id = await connectProvider(idp)
  const { id: userId } = await enrol('anna@corp.example', groups.members)
  const [stays, ends] = [browserOfFirst(), browserOfFirst()]
  expect([await throughProvider(stays, id), await throughProvider(ends, id)]).toEqual(['/', '/'])
  const [kept, ended] = [stays, ends].map(({ session }) => personOf(userId, 'anna@corp.example', session!))
  expect((await ended!.second('GET', '/vaults/harbour')).status).toBe(200)
  const row = db.selectFrom('sessions').select('provider_sid').where('token_hash', '=', sha256(ended!.token))
  const { provider_sid: sid } = await row.executeTakeFirstOrThrow()
  const token = await idp.sign(idp.logoutToken({ sid }), { header: { typ: 'logout+jwt' } })
  const logout = { method: 'POST', body: new URLSearchParams({ logout_token: token }) }
  expect((await fetch(`${nodes[0].url}/auth/oidc/${id}/backchannel-logout`, logout)).status).toBe(200)
  expect((await ended!.second('GET', '/vaults/harbour')).status).toBe(401)
  expect((await kept!.second('GET', '/vaults/harbour')).status).toBe(200)
})

async function enrol(email: string, ...groupIds: string[]): Promise<Person> {
  for (const groupId of groupIds.slice(0, 1))
    await ok(operator.first('POST', '/invitations', { email, groupIds: [groupId] }))
  const person = await signIn(email)
  for (const groupId of groupIds.slice(1)) {
    await ok(operator.first('POST', `/policy-groups/${groupId}/members`, { userId: person.id }))
  }
  return person
}

/** Signs in on the first node; the session is valid on both. */
async function signIn(email: string): Promise<Person> {
  const publicOrigin = () => nodes[0].url
  const link = await inTransaction(db, (trx) => createSignInLink(trx, { publicOrigin }, email, new Date()))
  const token = new URL(link).searchParams.get('token')
  const { body } = await ok(callerOf(nodes[0], null)('POST', '/auth/magic-link/verify', { token }))
  return personOf(body.user.id, email, body.token!)
}

const personOf = (id: string, email: string, token: string): Person => ({
  id,
  email,
  token,
  first: callerOf(nodes[0], token),
  second: callerOf(nodes[1], token),
})

/** Connects a provider on the first node, by two platform administrators. Returns its id. */
async function connectProvider(idp: TestProvider): Promise<string> {
  const { id: otherId } = await enrol('second.operator@example.org', groups.members)
  await db.updateTable('users').set({ is_platform_admin: true }).where('id', '=', otherId).execute()
  const other = await signIn('second.operator@example.org')
  const { issuer, clientId, clientSecret } = idp
  const settings = {
    name: 'Corp',
    issuer,
    clientId,
    clientSecret,
    domains: ['corp.example'],
    linking: 'email_verified',
  }
  const { id, redirectUri, logoutUri } = (await ok(operator.first('POST', '/identity-providers', settings))).body
  idp.register({ redirectUri, logoutUri })
  const browser = browserOfFirst()
  browser.session = operator.token
  await throughProvider(browser, id)
  const { body: held } = await ok(operator.first('POST', `/identity-providers/${id}/activate`, {}))
  await ok(other.first('POST', `/platform-changes/${(held as { id: string }).id}/confirm`, {}))
  return id
}

const browserOfFirst = () =>
  new CookieBrowser(nodes[0].url, async (path, cookie) => {
    const answer = await fetch(nodes[0].url + path, { redirect: 'manual', headers: { cookie } })
    const { status, headers } = answer
    return { status, location: headers.get('location'), body: await answer.text(), cookies: headers.getSetCookie() }
  })

async function throughProvider(browser: CookieBrowser, id: string): Promise<string | null> {
  const { location } = await browser.visit(`/auth/oidc/${id}/start`)
  return (await browser.visit(await browser.followProvider(location!))).location
}

function callerOf({ url }: Node, token: string | null): Call {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
}

async function ok<Body>(reply: Promise<Reply<Body>>): Promise<Reply<Body>> {
  const { status, body } = await reply
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return { status, body }
}

async function startNode(databaseUrl: string): Promise<Node> {
  const child = fork(join(repository, 'server/dist/main.js'), {
    env: {
      PATH: process.env.PATH ?? '',
      DEMO: 'true',
      DATABASE_URL: databaseUrl,
      STRONGROOM_SECRET_KEY: secretKey,
      STRONGROOM_ADMIN_EMAIL: 'operator@example.org',
      PORT: '0',
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => expect.fail('A node ended while it was starting')),
  ])) as [{ url: string }]
  return { process: child, url: message.url }
}

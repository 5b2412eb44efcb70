import {
  type Directory,
  type IdentityProvider,
  type PlatformChange,
  type Strongroom,
  StrongroomError,
} from '@strongroom/sdk'
import type { CompanyFacts } from './company.ts'
import type { CompanyPerson } from './company-pages.ts'
import { CookieBrowser } from './cookie-browser.ts'
import { people } from './organisation.ts'
import type { Part } from './part.ts'
import type { CompanyStart, KeepDirectory, KeepProvider, PushPeople, Registration } from './run-company.ts'
import { connect, openSession } from './sign-in.ts'

export type CompanyWay = {
  dataDir: string
  /** The URL of the server on this machine. */
  baseUrl: string
  /** The origin of the pages. */
  origin: string
  adminEmail: string
  linkFor(email: string): Promise<string>
  /** Makes a person a platform administrator, as the operator does with `strongroom admin add`. */
  addAdministrator(email: string): Promise<unknown>
  company: Part
  port: number
}

const companyName = 'Demo company'
const domain = 'strongroom.localhost'

/** The administrators run the demo: they can sign in at the company, and its directory does not have them. */
const peopleOf = (adminEmail: string): CompanyPerson[] =>
  [...new Set([adminEmail, ...Object.values(people)])]
    .filter((email) => email.endsWith(`@${domain}`))
    .map((email) => ({
      email,
      isInDirectory: ![adminEmail, people.secondAdministrator].includes(email),
      isActive: true,
    }))

/** The two platform administrators, and the session of the first one for a browser. */
type Administrators = { first: Strongroom; second: Strongroom; token: string }

/**
 * Starts the company, and lets two platform administrators connect its identity provider and its directory through the
 * API. What an earlier start connected stays as it is, also if somebody stopped it since.
 * @returns the address of the company
 */
export async function connectCompany(way: CompanyWay): Promise<string> {
  const { baseUrl, company, dataDir, port } = way
  const facts = await company.ask<CompanyFacts>({
    type: 'start',
    dataDir,
    port,
    people: peopleOf(way.adminEmail),
  } satisfies CompanyStart)
  await way.addAdministrator(people.secondAdministrator)
  const [token, secondToken] = await Promise.all(
    [way.adminEmail, people.secondAdministrator].map(async (email) => openSession(baseUrl, await way.linkFor(email))),
  )
  const administrators = { first: connect(baseUrl, token!), second: connect(baseUrl, secondToken!), token: token! }
  try {
    await connectProvider(administrators, facts, way)
    await connectDirectory(administrators, facts, way)
  } finally {
    await Promise.all([administrators.first.auth.signOut(), administrators.second.auth.signOut()])
  }
  return facts.issuer
}

async function connectProvider(administrators: Administrators, facts: CompanyFacts, way: CompanyWay): Promise<void> {
  const { identityProviders } = administrators.first
  const register = ({ redirectUri, logoutUri }: IdentityProvider) =>
    way.company.ask({ type: 'register', client: { redirectUri, logoutUri } } satisfies Registration)
  const known = await orNull(facts.providerId, (id) => identityProviders.get(id))
  if (known !== null) return void (await register(known))
  await stopEarlier(identityProviders)
  const { issuer, clientId, clientSecret } = facts
  const settings = { name: companyName, issuer, clientId, clientSecret, domains: [domain] }
  const provider = await identityProviders.create({ ...settings, linking: 'email_verified' })
  await register(provider)
  await trySignIn(provider, administrators.token, way)
  await confirm(await identityProviders.activate(provider.id), administrators)
  await way.company.ask({ type: 'keepProvider', providerId: provider.id } satisfies KeepProvider)
}

/** Signs in through the provider as its author, which is required before the activation. */
async function trySignIn({ id }: IdentityProvider, token: string, { baseUrl, origin }: CompanyWay): Promise<void> {
  const browser = new CookieBrowser(origin, async (path, cookie) => {
    const answer = await fetch(baseUrl + path, { redirect: 'manual', headers: { cookie } })
    const { status, headers } = answer
    return { status, location: headers.get('location'), body: await answer.text(), cookies: headers.getSetCookie() }
  })
  browser.session = token
  const { location } = await browser.visit(`/auth/oidc/${id}/start`)
  if (location === null) throw new Error('the trial of the identity provider does not begin')
  await browser.visit(await browser.followProvider(location, { email: people.secondAdministrator }))
}

async function connectDirectory(administrators: Administrators, facts: CompanyFacts, way: CompanyWay): Promise<void> {
  const { directories } = administrators.first
  const known = await orNull(facts.directoryId, (id) => directories.get(id))
  const directory = known ?? (await createDirectory(administrators, way))
  if (directory.status !== 'active') return
  await way.company.ask({ type: 'pushPeople', baseUri: directory.baseUri } satisfies PushPeople)
}

async function createDirectory(administrators: Administrators, { company }: CompanyWay): Promise<Directory> {
  const { directories } = administrators.first
  await stopEarlier(directories)
  const { id, token } = await directories.create({ name: companyName, domains: [domain] })
  if (token === undefined) throw new Error('the token of the directory got lost')
  await confirm(await directories.activate(id), administrators)
  await company.ask({ type: 'keepDirectory', directory: { id, token } } satisfies KeepDirectory)
  return await directories.get(id)
}

async function confirm({ id }: PlatformChange, { second }: Administrators): Promise<void> {
  await second.platformChanges.confirm(id)
}

type Connected = Pick<IdentityProvider | Directory, 'id' | 'name' | 'status'>
type Resource = { list(query: { limit: number }): AsyncIterable<Connected>; deactivate(id: string): Promise<unknown> }

/** Stops what an earlier company of the demo had connected, because a domain belongs to one. */
async function stopEarlier(resource: Resource): Promise<void> {
  for await (const { id, name, status } of resource.list({ limit: 100 }))
    if (name === companyName && status === 'active') await resource.deactivate(id)
}

/** Returns null if the id is null or names nothing, as after a change of the database. */
async function orNull<Value>(id: string | null, get: (id: string) => Promise<Value>): Promise<Value | null> {
  if (id === null) return null
  return await get(id).catch((error: unknown) => {
    if (error instanceof StrongroomError && error.status === 404) return null
    throw error
  })
}

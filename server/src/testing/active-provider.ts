import { expect } from 'vitest'
import { CookieBrowser } from '../../../demo/src/cookie-browser.ts'
import type { Person, TestApp } from './app.ts'
import type { TestProvider } from './identity-provider.ts'

export const startOf = (id: string, query = '') => `/auth/oidc/${id}/start${query}`

/** Returns a browser without cookies that visits the service of a test. */
export const browserOf = (test: TestApp) =>
  new CookieBrowser(test.deps.publicOrigin(), async (path, cookie) => {
    const { statusCode, headers, body } = await test.app.inject({ method: 'GET', url: path, headers: { cookie } })
    const cookies = [headers['set-cookie'] ?? []].flat()
    return { status: statusCode, location: (headers.location as string) ?? null, body, cookies }
  })

type Organisation = { idp: TestProvider; admin: Person; second: Person; domains?: string[] }

/** Lets a platform administrator set up and try a provider, and a second one confirm it. Returns its id. */
export async function createActiveProvider(
  test: TestApp,
  { idp, admin, second, domains = ['corp.example'] }: Organisation,
): Promise<string> {
  const created = await admin.post('/identity-providers', {
    name: 'Corp',
    issuer: idp.issuer,
    clientId: idp.clientId,
    clientSecret: idp.clientSecret,
    domains,
    linking: 'email_verified',
  })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  const { id, redirectUri, logoutUri } = created.body
  idp.register({ redirectUri, logoutUri })
  expect((await admin.post(`/identity-providers/${id}/activate`, {})).body.reason).toBe('wrong_state')
  const browser = browserOf(test)
  browser.session = admin.token
  const tried = await browser.visit(await browser.followProvider((await browser.visit(startOf(id))).location!))
  expect([tried.status, tried.location]).toEqual([302, '/platform?part=sign-in'])
  await confirmBySecond(await admin.post(`/identity-providers/${id}/activate`, {}), { admin, second })
  return id
}

/** Lets the second platform administrator confirm the request of the first, who may not confirm it. */
export async function confirmBySecond(
  { status, body }: { status: number; body: unknown },
  { admin, second }: { admin: Person; second: Person },
): Promise<void> {
  expect(status, JSON.stringify(body)).toBe(202)
  const confirm = `/platform-changes/${(body as { id: string }).id}/confirm` as const
  expect((await admin.post(confirm, {})).body.reason).toBe('other_person_required')
  const confirmed = await second.post(confirm, {})
  expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { createSignInLink } from '../modules/people/sign-in/actions.ts'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'
import { insertVault } from '../testing/vault-fixture.ts'

let test: TestApp
let person: Person
beforeAll(async () => {
  test = await createTestApp()
  person = await test.signIn('first.person@example.org')
})
afterAll(() => test.close())

const withCookie = (token: string) => test.client({ cookie: `session_token=${token}` })

describe('the sign-in pages', () => {
  it('show the form to a user who is not signed in', async () => {
    for (const client of [test.anonymous, withCookie('unknown'), withCookie(''), withCookie('srk_unknown')]) {
      for (const url of ['//', '//sign-in']) {
        const answer = await client.get(url)
        expect(answer.status).toBe(200)
        expect(answer.body).toContain('<form id="request-link"')
      }
    }
  })

  it('show who is signed in, with names as text and never as markup', async () => {
    await person.patch('/users/me', { name: '<script>alert("1")</script>' })
    const vault = await insertVault(test, 'main-vault', person)
    await test.deps.db
      .updateTable('vaults')
      .set({ name: `"><img src=x onerror='alert(1)'>` })
      .where('id', '=', vault.id)
      .execute()
    const answer = await withCookie(person.token).get('//')
    expect(answer.body).toContain('You are signed in')
    expect(answer.body).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;')
    expect(answer.body).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')
    expect(answer.body).toContain('<code>main-vault</code>')
    expect(answer.body).not.toMatch(/<script>|onerror='/)
  })

  it('ask before a link is used, naming whom it signs in', async () => {
    const link = await inTransaction(test.deps.db, (trx) =>
      createSignInLink(trx, test.deps, 'first.person@example.org', test.clock.now()),
    )
    const { pathname, search } = new URL(link)
    const answer = await test.anonymous.get(`/${pathname}${search}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toContain('<strong>first.person@example.org</strong>')
    expect(answer.headers['cache-control']).toBe('no-store')
    // The browser sends its origin with the form, and never the address of the page, which holds the token.
    expect(answer.headers['referrer-policy']).toBe('strict-origin')
  })

  it.each(['//sign-in/confirm', '//sign-in/confirm?token=unknown', '//sign-in/confirm?token=a&token=b'])(
    'lead %s back to the form',
    async (url) => {
      const answer = await test.anonymous.get(url)
      expect(answer.status).toBe(302)
      expect(answer.headers.location).toBe('/sign-in?error=link')
    },
  )

  it('T45 hand on only a path of this origin', async () => {
    const answerOfPath = await test.anonymous.get('//sign-in?redirectTo=%2Fdocs%3Fa%3D%22')
    expect(answerOfPath.body).toContain('data-redirect="/docs?a=&quot;"')
    for (const url of ['//sign-in?redirectTo=https://evil.example.org', '//sign-in?redirectTo=//evil.example.org']) {
      const answer = await test.anonymous.get(url)
      expect(answer.status).toBe(200)
      expect(answer.body).not.toContain('evil.example.org')
    }
  })

  it('run no inline script and load no content of other origins', async () => {
    const page = await test.anonymous.get('//')
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toMatch(/default-src 'self'/)
    expect(policy).toMatch(/script-src 'self'(;|$)/)
    expect(policy).toMatch(/frame-ancestors 'none'/)
    expect(page.body).not.toMatch(/<script>|<style| on[a-z]+=| style=/)
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1])
    expect(sources.length).toBeGreaterThan(2)
    for (const source of sources) {
      expect(source).toMatch(/^\/assets\//)
      const asset = await test.anonymous.get(`/${source}`)
      expect(asset.status).toBe(200)
      expect(asset.headers['content-type']).toMatch(/^(text\/(css|javascript); charset=utf-8|image\/svg\+xml)/)
      expect(asset.headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it('are not in the API reference', async () => {
    const paths = Object.keys((test.app.swagger() as { paths: object }).paths)
    expect(paths).toContain('/api/v1/auth/session')
    expect(paths.filter((path) => path === '/' || /^\/(sign-in|assets)/.test(path))).toEqual([])
  })
})

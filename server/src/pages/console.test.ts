import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type Person, type TestApp } from '../testing/app.ts'

let test: TestApp
let person: Person

beforeAll(async () => {
  test = await createTestApp({ CONSOLE: 'on' })
  person = await test.signIn('person@example.org')
})
afterAll(() => test.close())

const browser = () => test.client({ cookie: `session_token=${person.token}` })

describe('the console', () => {
  it('is a single page for all of its paths, which no other site may frame, extend or store', async () => {
    for (const path of ['//', '//v/treasury', '//v/treasury/approvals/transfer/x', '//me/sessions', '//platform']) {
      const { status, body, headers } = await browser().get(path)
      expect([path, status]).toEqual([path, 200])
      expect(body).toContain('<div id="console">')
      expect(headers['cache-control']).toBe('no-cache')
      expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups')
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("require-trusted-types-for 'script'")
      expect(policy).not.toMatch(/unsafe|https:|\*/)
    }
  })

  it('leads to the sign-in without a session, except the check of evidence', async () => {
    const { status, headers } = await test.anonymous.get('//v/treasury/approvals/transfer/x')
    expect([status, headers.location]).toEqual([302, '/sign-in?redirectTo=%2Fv%2Ftreasury%2Fapprovals%2Ftransfer%2Fx'])
    const verify = await test.anonymous.get('//verify')
    expect(verify.body).toContain('<div id="console">')
    expect(verify.body).not.toContain('/api/')
    expect(verify.headers.link).not.toContain('/api/')
    expect((await browser().get('//verify')).body).not.toContain('/api/')
    expect(verify.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(String(verify.headers['content-security-policy'])).toContain("default-src 'none'")
    expect((await test.anonymous.get('//')).body).toContain('E-mail me a sign-in link')
  })

  it('shows the reference to anybody, and asks for the user only if there is a cookie', async () => {
    for (const path of ['//docs', '//docs/transfers/createTransfer']) {
      const { status, body, headers } = await test.anonymous.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(body).toContain('<div id="console">')
      expect(body).not.toContain('/api/')
      expect(headers.link).not.toContain('/api/')
      expect(String(headers['content-security-policy'])).toContain("default-src 'none'")
      expect((await browser().get(path)).body).toContain('/api/v1/auth/session')
    }
  })

  it('announces the files of a page before its scripts request them', async () => {
    const linksOf = async (path: string) => String((await browser().get(path)).headers.link).split(', ')
    const approval = await linksOf('//v/treasury/approvals/transfer/c123?from=mail')
    expect(approval.filter((link) => link.includes('/api/'))).toEqual([
      '</api/v1/vaults/treasury/me>; rel=preload; as=fetch; crossorigin',
      '</api/v1/vaults/treasury/transfers/c123>; rel=preload; as=fetch; crossorigin',
    ])
    const scripts = approval.filter((link) => link.includes('modulepreload'))
    expect(scripts.length).toBeGreaterThan(1)
    for (const script of scripts) {
      expect((await browser().get(`/${/<([^>]+)>/.exec(script)![1]}`)).status, script).toBe(200)
    }
    // A page with a fixed name comes before a page whose name is an id, and each page announces its own files.
    const [created, read] = [await linksOf('//v/treasury/payouts/new'), await linksOf('//v/treasury/payouts/c123')]
    expect(created).not.toEqual(read)
    expect(await linksOf('//v/treasury')).toContain(
      '</api/v1/vaults/treasury/balances?summary=true&includeShared=true>; rel=preload; as=fetch; crossorigin',
    )
    expect(await linksOf('//v/treasury/')).toEqual(await linksOf('//v/treasury'))
    expect((await linksOf('//v/treasury/approvals')).join()).not.toContain('balances')
    // Only ids and codes of a path get into the header.
    for (const path of [
      '//v/a%3E%2C%3Chttps:%2F%2Fevil.example.org',
      '//v/a,b',
      '//v/a>;rel=x',
      '//v/nothing/like/it/c',
    ]) {
      expect((await browser().get(path)).headers.link, path).toBeUndefined()
    }
  })

  it('sends files that never change, compressed as they were built, and only its own', async () => {
    const { body } = await browser().get('//')
    const script = /src="(\/console\/[^"]+\.js)"/.exec(body)![1]!
    const file = await test.app.inject({ url: script, headers: { 'accept-encoding': 'br' } })
    expect(file.statusCode).toBe(200)
    expect(file.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
      'x-content-type-options': 'nosniff',
    })
    expect((await browser().get('//console/absent.js')).status).toBe(404)
    for (const path of ['//console/..%2f..%2fpackage.json', '//console/%2e%2e/index.html.br']) {
      expect([400, 404]).toContain((await browser().get(path)).status)
    }
  })

  it('returns a person who is signed in to the page that they came from', async () => {
    const { status, headers } = await browser().get('//sign-in?redirectTo=%2Fv%2Ftreasury')
    expect([status, headers.location]).toEqual([302, '/v/treasury'])
    expect((await browser().get('//sign-in?redirectTo=//evil.example.org')).headers.location).toBe('/')
  })

  it('is absent where CONSOLE is off', async () => {
    const app = await createTestApp()
    expect((await app.anonymous.get('//v/treasury')).status).toBe(404)
    for (const path of ['//docs', '//docs/transfers/createTransfer']) {
      const { status, body, headers } = await app.anonymous.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(body).toContain('href="/openapi.json"')
      expect(body).toContain('not the web console')
      expect(String(headers['content-security-policy'])).not.toContain('unsafe')
    }
    await app.close()
  })
})

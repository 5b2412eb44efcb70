import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStrongroom } from '@strongroom/sdk'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProject } from '../../server/src/testing/build-project.ts'
import { launchChromium } from '../../server/src/testing/launch-chromium.ts'
import { findMismatch, readSteps, runSteps } from '../../tests/guides/walk.ts'
import { people } from './organisation.ts'
import { signIn } from './sign-in.ts'
import { type Demo, isAlive, livingPids, root, startDemo, until } from './testing/demo.ts'

const folder = mkdtempSync(join(tmpdir(), 'strongroom-company-'))
const dataDir = join(folder, 'data')
const { treasurer, compliance } = people

let demo: Demo
let company: string
let browser: Browser

beforeAll(async () => {
  buildProject('build')
  browser = await launchChromium()
  await start()
})
afterAll(async () => {
  await browser?.close()
  for (const pid of livingPids(dataDir)) process.kill(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('two platform administrators have confirmed its identity provider and its directory', async () => {
  const admin = await signIn(demo.url, demo.link)
  const { items: providers } = await admin.identityProviders.list().page()
  const domains = ['strongroom.localhost']
  expect(providers).toMatchObject([
    { issuer: company, status: 'active', domains, triedEmail: people.secondAdministrator },
  ])
  const { items: directories } = await admin.directories.list().page()
  expect(directories).toMatchObject([{ status: 'active', domains, peopleCount: 4, activeCount: 4 }])
  const { items: records } = await admin.auditLog.list({ limit: 100 }).page()
  const confirmed = records.filter(({ action }) => /^(identity_provider|directory)\.activated$/.test(action))
  expect(confirmed).toHaveLength(2)
  for (const { actorId } of confirmed) expect(actorId).not.toBe(providers[0]!.createdById)
})

it('a person signs in at the provider of the company, lands in the console, and signs out at the provider', async () => {
  const page = await signInAtCompany(treasurer)
  await page.getByRole('heading', { name: 'Demo treasury' }).waitFor()
  expect(await statusOf(page)).toBe(200)
  // In the same browser the company asks again when Strongroom expects another person.
  const { providers } = await createStrongroom({ baseUrl: demo.url }).auth.listProvidersOfAddress({ email: compliance })
  await page.goto(`${demo.url}${providers[0]!.startUri}?email=${compliance}`)
  await page.getByRole('button', { name: `Sign in as ${compliance}` }).click()
  await page.getByRole('heading', { name: 'Demo treasury' }).waitFor()
  const session = await page.request.get(`${demo.url}/api/v1/auth/session`)
  expect(await session.json()).toMatchObject({ user: { email: compliance } })
  await page.goto(company)
  await page.getByRole('link', { name: 'Sign out at the company' }).click()
  await page.getByRole('button', { name: 'Sign out of all' }).click()
  await page.getByRole('heading', { name: 'Signed out at the provider' }).waitFor()
  expect(await statusOf(page)).toBe(401)
  await page.goto(demo.url)
  await page.getByLabel('E-mail address').waitFor()
  await page.context().close()
})

it('who is deactivated at the directory is out with the next request, and comes back when activated', async () => {
  const person = await signInAtCompany(compliance)
  expect(await statusOf(person)).toBe(200)
  const directory = await openPage(company)
  await directory.getByRole('button', { name: `Deactivate ${compliance}` }).click()
  await directory.getByRole('button', { name: `Activate ${compliance}`, exact: true }).waitFor()
  expect(await statusOf(person)).toBe(401)
  await person.goto(demo.url)
  await beginSignIn(person, compliance)
  await person.getByRole('button', { name: `Sign in as ${treasurer}` }).waitFor()
  expect(await person.getByRole('button', { name: `Sign in as ${compliance}` }).count()).toBe(0)
  await directory.getByRole('button', { name: `Activate ${compliance}`, exact: true }).click()
  await directory.getByRole('button', { name: `Deactivate ${compliance}` }).waitFor()
  await person.reload()
  await person.getByRole('button', { name: `Sign in as ${compliance}` }).click()
  await until(async () => (await statusOf(person)) === 200)
  for (const page of [person, directory]) await page.context().close()
})

it('a sign-in that has ended says where to begin again', async () => {
  const page = await openPage(`${company}/interaction/unknown`)
  expect(await page.getByRole('alert').textContent()).toBe('This sign-in has ended; begin again in Strongroom')
  await page.context().close()
})

it('a page of another site lets nobody leave', async () => {
  const form = { method: 'POST', body: new URLSearchParams({ email: treasurer, isActive: 'false' }) }
  const answer = await fetch(`${company}/people`, { ...form, headers: { origin: demo.url } })
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(`for ${company} only`)])
  const page = await openPage(company)
  await page.getByRole('button', { name: `Deactivate ${treasurer}` }).waitFor()
  await page.context().close()
})

it.each(['single-sign-on.md', 'directory.md'])('docs/%s is answered as written', async (name) => {
  const steps = readSteps(readFileSync(join(root, 'docs', name), 'utf8'))
  expect(steps).toHaveLength(1)
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, BASE: `${demo.url}/api/v1` }
  const [printed] = await runSteps(steps, { cwd: root, env })
  expect(findMismatch(steps[0]!.answer!, printed!)).toBeNull()
})

it('the next start goes on with the same provider and directory, at other ports of the service', async () => {
  const pids = livingPids(dataDir)
  expect(pids).toHaveLength(6)
  demo.process.kill('SIGTERM')
  await until(async () => demo.process.exitCode !== null)
  expect([demo.process.exitCode, ...pids.filter(isAlive)]).toEqual([0])
  const before = company
  await start()
  expect(company).toBe(before)
  const admin = await signIn(demo.url, demo.link)
  expect((await admin.identityProviders.list().page()).items).toHaveLength(1)
  expect((await admin.directories.list().page()).items).toHaveLength(1)
  const page = await signInAtCompany(treasurer)
  await page.getByRole('heading', { name: 'Demo treasury' }).waitFor()
  const directory = await openPage(company)
  await directory.getByRole('button', { name: `Deactivate ${treasurer}`, exact: true }).click()
  await until(async () => (await statusOf(page)) === 401)
})

async function start(): Promise<void> {
  demo = await startDemo(dataDir, { withCompany: true })
  company = /the company is ready at (\S+)/.exec(demo.output())![1]!
}

async function openPage(url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(url)
  return page
}

async function beginSignIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('link', { name: 'Continue with Demo company' }).click()
}

/** Signs in with a browser without cookies, by the page of the provider. */
async function signInAtCompany(email: string): Promise<Page> {
  const page = await openPage(demo.url)
  await beginSignIn(page, email)
  await page.getByRole('button', { name: `Sign in as ${email}` }).click()
  await page.waitForURL(`${demo.url}/**`)
  return page
}

const statusOf = async (page: Page) => (await page.request.get(`${demo.url}/api/v1/auth/session`)).status()

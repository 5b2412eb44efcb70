import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn } from '../../demo/src/sign-in.ts'
import { buildProject } from '../../server/src/testing/build-project.ts'
import { createEmptyDatabase } from '../../server/src/testing/database.ts'
import { startSmtpServer } from '../../server/src/testing/smtp-server.ts'
import { findMismatch, readSteps, runSteps } from '../../tests/guides/walk.ts'
import { freePort } from '../../tests/setup/free-port.ts'
import { pack } from './pack.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const commit = 'c0ffee'.padEnd(40, '0')
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
const folder = mkdtempSync(join(tmpdir(), 'strongroom-archive-'))
const place = join(folder, `strongroom-${version}`)

let archive
let database
let node

/** An operator has the archive, a folder and a database. */
beforeAll(async () => {
  buildProject('build')
  database = await createEmptyDatabase()
  archive = pack({ root, output: join(folder, 'out'), commit, time: new Date('2026-01-31T09:30:00Z') }).archive
  await promisify(execFile)('tar', ['-xzf', archive, '-C', folder])
})
afterAll(async () => {
  node?.kill('SIGKILL')
  await database.drop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

const run = async (name, args, env = {}) => {
  const options = { cwd: folder, env: { PATH: process.env.PATH ?? '', ...env } }
  return (await promisify(execFile)(join(place, 'bin', name), args, options)).stdout
}

it('the archive is small, and its list of parts names its packages', async () => {
  expect(statSync(archive).size).toBeLessThan(120_000_000)
  const { components } = JSON.parse(readFileSync(join(place, 'sbom.cdx.json'), 'utf8'))
  const listed = components.map(({ properties }) => properties[0].value)
  const { stdout } = await promisify(execFile)('find', ['.', '-name', 'package.json', '-not', '-type', 'l'], {
    cwd: place,
  })
  const present = stdout.split('\n').map((path) => path.replace(/^\.\/|\/package\.json$/g, ''))
  expect(listed.filter((path) => !present.includes(path))).toEqual([])
  // Some packages have more such files, for the folders of their formats.
  const isListed = (path) => listed.some((name) => path === name || path.startsWith(`${name}/`))
  expect(present.filter((path) => path !== '' && !isListed(path))).toEqual([])
  for (const name of ['typescript', 'vitest', '@foundry-rs/anvil', 'react', 'oidc-provider'])
    expect(listed).not.toContain(`node_modules/${name}`)
})

it('its commands say which version and commit they are', async () => {
  expect(await run('strongroom', ['--version'])).toBe(`${version} (${commit.slice(0, 12)})\n`)
  expect(await run('strongroom-wallet', ['--version'])).toBe(`${version}\n`)
  const nowhere = { STRONGROOM_NODE: '/nowhere/node' }
  await expect(run('strongroom', ['--version'], nowhere)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('strongroom: Node.js 20.19 or newer is needed, and there is no /nowhere/node'),
  })
})

it('it starts a node from nothing in an empty folder, with secrets in files, and its administrator signs in', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const secretFile = (name, value) => {
    writeFileSync(join(folder, name), `${value}\n`, { mode: 0o600 })
    return join(folder, name)
  }
  const env = {
    PORT: String(port),
    PUBLIC_URL: url,
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL_FILE: secretFile('database-url', database.url),
    STRONGROOM_SECRET_KEY_FILE: secretFile('secret-key', randomBytes(32).toString('base64')),
    WALLET_WEBHOOK_SECRET_FILE: secretFile('webhook-secret', randomBytes(32).toString('base64')),
    METRICS_TOKEN_FILE: secretFile('metrics-token', randomBytes(24).toString('hex')),
    SMTP_URL_FILE: secretFile('smtp-url', 'smtp://127.0.0.1:1'),
    MAIL_FROM: 'Strongroom <strongroom@example.org>',
    LOG_LEVEL: 'warn',
  }
  let log = ''
  node = spawn(join(place, 'bin/strongroom'), ['start'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [node.stdout, node.stderr])
    stream?.on('data', (text) => {
      log += text
    })
  await new Promise((resolve, reject) => {
    node?.once('message', () => resolve())
    node?.once('exit', (code) => reject(new Error(`ended with ${code}: ${log}`)))
  })

  const health = await (await fetch(`${url}/healthz`)).json()
  expect(health).toEqual({ status: 'ok', version })
  const authorization = `Bearer ${readFileSync(env.METRICS_TOKEN_FILE, 'utf8').trim()}`
  const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization } })).text()
  expect(metrics).toContain(`strongroom_build_info{version="${version}",commit="${commit}"} 1`)
  expect(await (await fetch(`${url}/sign-in`)).text()).toMatch(/<!doctype html>/i)

  const printed = await run('strongroom', ['admin', 'add', 'operator@example.org'], env)
  const link = /^http\S+$/m.exec(printed)?.[0]
  const operator = await signIn(url, link)
  expect(await operator.me.get()).toMatchObject({ email: 'operator@example.org' })
  expect(await run('strongroom', ['ledger', 'verify'], env)).toContain('no difference')

  const ended = new Promise((resolve) => node?.once('exit', resolve))
  node.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('docs/install.md leads from the archive to two nodes, mail and a client of the wallet service, command by command', async () => {
  const steps = readSteps(readFileSync(join(root, 'docs/install.md'), 'utf8'))
  expect(steps.filter(({ answer }) => answer !== null)).toHaveLength(steps.length)
  const smtp = await startSmtpServer()
  const administrator = await administerPostgres()
  mkdirSync(join(folder, 'opt'))
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PREFIX: join(folder, 'opt'),
    CONF: join(folder, 'etc'),
    ...administrator.settings,
    SMTP_SERVER: smtp.url,
    FIRST: String(await freePort()),
    SECOND: String(await freePort()),
  }
  try {
    const printed = await runSteps(steps, { cwd: join(folder, 'out'), env })
    for (const [index, { line, answer }] of steps.entries()) {
      expect(findMismatch(answer, printed[index]), `line ${line}`).toBeNull()
    }
    expect(smtp.mails.map(({ recipients }) => recipients)).toContainEqual(['operator@example.org'])
  } finally {
    await administrator.leave()
    await smtp.close()
  }
})

/** Does what the page leaves to the administrator of PostgreSQL. */
async function administerPostgres() {
  const [ofService, ofWallet] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()])
  const { host, pathname } = new URL(ofService.url)
  const [OWNER, LOGIN, OWNER_PASSWORD] = ['owner_', 'login_', ''].map((kind) => kind + randomBytes(6).toString('hex'))
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`create role ${OWNER} login createrole password '${OWNER_PASSWORD}'`)
  await client.query(`alter database ${pathname.slice(1)} owner to ${OWNER}`)
  // Another test may have made this role of the whole server, so that the owner of this database did not.
  await client.query(
    `do $$ begin create role strongroom_app nologin; exception when duplicate_object then null; end $$`,
  )
  await client.query(`grant strongroom_app to ${OWNER} with admin option`)
  return {
    settings: { DATABASE: `${host}${pathname}`, OWNER, LOGIN, OWNER_PASSWORD, WALLET_DATABASE: ofWallet.url },
    async leave() {
      await Promise.all([ofService.drop(), ofWallet.drop()])
      for (const name of [LOGIN, OWNER]) await client.query(`drop role if exists ${name}`)
      await client.end()
    },
  }
}

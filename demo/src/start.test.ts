import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPublicClient, erc20Abi, formatUnits, type Hex, http } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkIn, parseMail } from '../../server/src/testing/outbox.ts'
import { type Client, signIn } from './api-client.ts'
import { tokenAddress } from './chain.ts'
import { people } from './organisation.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'strongroom-demo-'))
/** A name with a space, as users have them. */
const dataDir = join(folder, 'my data')

type Demo = { process: ChildProcess; output: () => string; url: string; link: string; rpcUrl: string; address: Hex }

let demo: Demo
let transferId: string
const recipient = privateKeyToAddress(generatePrivateKey())

beforeAll(() => {
  // Compiles only what is out of date.
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}, 120_000)

afterAll(() => {
  for (const pid of livingPids()) process.kill(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('starts on an empty data directory and prints a link that signs the administrator in', async () => {
  demo = await startDemo()
  const admin = await signIn(demo.url, demo.link)
  const session = await admin.request<{ vaults: object[]; isPlatformAdmin: boolean }>('GET', '/auth/session')
  expect(session).toMatchObject({ isPlatformAdmin: true, vaults: [{ code: 'treasury', isAdmin: true }] })
  type Policy = { code: string; effect: string; approvalThreshold: number; group: { code: string } }
  const { items } = await admin.request<{ items: Policy[] }>('GET', '/vaults/treasury/policies?limit=100')
  expect(items.map(({ code, effect, approvalThreshold }) => `${code} ${effect} ${approvalThreshold}`).sort()).toEqual([
    'admin-addresses allow 0',
    'eth-large requireApproval 2',
    'eth-small allow 0',
    'treasury-addresses allow 0',
    'tusd-large-compliance requireApproval 1',
    'tusd-large-treasury requireApproval 2',
    'tusd-medium requireApproval 1',
    'tusd-small allow 0',
  ])
  expect((await fetch(`${demo.url}/docs`)).status).toBe(200)
})

it('pays the treasurer on chain, and a small transfer goes to the chain by itself', async () => {
  const treasurer = await signInByMail(people.treasurer)
  await until(async () => (await balancesOf(treasurer)) === 'ETH 5, TUSD 50000')
  const path = '/vaults/treasury/transfers'
  const transfer = await treasurer.request<{ id: string }>('POST', path, {
    fromAddressId: await operationsId(treasurer),
    toAddress: recipient,
    token: 'TUSD',
    amount: '25',
  })
  transferId = transfer.id
  await until(async () => (await statusOf(treasurer)) === 'confirmed')
  expect(await dollarsOf(recipient)).toBe('25')
})

it('asks one of the treasury for a medium transfer, and two of it and one of compliance for a large one', async () => {
  const treasurer = await signInByMail(people.treasurer)
  const preview = async (token: string, amount: string) => {
    const order = { fromAddressId: await operationsId(treasurer), toAddress: recipient, token, amount }
    type Preview = { decision: { effect: string; requirements: { threshold: number }[] } }
    const { decision } = await treasurer.request<Preview>('POST', '/vaults/treasury/transfers/preview', order)
    return [decision.effect, ...decision.requirements.map(({ threshold }) => threshold).sort()]
  }
  expect(await preview('TUSD', '100')).toEqual(['allow'])
  expect(await preview('TUSD', '100.000001')).toEqual(['approval', 1])
  expect(await preview('TUSD', '10000')).toEqual(['approval', 1])
  expect(await preview('TUSD', '10000.000001')).toEqual(['approval', 1, 2])
  expect(await preview('ETH', '0.1')).toEqual(['allow'])
  expect(await preview('ETH', '0.2')).toEqual(['approval', 2])
})

it('keeps secrets, mails and logs for its owner', () => {
  for (const name of ['secrets.json', 'logs/server.log', 'logs/wallet.log']) {
    execFileSync('test', ['-f', join(dataDir, name)])
    const mode = execFileSync('find', [join(dataDir, name), '-perm', '600'], { encoding: 'utf8' }).trim()
    expect(mode, name).not.toBe('')
  }
  const secrets: Record<string, string> = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8'))
  const logs = ['server', 'wallet'].map((name) => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8')).join('')
  for (const secret of Object.values(secrets)) expect(`${logs}${demo.output()}`).not.toContain(secret)
  for (const line of logs.trim().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object')
})

it('lets the command line verify books and record while it runs', async () => {
  await verify()
})

it('refuses a second start on the same data directory with one line', async () => {
  const { code, output } = await startAndFail({})
  expect(output).toMatch(/^Strongroom cannot start: process \d+ runs Strongroom in .+ already; .+\n$/)
  expect(code).toBe(1)
})

it('refuses a port that is in use with one line', async () => {
  const blocker = createServer()
  const port = await new Promise<number>((resolve) => {
    blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port))
  })
  const { code, output } = await startAndFail({ PORT: String(port), DATA_DIR: join(folder, 'other') })
  blocker.close()
  expect(output).toBe(`Strongroom cannot start: port ${port} of 127.0.0.1 is in use; set PORT to another one\n`)
  expect(code).toBe(1)
})

it('continues where it was after everything was killed', async () => {
  await killAll()
  const secrets = readFileSync(join(dataDir, 'secrets.json'), 'utf8')
  const { rpcUrl, address } = demo
  demo = await startDemo()
  expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toBe(secrets)
  expect(demo).toMatchObject({ rpcUrl, address })
  const treasurer = await signInByMail(people.treasurer)
  expect(await balancesOf(treasurer)).toMatch(/^ETH 4\.9\d+, TUSD 49975$/)
  expect(await statusOf(treasurer)).toBe('confirmed')
  await until(async () => (await dollarsOf(recipient)) === '25' && (await dollarsOf(demo.address)) === '49975')
  await verify()
})

it('clears away what a killed supervisor left behind', async () => {
  const orphans = livingPids()
  demo.process.kill('SIGKILL')
  await until(async () => demo.process.signalCode !== null)
  demo = await startDemo()
  const own = livingPids()
  // PostgreSQL may be reused; everything else is new.
  expect(orphans.filter((pid) => pid !== postgresPid() && own.includes(pid))).toEqual([])
  const treasurer = await signInByMail(people.treasurer)
  expect(await balancesOf(treasurer)).toMatch(/TUSD 49975$/)
})

it('carries out the tour of the README as written, request by request', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  // A block to run, and its output if a fence without a language follows at once.
  const steps = [...readme.matchAll(/```sh tour\n([\s\S]*?)```\n(?:\n```\n([\s\S]*?)```\n)?/g)]
  const mark = '== end of a block =='
  const script = ['set -euo pipefail', ...steps.flatMap(([, block]) => [block!, `echo; echo '${mark}'`])].join('\n')
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, BASE: `${demo.url}/api/v1` }
  const printed = await new Promise<string>((resolve, reject) => {
    execFile('bash', ['-c', script], { env, cwd: root, timeout: 170_000 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stdout}${stderr}`)),
    )
  })
  const answers = printed.split(mark).map((answer) => answer.trim())
  const expected = steps.map(([, , output]) => output?.trim())
  expect(expected.filter((output) => output !== undefined)).toHaveLength(4)
  for (const [index, output] of expected.entries()) if (output !== undefined) expect(answers[index]).toBe(output)
})

it('stops with a clear message when a part dies', async () => {
  process.kill(pidOf('wallet')!, 'SIGKILL')
  await until(async () => demo.process.exitCode !== null)
  expect(demo.process.exitCode).toBe(1)
  expect(demo.output()).toMatch(/The wallet ended unexpectedly\. The end of .+wallet\.log:\n\{/)
  expect(livingPids()).toEqual([])
})

it('ends on SIGTERM and leaves no process behind', async () => {
  demo = await startDemo()
  const pids = livingPids()
  expect(pids).toHaveLength(5)
  demo.process.kill('SIGTERM')
  await until(async () => demo.process.exitCode !== null)
  // A part that has to be killed, and a stop that takes too long, end it with 1.
  expect(demo.process.exitCode).toBe(0)
  expect(pids.filter(isAlive)).toEqual([])
  expect(readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.json'))).toEqual([])
})

function launch(settings: NodeJS.ProcessEnv) {
  // The suite's own settings, such as DATABASE_URL, are not the demo's.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DATA_DIR: dataDir, ...settings }
  const child = spawn(process.execPath, [join(root, 'demo/dist/start.js')], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  return { child, output: () => output }
}

/** Resolves when the demo reports that it is ready. */
async function startDemo(): Promise<Demo> {
  const { child, output } = launch({})
  await until(async () => {
    if (child.exitCode !== null) expect.fail(output())
    return /^ {2}Stop /m.test(output())
  })
  const field = (name: string) => new RegExp(`^  ${name} +(\\S+)`, 'm').exec(output())![1]!
  return {
    process: child,
    output,
    url: new URL(field('API')).origin,
    link: field('Sign in'),
    rpcUrl: field('Chain').replace(/,$/, ''),
    address: field('Operations') as Hex,
  }
}

async function startAndFail(settings: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const { child, output } = launch(settings)
  await until(async () => child.exitCode !== null)
  return { code: child.exitCode, output: output() }
}

/** Requests a sign-in link and follows the one in the mail of the outbox. */
async function signInByMail(email: string): Promise<Client> {
  const outbox = join(dataDir, 'outbox')
  const before = new Set(readdirSync(outbox))
  await fetch(`${demo.url}/api/v1/auth/magic-link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  // Mails about earlier sign-ins may come at the same time.
  const newMail = () =>
    readdirSync(outbox)
      .filter((name) => name.endsWith('.eml') && !before.has(name))
      .map((name) => parseMail(readFileSync(join(outbox, name), 'utf8')))
      .find(({ subject }) => subject === 'Your sign-in link for Strongroom')
  await until(async () => newMail() !== undefined)
  const mail = newMail()!
  expect(mail.to).toBe(email)
  return await signIn(demo.url, linkIn(mail).href)
}

async function balancesOf(client: Client): Promise<string> {
  type Total = { token: { code: string }; availableDecimal: string }
  const { totals } = await client.request<{ totals: Total[] }>('GET', '/vaults/treasury/balances?summary=true')
  return totals
    .map(({ token, availableDecimal }) => `${token.code} ${availableDecimal}`)
    .sort()
    .join(', ')
}

async function operationsId(client: Client): Promise<string> {
  const { items } = await client.request<{ items: { id: string; address: string }[] }>(
    'GET',
    '/vaults/treasury/addresses',
  )
  return items.find(({ address }) => address === demo.address)!.id
}

const statusOf = async (client: Client) =>
  (await client.request<{ status: string }>('GET', `/vaults/treasury/transfers/${transferId}`)).status

async function dollarsOf(owner: Hex): Promise<string> {
  const chain = createPublicClient({ transport: http(demo.rpcUrl) })
  const order = { address: tokenAddress, abi: erc20Abi, functionName: 'balanceOf', args: [owner] } as const
  return formatUnits(await chain.readContract(order), 6)
}

/** `execFile` rejects when a command exits with another code than 0. */
async function verify(): Promise<void> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir }
  await Promise.all(
    ['ledger', 'audit'].map(
      (noun) =>
        new Promise<void>((resolve, reject) => {
          const program = join(root, 'server/bin/strongroom.js')
          execFile(process.execPath, [program, noun, 'verify'], { env }, (error, stdout, stderr) =>
            error === null ? resolve() : reject(new Error(`${noun} verify: ${error.code}\n${stdout}${stderr}`)),
          )
        }),
    ),
  )
}

function pidOf(name: string): number | null {
  const path = join(dataDir, 'run', `${name}.json`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid : null
}

function postgresPid(): number | null {
  const path = join(dataDir, 'postgres', 'postmaster.pid')
  return existsSync(path) ? Number(readFileSync(path, 'utf8').split('\n')[0]) : null
}

/** Supervisor, server, wallet, chain and PostgreSQL, those that are running. */
function livingPids(): number[] {
  const pids = [...['supervisor', 'server', 'wallet', 'chain'].map(pidOf), postgresPid()]
  return pids.filter((pid) => pid !== null).filter(isAlive)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function killAll(): Promise<void> {
  const pids = livingPids()
  expect(pids).toHaveLength(5)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until(async () => !pids.some(isAlive))
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) expect.fail('What was waited for did not happen within 60 s')
    await sleep(50)
  }
}

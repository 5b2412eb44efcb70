import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Strongroom } from '@strongroom/sdk'
import { createPublicClient, erc20Abi, formatUnits, type Hex, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProject } from '../../server/src/testing/build-project.ts'
import { linkIn, parseMail } from '../../server/src/testing/outbox.ts'
import { tokenAddress } from './chain.ts'
import { hasNodes, howToGetNodes } from './coins.ts'
import { cashier } from './deposits.ts'
import { people } from './organisation.ts'
import { signIn } from './sign-in.ts'
import {
  type Demo,
  isAlive,
  launchDemo,
  livingPids,
  pidOf,
  postgresPid,
  processCount,
  root,
  startDemo,
  until,
} from './testing/demo.ts'

const folder = mkdtempSync(join(tmpdir(), 'strongroom-demo-'))
/** A name with a space, as users have them. */
const dataDir = join(folder, 'my data')

let demo: Demo
let transferId: string
const recipient = privateKeyToAddress(generatePrivateKey())
const bitcoinRecipient = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const litecoinRecipient = 'LVg2kJoFNg45Nbpy53h7Fe1wKyeXVRhMH9'

beforeAll(() => buildProject('build'))

afterAll(() => {
  for (const pid of livingPids(dataDir)) process.kill(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

it('starts on an empty data directory and prints a link that signs the administrator in', async () => {
  demo = await startDemo(dataDir, { withNodes: true })
  const admin = await signIn(demo.url, demo.link)
  const session = await admin.auth.getCurrentSession()
  expect(session).toMatchObject({
    isPlatformAdmin: true,
    vaults: [...(hasNodes ? [{ code: 'deposits' }] : []), { code: 'reserve' }, { code: 'treasury', isAdmin: true }],
  })
  const { items } = await admin.vault('treasury').policies.list({ limit: 100 }).page()
  expect(items.map(({ code, effect, approvalThreshold }) => `${code} ${effect} ${approvalThreshold}`).sort()).toEqual([
    'admin-addresses allow 0',
    'admin-counterparties allow 0',
    'admin-releases requireApproval 1',
    'compliance-addresses requireApproval 1',
    'eth-large requireApproval 2',
    'eth-small allow 0',
    'treasury-addresses allow 0',
    'tusd-daily requireApproval 1',
    'tusd-large-compliance requireApproval 1',
    'tusd-large-treasury requireApproval 2',
    'tusd-medium requireApproval 1',
    'tusd-small allow 0',
  ])
  // Nobody changes the rules alone: the second administrator has to agree.
  expect(await admin.vault('treasury').governance.get()).toMatchObject({ threshold: 1, approverGroupId: null })
  // An attacker who takes over the service serves its pages, so the protected vault trusts none of them.
  const { trustsServicePage, keys } = await admin.vault('reserve').authority.get()
  expect(trustsServicePage).toBe(false)
  expect(new Set(keys.map(({ rpId }) => rpId))).toEqual(new Set(['sign.localhost']))
  expect((await fetch(`${demo.url}/docs`)).status).toBe(200)
  // Single sign-on is for those who ask for it by SSO_DEMO.
  expect(await admin.identityProviders.list().page()).toMatchObject({ items: [] })
  expect(demo.output()).toMatch(/^Strongroom starts .+\.\n/)
  expect(demo.output()).toMatch(/^ +\d+\.\d s {2}the server is ready$/m)
})

it('pays the treasurer on chain, and a small transfer goes to the chain by itself', async () => {
  const treasurer = await signInByMail(people.treasurer)
  await until(async () => (await balancesOf(treasurer)) === 'ETH 5, TUSD 50000')
  const { transfers } = treasurer.vault('treasury')
  const transfer = await transfers.create({
    fromAddressId: await operationsId(treasurer),
    toAddress: recipient,
    token: 'TUSD',
    amount: '25',
  })
  transferId = transfer.id
  expect((await transfers.wait(transferId)).status).toBe('confirmed')
  expect(await dollarsOf(recipient)).toBe('25')
})

it.skipIf(!hasNodes)(
  'pays, speeds up and cancels on Bitcoin and Litecoin, whose nodes mine what pays enough',
  async () => {
    const [orderer, approver] = [await signInByMail(cashier), await signInByMail('admin@strongroom.localhost')]
    const { addresses, transfers } = orderer.vault('deposits')
    const { items } = await addresses.list({ limit: 100 }).page()
    expect(items.map(({ network }) => network).sort()).toEqual(['bitcoin', 'litecoin'])
    for (const { id: fromAddressId, address, network } of items) {
      const balance = async () => (await addresses.get(fromAddressId)).balances[0]?.availableDecimal
      await until(async () => (await balance()) === '50')
      expect(demo.output()).toContain(address)
      const toAddress = network === 'bitcoin' ? bitcoinRecipient : litecoinRecipient
      const order = { fromAddressId, toAddress, amount: '1' }
      const send = async (feeLevel: 'low' | 'medium') => {
        const { id } = await transfers.create({ ...order, feeLevel })
        await approver.vault('deposits').transfers.approve(id)
        await until(async () => (await transfers.get(id)).txHash !== null)
        return await transfers.get(id)
      }
      const paid = await send('medium')
      expect((await transfers.wait(paid.id)).status).toBe('confirmed')
      const slow = await send('low')
      await transfers.speedUp(slow.id, { txHash: slow.txHash })
      expect((await transfers.wait(slow.id)).status).toBe('confirmed')
      const unwanted = await send('low')
      const { cancelOnChain } = await transfers.previewReplacement(unwanted.id)
      if (network === 'litecoin') {
        expect(cancelOnChain.refusal).toMatch(/^This network replaces no transactions/)
        await transfers.speedUp(unwanted.id, { txHash: unwanted.txHash })
      } else await transfers.cancelOnChain(unwanted.id, { txHash: unwanted.txHash })
      expect((await transfers.wait(unwanted.id)).status).toBe(network === 'litecoin' ? 'confirmed' : 'failed')
    }
  },
)

it('asks one of the treasury for a medium transfer, and two of it and one of compliance for a large one', async () => {
  const treasurer = await signInByMail(people.treasurer)
  const preview = async (token: string, amount: string) => {
    const order = { fromAddressId: await operationsId(treasurer), toAddress: recipient, token, amount }
    const { decision } = await treasurer.vault('treasury').transfers.preview(order)
    return [decision.effect, ...decision.requirements.map(({ threshold }) => threshold).sort()]
  }
  expect(await preview('TUSD', '100')).toEqual(['allow'])
  expect(await preview('TUSD', '100.000001')).toEqual(['approval', 1])
  expect(await preview('TUSD', '10000')).toEqual(['approval', 1])
  expect(await preview('TUSD', '10000.000001')).toEqual(['approval', 1, 2])
  // With the 25 of today, this is above the limit of a day.
  expect(await preview('TUSD', '39975.000001')).toEqual(['approval', 1, 1, 2])
  expect(await preview('ETH', '0.1')).toEqual(['allow'])
  expect(await preview('ETH', '0.2')).toEqual(['approval', 2])
})

it('keeps secrets, mails and logs for its owner', () => {
  for (const name of ['secrets.json', 'reserve/anna.passkey.json', 'logs/server.log', 'logs/wallet.log']) {
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
  const { code, error } = await startAndFail({})
  expect(error).toMatch(/^Strongroom cannot start: process \d+ already runs Strongroom in .+; .+\n$/)
  expect(code).toBe(1)
})

it('refuses a value of SSO_DEMO that it does not know with one line', async () => {
  const { code, error } = await startAndFail({ SSO_DEMO: 'yes', DATA_DIR: join(folder, 'other') })
  expect(error).toBe('Strongroom cannot start: SSO_DEMO must be on or off, not "yes"\n')
  expect(code).toBe(1)
})

it('refuses a port that is in use with one line', async () => {
  const blocker = createServer()
  const port = await new Promise<number>((resolve) => {
    blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port))
  })
  const { code, error } = await startAndFail({ PORT: String(port), DATA_DIR: join(folder, 'other') })
  blocker.close()
  expect(error).toBe(`Strongroom cannot start: port ${port} of 127.0.0.1 is in use; set PORT to another one\n`)
  expect(code).toBe(1)
})

it('continues where it was after everything was killed', async () => {
  await killAll()
  const secrets = readFileSync(join(dataDir, 'secrets.json'), 'utf8')
  const { rpcUrl, address } = demo
  await until(async () => hasBundles())
  // The wallet comes back at another port, which both vaults learn.
  const { chain, wallet } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as Record<string, number>
  writeFileSync(join(dataDir, 'ports.json'), JSON.stringify({ chain }))
  const blocker = createServer().listen(wallet, '127.0.0.1')
  demo = await startDemo(dataDir, { withNodes: true })
  blocker.close()
  // The first start has joined the files of the parts for this one.
  expect(execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pidOf(dataDir, 'server'))]).toString()).toContain(
    join('dist', 'bundled'),
  )
  expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toBe(secrets)
  expect(demo).toMatchObject({ rpcUrl, address })
  const treasurer = await signInByMail(people.treasurer)
  expect(await balancesOf(treasurer)).toMatch(/^ETH 4\.9\d+, TUSD 49975$/)
  expect(await statusOf(treasurer)).toBe('confirmed')
  if (hasNodes) {
    // The chain was written to the disk with each block, so that no deposit is lost.
    const client = await signInByMail(cashier)
    expect(Number(await bitcoinsOf(client))).toBeCloseTo(48, 2)
  }
  await until(async () => (await dollarsOf(recipient)) === '25' && (await dollarsOf(demo.address)) === '49975')
  await verify()
})

it('lets the passkeys of the protected vault sign under another origin, which their authority follows', async () => {
  const id = await signAs('anna', 'order', '0.1', recipient)
  await expect(signAs('ben', 'approve', id, '0.2', recipient)).rejects.toThrow(/amount is 100000000000000000 and not 2/)
  await expect(signAs('ben', 'approve', id, '0.1', demo.address)).rejects.toThrow(/toAddress is /)
  expect(await signAs('ben', 'approve', id, '0.1', recipient)).toBe('awaiting_approval')
  expect(await signAs('clara', 'approve', id, '0.1', recipient)).toBe('pending')
  const chain = createPublicClient({ transport: http(demo.rpcUrl) })
  await until(async () => (await chain.getBalance({ address: recipient })) === parseEther('0.1'))
  await expect(signAs('anna', 'approve', id, '0.1', recipient)).rejects.toThrow(/refused: 40[39] /)
  await expect(signAs('nobody', 'approve', id)).rejects.toThrow(/npm run demo:sign -- order NAME/)
})

it('removes the processes and files of a killed supervisor', async () => {
  const orphans = livingPids(dataDir)
  demo.process.kill('SIGKILL')
  await until(async () => demo.process.signalCode !== null)
  demo = await startDemo(dataDir, { withNodes: true })
  const present = livingPids(dataDir)
  // PostgreSQL may be reused; everything else is new.
  expect(orphans.filter((pid) => pid !== postgresPid(dataDir) && present.includes(pid))).toEqual([])
  const treasurer = await signInByMail(people.treasurer)
  expect(await balancesOf(treasurer)).toMatch(/TUSD 49975$/)
})

it('stops with a clear message when a part dies', async () => {
  process.kill(pidOf(dataDir, 'wallet')!, 'SIGKILL')
  await until(async () => demo.process.exitCode !== null)
  expect(demo.process.exitCode).toBe(1)
  expect(demo.output()).toMatch(/The wallet ended unexpectedly\. The end of .+wallet\.log:\n\{/)
  expect(livingPids(dataDir)).toEqual([])
})

it('ends on SIGTERM and leaves no process behind', async () => {
  // Without the program of the nodes, one line says how to get it.
  demo = await startDemo(dataDir)
  expect(demo.output()).toContain(howToGetNodes)
  const pids = livingPids(dataDir)
  expect(pids).toHaveLength(5)
  demo.process.kill('SIGTERM')
  await until(async () => demo.process.exitCode !== null)
  // A part that has to be killed, and a stop that takes too long, end it with 1.
  expect(demo.process.exitCode).toBe(0)
  expect(pids.filter(isAlive)).toEqual([])
  expect(readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.json'))).toEqual([])
})

async function startAndFail(settings: NodeJS.ProcessEnv): Promise<{ code: number | null; error: string }> {
  const { child } = launchDemo({ DATA_DIR: dataDir, ...settings })
  let error = ''
  child.stderr!.on('data', (chunk) => {
    error += chunk
  })
  await until(async () => child.exitCode !== null)
  return { code: child.exitCode, error }
}

/** Requests a sign-in link and follows the one in the mail of the outbox. */
async function signInByMail(email: string): Promise<Strongroom> {
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

async function balancesOf(client: Strongroom): Promise<string> {
  const { totals } = await client.vault('treasury').balances.get({ summary: true })
  return totals
    .map(({ token, availableDecimal }) => `${token.code} ${availableDecimal}`)
    .sort()
    .join(', ')
}

async function operationsId(client: Strongroom): Promise<string> {
  const { items } = await client.vault('treasury').addresses.list().page()
  return items.find(({ address }) => address === demo.address)!.id
}

async function bitcoinsOf(client: Strongroom): Promise<string | undefined> {
  const { totals } = await client.vault('deposits').balances.get({ summary: true })
  return totals.find(({ token }) => token.code === 'BTC')?.availableDecimal
}

const statusOf = async (client: Strongroom) => (await client.vault('treasury').transfers.get(transferId)).status

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

function signAs(name: string, verb: 'order' | 'approve', ...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir }
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(root, 'demo/dist/sign.js'), verb, name, ...words],
      { env },
      (error, out, errors) => (error === null ? resolve(out.trim()) : reject(new Error(`${out}${errors}`))),
    )
  })
}

async function killAll(): Promise<void> {
  const pids = livingPids(dataDir)
  expect(pids).toHaveLength(processCount)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await until(async () => !pids.some(isAlive))
}

function hasBundles(): boolean {
  const bundles = new URL('../../tools/start/bundles.js', import.meta.url)
  const question = `import(${JSON.stringify(bundles.href)}).then((all) => console.log(all.findBundles() !== undefined))`
  return execFileSync(process.execPath, ['-e', question]).toString().trim() === 'true'
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '@strongroom/server/config'
import { startEmbeddedPostgres, toServiceUrl } from '@strongroom/server/embedded'
import type { WalletConfig } from '@strongroom/wallet'
import type { KeyStore } from './authority.ts'
import { demoFunding, fundOnce, reserveFunding, startChain } from './chain.ts'
import { coinChains, coins, fundOnce as fundCoin, hasNodes, howToGetNodes, mineAsPaid, startNode } from './coins.ts'
import type { CompanyWay } from './connect-company.ts'
import { cashier, depositsCode, ensureDeposits } from './deposits.ts'
import { ensureOrganisation, vaultCode } from './organisation.ts'
import { type Part, spawnPart } from './part.ts'
import { choosePorts, claimPort, type Ports } from './ports.ts'
import { claimDataDir, endOrphans, forgetProcess, identityOf, recordProcess, waitUntilReaped } from './processes.ts'
import { reportProgress, secondsSinceStart } from './progress.ts'
import { ensureRates } from './rates.ts'
import { authorityDir, ensureReserve, type ReserveWay, reserveCode, signingOriginOf } from './reserve.ts'
import type { AdministratorQuestion, LinkQuestion, ServerStart } from './run-server.ts'
import type { WalletStart } from './run-wallet.ts'
import { ensureSecrets, type Secrets } from './secrets.ts'
import { readSettings, type Settings } from './settings.ts'
import { printSummary } from './summary.ts'

/** Signals that arrive this close together are one Ctrl-C, which a terminal and npm both forward. */
const sameSignalMilliseconds = 1_000
const stopTimeoutMilliseconds = 9_500
const watchMilliseconds = 500

/** A part stops before those that it needs; the lock on the data directory is released last. */
const stopOrder = ['company', 'server', 'wallet', 'chain', 'nodes', 'database', 'claim'] as const
type Stops = Partial<Record<(typeof stopOrder)[number], () => Promise<unknown>>>

/**
 * Starts everything and returns. Keeps it running until a signal arrives or a part ends, and then stops it in order.
 * @param consoleBuilt resolves when the files of the console exist; the server starts meanwhile, and the summary waits
 * for it
 * @param programs the programs of the parts, if not the compiled files
 */
export async function supervise(consoleBuilt: Promise<unknown>, programs: Programs = {}): Promise<void> {
  const stops: Stops = {}
  let endedBy: Promise<never> | null = null
  const end = (code: number, message = ''): Promise<never> => {
    endedBy ??= stopAll(stops, code, message)
    return endedBy
  }
  endOnSignals(() => end(0, 'Stopping...'))
  process.on('uncaughtException', (error) => void end(1, `Strongroom stops: ${error.message}`))
  // The reader of the output may exit, as `head` does. That is not a reason to stop.
  process.stdout.on('error', () => {})
  try {
    await start({ stops, consoleBuilt, programs, die: (message) => void end(1, message) })
  } catch (error) {
    await end(1, `Strongroom cannot start: ${describe(error)}`)
  }
}

type Programs = { server?: string; wallet?: string }
type Start = { stops: Stops; consoleBuilt: Promise<unknown>; programs: Programs; die: (message: string) => void }

const partsWithPorts = ['chain', 'wallet', 'bitcoin', 'litecoin'] as const

async function start({ stops, consoleBuilt, programs, die }: Start): Promise<void> {
  const settings = readSettings()
  const { dataDir, config } = settings
  claimDataDir(dataDir)
  stops.claim = async () => forgetProcess(dataDir, 'supervisor')
  await endOrphans(dataDir)
  const secrets = ensureSecrets(dataDir)
  const [serverPort, ports] = await Promise.all([claimServerPort(settings), choosePorts(dataDir, partsWithPorts)])

  const database = report(startDatabase(settings, die), 'PostgreSQL is running')
  stops.database = async () => (await orNull(database))?.stop()
  const { chain, chainIsUp } = startWatchedChain({ dataDir, port: ports.chain, stops, die })
  // The parts load their code while the database and the chain are starting.
  const server = spawnWatched({ name: 'server', program: programs.server, dataDir, stops, die })
  const wallet = spawnWatched({ name: 'wallet', program: programs.wallet, dataDir, stops, die })

  const walletUrl = `http://127.0.0.1:${ports.wallet}`
  const baseUrl = `http://${localHost(config.host)}:${serverPort}`
  const walletReady = Promise.all([database, chain]).then(([{ ownerUrl }, network]) => {
    const around = { ownerUrl, network, baseUrl, walletUrl, serverPort, ports }
    const question = toWalletStart(settings, secrets, around)
    return report(wallet.ask<{ url: string }>(question), 'the wallet is ready')
  })
  const serverReady = database.then((urls) =>
    report(server.ask<{ url: string }>(toServerStart(settings, secrets, serverPort, urls)), 'the server is ready'),
  )
  const walletUp = afterServer(walletReady, serverReady)
  const linkFor = (email: string, redirectTo?: string) =>
    server.ask<string>({ type: 'link', email, redirectTo } satisfies LinkQuestion)
  const way = { dataDir, baseUrl, adminEmail: settings.adminEmail, linkFor }
  const organisation = serverReady.then(() =>
    ensureOrganisation({
      ...way,
      wallet: { url: walletUrl, token: secrets.walletToken },
      walletReady: walletUp,
      fund: async (payment) => fundOnce((await chain).rpcUrl, dataDir, { ...payment, ...demoFunding }),
    }),
  )
  const [{ url }, { rpcUrl, chainId }, { address, waitingPath }] = await Promise.all([
    serverReady,
    chain,
    organisation,
    walletUp,
    chainIsUp,
    consoleBuilt,
  ])
  printSummary({
    url,
    link: await linkFor(settings.adminEmail, waitingPath),
    adminEmail: settings.adminEmail,
    dataDir,
    mailsToFiles: config.smtpUrl === null,
    address,
    rpcUrl,
    chainId,
    hasCompany: settings.hasCompany,
    seconds: secondsSinceStart(),
  })
  setUpReserveLater({
    ...way,
    origin: url,
    wallet: { url: walletUrl, token: secrets.reserveToken },
    keyStore: keyStoreOf(settings, secrets, { ownerUrl: (await database).ownerUrl, walletUrl, consoleOrigin: url }),
    fund: (payment) => fundOnce(rpcUrl, dataDir, { ...payment, ...reserveFunding }),
  })
  setUpCoinsLater({ ...way, wallet: { url: walletUrl, token: secrets.depositsToken } }, secrets, { ports, stops, die })
  if (settings.hasCompany) startCompanyLater({ ...way, origin: url }, { server, stops, die })
}

/** Waits for the wallet. If the database refuses both, throws the error of the server, because it says more. */
async function afterServer<Value>(walletReady: Promise<Value>, serverReady: Promise<unknown>): Promise<Value> {
  return await walletReady.catch(async (error: unknown) => {
    await serverReady
    throw error
  })
}

function toServerStart(settings: Settings, secrets: Secrets, port: number, { url, ownerUrl }: Database): ServerStart {
  const overrides = { PORT: String(port), DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl }
  return { type: 'start', environment: toEnvironment(settings, secrets, overrides) }
}

type WalletSurroundings = {
  ownerUrl: string
  network: { rpcUrl: string; chainId: number }
  baseUrl: string
  walletUrl: string
  serverPort: number
  ports: Ports
}

function toWalletStart(settings: Settings, secrets: Secrets, around: WalletSurroundings): WalletStart {
  const { rpcUrl, chainId } = around.network
  // The server names its own origin in the same way.
  const consoleOrigin = settings.config.publicUrl ?? `http://localhost:${around.serverPort}`
  return {
    type: 'start',
    config: {
      ...keyStoreOf(settings, secrets, { ...around, consoleOrigin }),
      logLevel: settings.config.logLevel as WalletConfig['logLevel'],
      port: around.ports.wallet,
      host: '127.0.0.1',
      chains: {
        ethereum: { rpcUrl, chainId, confirmations: 1, pollMilliseconds: 200 },
        ...coinChains({ ports: around.ports, password: secrets.nodePassword }),
      },
      webhookUrl: `${around.baseUrl}/webhooks/wallet`,
      webhookSecret: webhookSecretOf(settings, secrets),
      clients: [
        { name: vaultCode, token: secrets.walletToken },
        { name: reserveCode, token: secrets.reserveToken },
        { name: depositsCode, token: secrets.depositsToken },
      ],
    },
  }
}

/** Sets up the protected vault in the background, because not everybody needs it and a start must be fast. */
function setUpReserveLater(way: ReserveWay): void {
  report(ensureReserve(way), `the protected vault ${reserveCode} is ready`).catch((error: unknown) =>
    reportProgress(`the protected vault ${reserveCode} is not ready; the next start goes on: ${describe(error)}`),
  )
}

type CompanySurroundings = Pick<Start, 'stops' | 'die'> & { server: Part }

/** Starts the company of SSO_DEMO in the background, and connects it. Its code is loaded here only. */
function startCompanyLater(
  way: Omit<CompanyWay, 'addAdministrator' | 'company' | 'port'>,
  { server, stops, die }: CompanySurroundings,
): void {
  const { dataDir } = way
  const addAdministrator = (email: string) =>
    server.ask({ type: 'administrator', email } satisfies AdministratorQuestion)
  const start = async () => {
    const { connectCompany } = await import('./connect-company.ts')
    const { company: port } = await choosePorts(dataDir, ['company'])
    const company = spawnWatched({ name: 'company', program: undefined, dataDir, stops, die })
    return await connectCompany({ ...way, addAdministrator, company, port })
  }
  start().then(
    (url) => reportProgress(`the company is ready at ${url}`),
    (error: unknown) => reportProgress(`the company is not ready; the next start goes on: ${describe(error)}`),
  )
}

type Nodes = Pick<Start, 'stops' | 'die'> & { ports: Ports }

/** Sets up the vault with Bitcoin and Litecoin in the background, where their nodes can be started. */
function setUpCoinsLater(
  way: Parameters<typeof ensureDeposits>[0],
  { nodePassword: password }: Secrets,
  { ports, stops, die }: Nodes,
): void {
  if (!hasNodes) {
    reportProgress(howToGetNodes)
    return
  }
  const { dataDir } = way
  const nodes = coins.map(({ network, name }) => {
    const node = startNode(dataDir, network, { ports, password })
    recordProcess(dataDir, network, node.pid)
    watchProcess(node.pid, () => die(`The node of ${name} ended unexpectedly.`))
    return { network, node }
  })
  stops.nodes = async () => {
    await Promise.all(nodes.map(({ node }) => node.stop()))
    for (const { network } of nodes) forgetProcess(dataDir, network)
  }
  const complete = async () => {
    await Promise.all(nodes.map(({ node }) => node.ready()))
    for (const { node } of nodes) void mineAsPaid(node)
    const addresses = await ensureDeposits(way)
    await Promise.all(nodes.map(({ network, node }) => fundCoin(node, addresses[network])))
    reportProgress(`the vault ${depositsCode} is ready: ${cashier} pays from ${Object.values(addresses).join(' and ')}`)
  }
  complete().catch((error: unknown) =>
    reportProgress(`the vault ${depositsCode} is not ready; the next start goes on: ${describe(error)}`),
  )
}

function keyStoreOf(
  { dataDir }: Settings,
  { walletPassphrase: passphrase }: Secrets,
  { ownerUrl: databaseUrl, walletUrl, consoleOrigin }: { ownerUrl: string; walletUrl: string; consoleOrigin: string },
): KeyStore {
  const directory = authorityDir(dataDir)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const signing = { origin: signingOriginOf(walletUrl), consoleOrigin }
  return { databaseUrl, passphrase, authorityDir: directory, signing }
}

async function report<Value>(work: Promise<Value>, step: string): Promise<Value> {
  const value = await work
  reportProgress(step)
  return value
}

async function claimServerPort({ config: { port, host } }: Settings): Promise<number> {
  try {
    return await claimPort(port, host)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new Error(`port ${port} of ${host} is in use; set PORT to another one`)
    throw new Error(`${host} port ${port} cannot be listened on: ${message}`)
  }
}

/** `url` is the connection of the server, `ownerUrl` that of the wallet and of migrations. */
type Database = { url: string; ownerUrl: string; stop(): Promise<void> }

async function startDatabase({ config, dataDir }: Settings, die: (message: string) => void): Promise<Database> {
  if (config.databaseUrl !== null) {
    const ownerUrl = config.databaseOwnerUrl ?? config.databaseUrl
    return { url: config.databaseUrl, ownerUrl, stop: async () => {} }
  }
  const postgres = await startEmbeddedPostgres({ dataDir })
  watchProcess(postgres.pid, () => die(`PostgreSQL ended unexpectedly; see ${join(dataDir, 'postgres.log')}`))
  return {
    url: toServiceUrl(dataDir, postgres.url),
    ownerUrl: postgres.url,
    async stop() {
      await postgres.stop()
      await waitUntilReaped(postgres.pid)
    },
  }
}

/** Returns null for a part that could not be started, which need not be stopped. */
async function orNull<Value>(work: Promise<Value>): Promise<Value | null> {
  return await work.catch(() => null)
}

type WatchedChain = Pick<Start, 'stops' | 'die'> & { dataDir: string; port: number }

function startWatchedChain({ dataDir, port, stops, die }: WatchedChain) {
  const chain = report(startChain(dataDir, port), 'the local chain is running')
  stops.chain = async () => {
    await (await orNull(chain))?.stop()
    forgetProcess(dataDir, 'chain')
  }
  const chainIsUp = chain.then(({ pid }) => {
    recordProcess(dataDir, 'chain', pid)
    watchProcess(pid, () => die('The local chain ended unexpectedly.'))
  })
  return { chain, chainIsUp }
}

type Watched = Pick<Start, 'stops' | 'die'> & {
  name: 'company' | 'server' | 'wallet'
  program: string | undefined
  dataDir: string
}

function spawnWatched({ name, program, dataDir, stops, die }: Watched): Part {
  const part = spawnPart(name, dataDir, program)
  stops[name] = () => part.stop()
  void part.ended.then(() => {
    die(`The ${name} ended unexpectedly. The end of ${join(dataDir, 'logs', `${name}.log`)}:\n${part.tailOfLog()}`)
  })
  return part
}

/** Calls back when the process has ended. The chain and PostgreSQL may not be children of this process. */
function watchProcess(pid: number, onEnd: () => void): void {
  const identity = identityOf(pid)
  const timer = setInterval(() => {
    if (identityOf(pid) === identity) return
    clearInterval(timer)
    onEnd()
  }, watchMilliseconds)
  timer.unref()
}

function toEnvironment(settings: Settings, secrets: Secrets, overrides: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...settings.environment,
    RATES_URL: settings.config.ratesUrl ?? ensureRates(settings.dataDir),
    STRONGROOM_SECRET_KEY: settings.config.secretKey ?? secrets.secretKey,
    WALLET_WEBHOOK_SECRET: [webhookSecretOf(settings, secrets), ...settings.config.webhookSecrets.slice(1)].join(','),
    ...overrides,
  }
}

/** Returns the secret with which the wallet signs: the first secret of the operator, or that of the demo. */
function webhookSecretOf({ config }: Settings, secrets: Secrets): string {
  return config.webhookSecrets[0] ?? secrets.webhookSecret
}

/** Returns the host by which this machine reaches a server that listens on `host`. */
function localHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function endOnSignals(end: () => void): void {
  let signalledAt: number | null = null
  const onSignal = () => {
    const now = performance.now()
    if (signalledAt !== null && now - signalledAt > sameSignalMilliseconds) process.exit(1)
    signalledAt ??= now
    end()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
}

async function stopAll(stops: Stops, code: number, message: string): Promise<never> {
  if (message !== '') (code === 0 ? process.stdout : process.stderr).write(`${message}\n`)
  setTimeout(() => process.exit(1), stopTimeoutMilliseconds).unref()
  let exitCode = code
  for (const name of stopOrder) {
    await stops[name]?.().catch((error: unknown) => {
      exitCode = 1
      process.stderr.write(`${describe(error)}\n`)
    })
  }
  process.exit(exitCode)
}

function describe(error: unknown): string {
  if (error instanceof ConfigError) return error.faults.join('; ')
  return error instanceof Error ? error.message : String(error)
}

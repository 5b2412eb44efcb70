import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Db, openDatabase } from '../../../server/src/db/client.ts'
import { useRecordKey } from '../../../server/src/db/record-key.ts'
import { createRecordKey } from '../../../server/src/lib/record-key.ts'
import { startSmtpServer } from '../../../server/src/testing/smtp-server.ts'
import { type Chain, startChain } from '../flight/chain.ts'
import { createWalletProcess, type WalletProcess, walletToken, webhookSecret } from '../flight/wallet-process.ts'
import { copyWithMigrations } from '../server-copy.ts'
import type { Books } from '../stack.ts'
import { createWorld, type World } from '../world.ts'
import { type Cluster, startCluster } from './machines.ts'
import { createNode, type Node, runCommand } from './nodes.ts'
import { preparePrograms } from './packages.ts'

const database = 'strongroom'
const walletPort = 9_000
const readyMillisecondsMax = 90_000

/** Everything that a cycle strikes and reads. */
export type Stage = {
  cluster: Cluster
  nodes: [Node, Node]
  wallet: WalletProcess
  chain: Chain
  world: World
  books: Books
  /** A fault has found the successor of the leader. */
  noteSuccessor(): void
  /** Returns the time of the note since it was taken last, or null. */
  takeSuccessorAt(): number | null
  /** Opens new connections for the checks, because those of before may lead to a machine that was struck. */
  reconnect(): Promise<void>
  /** Runs `strongroom <words>` as an operator does. */
  command(...words: string[]): Promise<void>
  /** Migrates the database as the next version does, each time by a further migration. */
  migrateFurther(): Promise<void>
  close(): Promise<void>
}

export type StageOptions = {
  serverDir: string
  walletDir: string
  /** The paths of `patroni-3.0.2.patch` and of the script that renders the configuration. */
  patch: string
  renderScript: string
  /** False: Patroni as Debian ships it. */
  isMended?: boolean | undefined
}

/** Starts the cluster, a chain, the wallet service and two nodes, and makes a vault with funds. */
export async function setStage({
  serverDir,
  walletDir,
  patch,
  renderScript,
  isMended = true,
}: StageOptions): Promise<Stage> {
  const closing: (() => Promise<unknown>)[] = []
  const kept = async <Part>(part: Promise<Part>, close: (part: Part) => Promise<unknown>): Promise<Part> => {
    const made = await part
    closing.unshift(() => close(made))
    return made
  }
  const close = async () => {
    for (const end of closing.splice(0)) await end()
  }
  try {
    const programs = preparePrograms(patch)
    const cluster = await kept(startCluster({ programs, isMended, renderScript }), (made) => made.stop())
    const chain = await kept(startChain(), (made) => made.stop())
    const mail = await kept(startSmtpServer(), (made) => made.close())
    const connections = await kept(openBooks(cluster), (made) => made.close())
    const [owner, login] = [secretOf('owner'), secretOf('login')]
    await makeDatabase(cluster, owner)
    const walletHost = `${cluster.network}.41`
    // Both ways that docs/availability.md names: all hosts in the URL, and HAProxy.
    const hosts = cluster.machines.map(({ address }) => `${address}:5432`).join(',')
    const common = commonSettings(mail.url, `${walletHost}:${walletPort}`)
    const settings = (places: string) => ({ ...common, DATABASE_URL: urlOf('strongroom_login', login, places) })
    const operator = { ...settings(hosts), DATABASE_OWNER_URL: urlOf('strongroom_owner', owner, hosts) }
    await runCommand(serverDir, operator, ['migrate'])
    const nodes: [Node, Node] = [
      createNode(serverDir, { ...settings(hosts), HOST: `${cluster.network}.21` }),
      createNode(serverDir, { ...settings(`${cluster.proxyHost}:5000`), HOST: `${cluster.network}.22` }),
    ]
    for (const node of nodes) {
      closing.unshift(() => node.kill())
      await node.start()
    }
    await waitForNodes(cluster)
    const wallet = await kept(
      createWalletProcess({
        walletDir,
        stack: { sql: connections.sql, databaseUrl: () => cluster.superuserUrl(database) },
        chainUrl: chain.url,
        chainId: chain.chainId,
        webhookUrl: `${cluster.nodesUrl}/webhooks/wallet`,
        listen: { host: walletHost, port: walletPort },
      }),
      (made) => made.stop(),
    )
    await wallet.start()
    const place = { sql: connections.sql, nodeUrl: () => cluster.nodesUrl }
    const world = await createWorld(place, { url: `http://${walletHost}:${walletPort}`, token: walletToken })
    return {
      ...{ cluster, nodes, wallet, chain, world },
      ...noteSuccessors(),
      books: { sql: connections.sql, books: connections.books },
      reconnect: connections.reconnect,
      command: (...words) => runCommand(serverDir, operator, words),
      migrateFurther: migratesFurther(serverDir, operator),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function noteSuccessors(): Pick<Stage, 'noteSuccessor' | 'takeSuccessorAt'> {
  let successorAt: number | null = null
  return {
    noteSuccessor() {
      successorAt = performance.now()
    },
    takeSuccessorAt() {
      const taken = successorAt
      successorAt = null
      return taken
    },
  }
}

function migratesFurther(serverDir: string, operator: Record<string, string>): () => Promise<void> {
  const migrations: string[] = []
  return async () => {
    migrations.push(furtherMigration(migrations.length + 1))
    const next = copyWithMigrations(serverDir, migrations)
    try {
      await runCommand(next.serverDir, operator, ['migrate'])
    } finally {
      next.remove()
    }
  }
}

/** Adds to tables that the load writes, as a migration that only expands may. */
const furtherMigration = (version: number) => `
  alter table transfers add column of_version_${version} text;
  alter table operations add constraint of_version_${version} check (amount >= 0) not valid;
  create index transfers_of_version_${version} on transfers (vault_id, of_version_${version}) where of_version_${version} is not null;`

const urlOf = (role: string, password: string, hosts: string) => `postgresql://${role}:${password}@${hosts}/${database}`

/** Of a node outside demo mode, besides its address and its database. */
const commonSettings = (mailUrl: string, walletPlace: string) => ({
  PUBLIC_URL: 'https://vault.example.org',
  STRONGROOM_SECRET_KEY: secretKey,
  SMTP_URL: mailUrl,
  MAIL_FROM: 'Strongroom <strongroom@example.org>',
  WALLET_WEBHOOK_SECRET: webhookSecret,
  WALLET_ALLOWED_HOSTS: walletPlace,
  RATE_LIMIT_PER_MINUTE: '0',
  CONSOLE: 'off',
  GAS_CHECK: 'off',
  LOG_LEVEL: 'fatal',
  PORT: '8420',
})

async function makeDatabase(cluster: Cluster, ownerPassword: string): Promise<void> {
  const admin = await connectToLeader(cluster)
  await admin.query(`create role strongroom_owner login createrole password '${ownerPassword}'`)
  await admin.query(`create database ${database} owner strongroom_owner`)
  await admin.end()
}

const secretOf = (name: string) => createHash('sha256').update(`${name} of the torture of a cluster`).digest('hex')
const secretKey = secretOf('key')

async function openBooks(cluster: Cluster) {
  let pool: pg.Pool | null = null
  let opened: { db: Db } | null = null
  const url = cluster.superuserUrl(database)
  const close = async () => {
    const before = [pool, opened] as const
    pool = opened = null
    await Promise.all([before[0]?.end(), before[1]?.db.destroy()])
  }
  return {
    // biome-ignore lint/suspicious/noExplicitAny: what a query returns is for its caller to know.
    async sql(text: string, values: unknown[] = []): Promise<any[]> {
      if (pool === null) {
        pool = new pg.Pool({ connectionString: url, max: 3 })
        pool.on('error', () => {})
        pool.on('connect', (client) => client.on('error', () => {}))
      }
      return (await pool.query(text, values)).rows
    },
    books(): Db {
      opened ??= openDatabase({ url, connectionsMax: 2, statementMilliseconds: 0, onError: () => {} })
      useRecordKey(opened.db, createRecordKey(secretKey))
      return opened.db
    },
    reconnect: close,
    close,
  }
}

/** Until HAProxy has asked all machines, it takes each for the leader. */
async function connectToLeader(cluster: Cluster): Promise<pg.Client> {
  const deadline = Date.now() + readyMillisecondsMax
  for (;;) {
    const client = new pg.Client({ connectionString: cluster.superuserUrl('postgres') })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('select pg_is_in_recovery() as is_standby')
      if (!rows[0].is_standby) return client
      await client.end()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await sleep(200)
  }
}

async function waitForNodes({ nodesUrl }: Cluster): Promise<void> {
  const deadline = Date.now() + readyMillisecondsMax
  for (;;) {
    const answer = await fetch(`${nodesUrl}/readyz`).catch(() => null)
    if (answer?.status === 200) return
    if (Date.now() > deadline) throw new Error('HAProxy finds no node that is ready')
    await sleep(200)
  }
}

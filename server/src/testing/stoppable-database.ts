import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../db/migrate.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { watchDirectory } from './cleanup.ts'
import { copyEmptyCluster } from './empty-cluster.ts'

/** A PostgreSQL server for one test behind a network of its own. Both can be stopped without closing a connection. */
export type StoppableDatabase = {
  /** Sends SIGSTOP or SIGCONT to the server and all of its processes. */
  stopProcesses(): void
  continueProcesses(): void
  /** Stops all bytes, in both directions, on old and new connections. */
  cutNetwork(): void
  /** Cuts the connections that are open now. Later ones work. */
  cutOpenConnections(): void
  /** Cuts the network when the transaction that contains `text` sends its COMMIT, so that the answer is lost. */
  cutNetworkAtCommitOf(text: string): void
  healNetwork(): void
  /** Makes `createTestDatabase` of this process clone databases of this server, until `close`. */
  close(): Promise<void>
}

export async function startStoppableDatabase(): Promise<StoppableDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-stoppable-'))
  const cleanup = watchDirectory(dataDir)
  copyEmptyCluster(dataDir)
  const server = await startEmbeddedPostgres({ dataDir, fast: true })
  const network = await startNetwork(server.port)
  const url = new URL(server.url)
  url.port = String(network.port)
  const template = `template_${randomBytes(4).toString('hex')}`
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`create database ${template}`)
  await client.end()
  const templateUrl = new URL(server.url)
  templateUrl.pathname = `/${template}`
  await migrate(templateUrl.href)
  const before = { ...process.env }
  process.env.TEST_DATABASE_URL = url.href
  process.env.TEST_TEMPLATE_DATABASE = template

  const signalAll = (signal: NodeJS.Signals) => {
    // The parent is stopped first, so that it starts no child meanwhile.
    process.kill(server.pid, signal)
    for (const pid of childrenOf(server.pid)) signalIfAlive(pid, signal)
  }
  return {
    stopProcesses: () => signalAll('SIGSTOP'),
    continueProcesses: () => signalAll('SIGCONT'),
    cutNetwork: network.cut,
    cutOpenConnections: network.cutOpen,
    cutNetworkAtCommitOf: network.cutAtCommitOf,
    healNetwork: network.heal,
    async close() {
      process.env.TEST_DATABASE_URL = before.TEST_DATABASE_URL
      process.env.TEST_TEMPLATE_DATABASE = before.TEST_TEMPLATE_DATABASE
      signalAll('SIGCONT')
      network.close()
      await server.stop()
      cleanup.dismiss()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Sends a signal. A worker of PostgreSQL may have ended after it was listed. */
function signalIfAlive(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function childrenOf(parent: number): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => pid!)
}

/** Starts a relay on the loopback address that can fall silent: it then reads and forwards nothing. */
async function startNetwork(targetPort: number) {
  const links = new Set<{ from: Socket; to: Socket; isCut: boolean; hasCutText: boolean }>()
  let isCut = false
  let cutText: string | null = null
  const relay = createServer((from) => {
    const to = connect(targetPort, '127.0.0.1')
    const link = { from, to, isCut: false, hasCutText: false }
    links.add(link)
    from.on('data', (bytes) => {
      if (isCut || link.isCut) return
      to.write(bytes)
      link.hasCutText ||= cutText !== null && bytes.includes(cutText)
      if (!link.hasCutText || !bytes.includes('commit')) return
      link.hasCutText = false
      cutText = null
      isCut = true
    })
    to.on('data', (bytes) => {
      if (!isCut && !link.isCut) from.write(bytes)
    })
    for (const [side, other] of [
      [from, to],
      [to, from],
    ] as const) {
      side.on('error', () => {})
      side.on('close', () => {
        links.delete(link)
        // A cut network does not forward the end of a connection either.
        if (!isCut && !link.isCut) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return {
    port: (relay.address() as AddressInfo).port,
    cut: () => {
      isCut = true
    },
    cutOpen: () => {
      for (const link of links) link.isCut = true
    },
    cutAtCommitOf: (text: string) => {
      cutText = text
    },
    heal: () => {
      isCut = false
    },
    close: () => {
      for (const { from, to } of links) {
        from.destroy()
        to.destroy()
      }
      relay.close()
    },
  }
}

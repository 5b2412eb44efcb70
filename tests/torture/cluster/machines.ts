import { type ChildProcess, execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseAccount } from '../../../server/src/embedded-postgres/account.ts'
import { watchDirectory } from '../../../server/src/testing/cleanup.ts'
import { createMachine, type Machine } from './machine.ts'
import type { Programs } from './packages.ts'
import { createLaunch, endOf, giveTo, watchMarked } from './processes.ts'

const names = ['db1', 'db2', 'db3'] as const
const wholeMillisecondsMax = 120_000
const loopSeconds = 2

export type Cluster = {
  machines: Machine[]
  /** The part of the addresses that all have in common, such as `127.7.9`. */
  network: string
  proxyHost: string
  nodesUrl: string
  /** Through HAProxy to the leader. */
  superuserUrl(database: string): string
  killProxy(): Promise<void>
  startProxy(): void
  /** The machine that has the leader's key, or null. */
  findLeader(): Promise<Machine | null>
  waitForLeader(): Promise<Machine>
  /** Waits until there is a leader, and both others follow it. */
  waitUntilWhole(): Promise<void>
  /** Changes the dynamic configuration, and waits until all have it. */
  configure(change: object): Promise<void>
  stop(): Promise<void>
}

type Options = { programs: Programs; isMended: boolean; renderScript: string }

/** Starts three machines and HAProxy, all on this computer, with the configuration that `deploy/linux/cluster` renders. */
export async function startCluster({ programs, isMended, renderScript }: Options): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-cluster-'))
  chmodSync(folder, 0o755)
  const cleanups = [watchDirectory(folder), watchMarked(folder)]
  const account = chooseAccount(join(folder, 'none'))
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const proxyHost = `${network}.31`
  const secretOf = render({ folder, network, proxyHost, programs, renderScript })
  const launch = createLaunch({ folder, programs, account, isMended })
  const password = secretOf('api')
  const machines = names.map((name, index) =>
    createMachine({ name, address: addressOf(network, index), folder, programs, launch, password, account }),
  )
  giveTo(account, folder)
  let proxy: ChildProcess | null = null
  const watched = watchMachines(machines)
  const cluster: Cluster = {
    ...{ machines, network, proxyHost, nodesUrl: `http://${proxyHost}:8420` },
    ...watched,
    superuserUrl: (database) => `postgresql://postgres:${secretOf('superuser')}@${proxyHost}:5000/${database}`,
    async killProxy() {
      proxy?.kill('SIGKILL')
      await endOf(proxy)
    },
    startProxy() {
      proxy = launch('haproxy.log', programs.haproxy, ['-db', '-f', join(folder, 'haproxy.cfg')])
    },
    async configure(change) {
      const answer = await (await watched.waitForLeader()).ask('/config', {
        method: 'PATCH',
        body: JSON.stringify(change),
      })
      if (answer?.status !== 200) throw new Error(`Patroni does not take ${JSON.stringify(change)}: ${answer?.status}`)
      await sleep(2 * loopSeconds * 1_000)
    },
    async stop() {
      await Promise.all(machines.map((machine) => machine.kill()))
      await Promise.all([cluster.killProxy(), ...machines.map((machine) => machine.killEtcd())])
      for (const machine of machines) machine.removeDisk()
      for (const cleanup of cleanups) cleanup.dismiss()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    for (const machine of machines) machine.startEtcd()
    machines[0]!.startPatroni()
    await cluster.waitForLeader()
    for (const machine of machines.slice(1)) machine.startPatroni()
    await cluster.waitUntilWhole()
    // The disks are small.
    await cluster.configure({ postgresql: { parameters: { max_wal_size: '128MB', min_wal_size: '64MB' } } })
    cluster.startProxy()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

const addressOf = (network: string, index: number) => `${network}.${11 + index}`

type Rendering = { folder: string; network: string; proxyHost: string; programs: Programs; renderScript: string }

/** Renders the configuration of all machines into the folder. Returns how its passwords are read. */
function render({ folder, network, proxyHost, programs, renderScript }: Rendering): (name: string) => string {
  const settings = {
    CLUSTER: 'torture',
    DATABASES: names.map((name, index) => `${name}=${addressOf(network, index)}`).join(' '),
    NODES: `node1=${network}.21:8420 node2=${network}.22:8420`,
    PROXY: proxyHost,
    NETWORKS: '127.0.0.0/8',
    TLS: '',
    PROGRAMS: programs.postgres,
    DATA: join(folder, 'NAME/data'),
    WATCHDOG: 'off',
    ...{ LEASE: 20, LOOP: loopSeconds, RETRY: 3 },
  }
  const file = join(folder, 'cluster.env')
  const lines = Object.entries(settings).map(([key, value]) => `${key}='${value}'\n`)
  writeFileSync(file, lines.join(''))
  execFileSync('sh', [renderScript, file, folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  return (name) => readFileSync(join(folder, 'secrets', name), 'utf8').trim()
}

/** Asks the machines who leads, and who follows. */
function watchMachines(machines: Machine[]): Pick<Cluster, 'findLeader' | 'waitForLeader' | 'waitUntilWhole'> {
  const findLeader = async () => {
    const answers = await Promise.all(machines.map((machine) => machine.ask('/leader')))
    return machines.find((_, index) => answers[index]?.status === 200) ?? null
  }
  const waitFor = async <Found>(what: string, find: () => Promise<Found | null>): Promise<Found> => {
    const deadline = Date.now() + wholeMillisecondsMax
    for (;;) {
      const found = await find()
      if (found !== null) return found
      if (Date.now() > deadline) throw new Error(`The cluster has ${what}`)
      await sleep(200)
    }
  }
  return {
    findLeader,
    waitForLeader: () => waitFor('no leader', findLeader),
    async waitUntilWhole() {
      await waitFor('members that do not follow the leader', async () => {
        const state = await (await findLeader())?.ask('/patroni')
        const { replication = [] } = (state?.body ?? {}) as { replication?: { state: string }[] }
        return replication.filter((row) => row.state === 'streaming').length === names.length - 1 ? true : null
      })
    },
  }
}

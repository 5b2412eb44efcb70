import { type ChildProcess, spawn } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseAccount, spawnAs } from '../../../server/src/embedded-postgres/account.ts'
import { watchDirectory } from '../../../server/src/testing/cleanup.ts'
import type { Programs } from './packages.ts'

const names = ['db1', 'db2', 'db3'] as const
const wholeMillisecondsMax = 120_000

/** A machine of the cluster: etcd, Patroni and PostgreSQL on an address of the loopback network. */
export type Machine = {
  name: string
  address: string
  /** Patroni and PostgreSQL end at once. */
  kill(): Promise<void>
  /** Patroni, PostgreSQL and etcd stand still; the function that it returns lets them go on. */
  freeze(): () => void
  startPatroni(): void
  killEtcd(): Promise<void>
  startEtcd(): void
  /** Asks Patroni; null when it does not answer. */
  ask(path: string, init?: RequestInit): Promise<{ status: number; body: unknown } | null>
}

export type Cluster = {
  machines: Machine[]
  /** The part of the addresses that all have in common, such as `127.7.9`. */
  network: string
  superuserUrl(database: string): string
  /** Through HAProxy to the leader. */
  proxyHost: string
  nodesUrl: string
  killProxy(): Promise<void>
  startProxy(): void
  /** The machine that has the leader's key, or null. */
  findLeader(): Promise<Machine | null>
  waitForLeader(): Promise<Machine>
  /** Waits until there is a leader, and both others follow it, one of them synchronously. */
  waitUntilWhole(): Promise<void>
  /** Changes the dynamic configuration, and waits until the leader has it. */
  configure(change: object): Promise<void>
  stop(): Promise<void>
}

type Options = { programs: Programs; isMended: boolean; renderScript: string }

/** Starts three machines and HAProxy, all on this computer, with the configuration that `deploy/linux/cluster` renders. */
export async function startCluster({ programs, isMended, renderScript }: Options): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-cluster-'))
  chmodSync(folder, 0o755)
  const cleanup = watchDirectory(folder)
  const watcher = watchMarked(folder)
  const account = chooseAccount(join(folder, 'none'))
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const addressOf = (index: number) => `${network}.${11 + index}`
  const proxyHost = `${network}.31`
  const settings = {
    CLUSTER: 'torture',
    DATABASES: names.map((name, index) => `${name}=${addressOf(index)}`).join(' '),
    NODES: `node1=${network}.21:8420 node2=${network}.22:8420`,
    PROXY: proxyHost,
    NETWORKS: '127.0.0.0/8',
    TLS: '',
    PROGRAMS: programs.postgres,
    DATA: join(folder, 'NAME/data'),
    WATCHDOG: 'off',
    ...{ LEASE: 20, LOOP: 2, RETRY: 3 },
  }
  const file = join(folder, 'cluster.env')
  writeFileSync(file, Object.entries(settings).map(([key, value]) => `${key}='${value}'\n`).join(''))
  execFileSync('sh', [renderScript, file, folder])
  giveTo(account, folder)
  const secret = (name: string) => readFileSync(join(folder, 'secrets', name), 'utf8').trim()
  const [superuser, api] = [secret('superuser'), secret('api')]

  const launch = (place: string, program: string, words: string[]): ChildProcess => {
    const log = openSync(join(folder, place), 'a')
    return spawn(program, words, {
      ...spawnAs(account),
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        LD_LIBRARY_PATH: programs.libraries,
        PYTHONPATH: isMended ? programs.mendedPatroni : programs.shippedPatroni,
        PYTHONDONTWRITEBYTECODE: '1',
        STRONGROOM_CLUSTER: folder,
      },
      stdio: ['ignore', log, log],
    })
  }

  const createMachine = (name: string, index: number): Machine => {
    const address = addressOf(index)
    mkdirSync(join(folder, name, 'data'), { mode: 0o700 })
    giveTo(account, join(folder, name))
    let etcd: ChildProcess | null = null
    let patroni: ChildProcess | null = null
    const patroniAndPostgres = () => [...(patroni?.pid ? [patroni.pid] : []), ...postgresOf(join(folder, name, 'data/postgres'))]
    return {
      name,
      address,
      async kill() {
        // Twice, because a process can have begun another one meanwhile.
        for (let i = 0; i < 2; i += 1) for (const pid of patroniAndPostgres()) signal(pid, 'SIGKILL')
        await endOf(patroni)
        patroni = null
        while (postgresOf(join(folder, name, 'data/postgres')).length > 0) await sleep(20)
      },
      freeze() {
        const frozen = new Set<number>()
        for (let i = 0; i < 2; i += 1) {
          for (const pid of [...patroniAndPostgres(), ...(etcd?.pid ? [etcd.pid] : [])]) {
            if (!frozen.has(pid)) signal(pid, 'SIGSTOP')
            frozen.add(pid)
          }
        }
        return () => {
          for (const pid of frozen) signal(pid, 'SIGCONT')
        }
      },
      startPatroni() {
        patroni = launch(join(name, 'patroni.log'), programs.python, ['-s', '-m', 'patroni', join(folder, name, 'patroni.yaml')])
      },
      async killEtcd() {
        etcd?.kill('SIGKILL')
        await endOf(etcd)
        etcd = null
      },
      startEtcd() {
        etcd = launch(join(name, 'etcd.log'), programs.etcd, ['--config-file', join(folder, name, 'etcd.yaml')])
      },
      async ask(path, init) {
        try {
          const response = await fetch(`http://${address}:8008${path}`, {
            ...init,
            headers: { authorization: `Basic ${btoa(`patroni:${api}`)}`, 'content-type': 'application/json' },
            signal: AbortSignal.timeout(path === '/switchover' ? 60_000 : 2_000),
          })
          const text = await response.text()
          return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
        } catch {
          return null
        }
      },
    }
  }
  const machines = names.map(createMachine)

  const findLeader = async () => {
    const answers = await Promise.all(machines.map((machine) => machine.ask('/leader')))
    return machines.find((_, index) => answers[index]?.status === 200) ?? null
  }
  const waitForLeader = async () => {
    const deadline = Date.now() + wholeMillisecondsMax
    for (;;) {
      const leader = await findLeader()
      if (leader !== null) return leader
      if (Date.now() > deadline) throw new Error('The cluster has no leader')
      await sleep(200)
    }
  }
  const waitUntilWhole = async () => {
    const deadline = Date.now() + wholeMillisecondsMax
    for (;;) {
      const state = await (await findLeader())?.ask('/patroni')
      const { replication = [] } = (state?.body ?? {}) as { replication?: { state: string; sync_state: string }[] }
      const streaming = replication.filter((row) => row.state === 'streaming')
      if (streaming.length === 2) return
      if (Date.now() > deadline) throw new Error(`The cluster is not whole again: ${JSON.stringify(state?.body)}`)
      await sleep(200)
    }
  }
  let proxy: ChildProcess | null = null
  const cluster: Cluster = {
    machines,
    network,
    proxyHost,
    nodesUrl: `http://${proxyHost}:8420`,
    superuserUrl: (database) => `postgresql://postgres:${superuser}@${proxyHost}:5000/${database}`,
    async killProxy() {
      proxy?.kill('SIGKILL')
      await endOf(proxy)
    },
    startProxy() {
      proxy = launch('haproxy.log', programs.haproxy, ['-db', '-f', join(folder, 'haproxy.cfg')])
    },
    findLeader,
    waitForLeader,
    waitUntilWhole,
    async configure(change) {
      const leader = await waitForLeader()
      const answer = await leader.ask('/config', { method: 'PATCH', body: JSON.stringify(change) })
      if (answer?.status !== 200) throw new Error(`Patroni does not take ${JSON.stringify(change)}: ${JSON.stringify(answer)}`)
      await sleep(2 * settings.LOOP * 1_000)
    },
    async stop() {
      await Promise.all(machines.map((machine) => machine.kill()))
      await Promise.all([cluster.killProxy(), ...machines.map((machine) => machine.killEtcd())])
      watcher.dismiss()
      cleanup.dismiss()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    for (const machine of machines) machine.startEtcd()
    machines[0]!.startPatroni()
    await waitForLeader()
    for (const machine of machines.slice(1)) machine.startPatroni()
    await waitUntilWhole()
    cluster.startProxy()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

type Account = { uid: number; gid: number }

function giveTo({ uid, gid }: Account, path: string): void {
  chownSync(path, uid, gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) giveTo({ uid, gid }, inner)
    else chownSync(inner, uid, gid)
  }
}

/** The processes of a server: the first one, and those that it has started. */
function postgresOf(dataFolder: string): number[] {
  let main: number
  try {
    main = Number(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return []
  }
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number)
  const isMain = readOf(main, 'cmdline').includes('postgres')
  const children = processes.filter((pid) => parentOf(pid) === main)
  return isMain ? [main, ...children] : []
}

/** The fourth word of `stat`, behind the name in parentheses, which may have spaces. */
const parentOf = (pid: number) => Number(readOf(pid, 'stat').split(') ').at(-1)!.split(' ')[1])

function readOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

async function endOf(child: ChildProcess | null): Promise<void> {
  while (child !== null && child.exitCode === null && child.signalCode === null) await sleep(10)
}

/** Ends everything that was started with the mark of this cluster if this process ends before it does so. */
function watchMarked(folder: string): { dismiss(): void } {
  const watcher = spawn('/bin/sh', ['-c', endMarked, 'cluster', `STRONGROOM_CLUSTER=${folder}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  return {
    dismiss() {
      watcher.kill('SIGKILL')
      watcher.stdin?.destroy()
    },
  }
}

const endMarked = `
cat >/dev/null
for place in /proc/[0-9]*; do
  tr '\\0' '\\n' <"$place/environ" | grep -qxF "$1" && kill -9 "\${place#/proc/}"
done
`

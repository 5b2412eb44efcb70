import type { ChildProcess } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from '../../../server/src/embedded-postgres/account.ts'
import { type Disk, makeDisk } from './disk.ts'
import type { Programs } from './packages.ts'
import { endOf, type Launch, postgresOf, signal } from './processes.ts'

const answerMillisecondsMax = 2_000
const switchoverMillisecondsMax = 60_000

/** A machine of the cluster: etcd, Patroni and PostgreSQL on an address of the loopback network. */
export type Machine = {
  name: string
  address: string
  /** Patroni and PostgreSQL end at once. */
  kill(): Promise<void>
  /** Patroni, PostgreSQL and etcd stand still; the function that it returns lets them go on. */
  freeze(): () => void
  /** Its disk has no room until the function that it returns is called; null when disks cannot be made on this computer. */
  fillDisk: (() => () => void) | null
  startPatroni(): void
  killEtcd(): Promise<void>
  startEtcd(): void
  removeDisk(): void
  /** Asks Patroni; null when it does not answer. */
  ask(path: string, init?: RequestInit): Promise<{ status: number; body: unknown } | null>
}

type Around = {
  name: string
  address: string
  folder: string
  programs: Programs
  launch: Launch
  password: string
  /** Runs PostgreSQL. */
  account: Account
}

export function createMachine({ name, address, folder, programs, launch, password, account }: Around): Machine {
  const place = join(folder, name)
  const data = join(place, 'data')
  mkdirSync(data, { mode: 0o700 })
  const disk: Disk | null = makeDisk(data, account)
  // A full disk is to strike PostgreSQL alone.
  mkdirSync(join(place, 'etcd'), { mode: 0o700 })
  symlinkSync(join(place, 'etcd'), join(data, 'etcd'))
  let etcd: ChildProcess | null = null
  let patroni: ChildProcess | null = null
  const pidOf = (child: ChildProcess | null) => (child?.pid === undefined ? [] : [child.pid])
  const postgres = () => postgresOf(join(data, 'postgres'))
  /** Twice, because a process can have begun another one meanwhile. */
  const strike = (pids: () => number[], name: NodeJS.Signals) => {
    const struck = new Set<number>()
    for (let i = 0; i < 2; i += 1) {
      for (const pid of pids()) {
        if (!struck.has(pid)) signal(pid, name)
        struck.add(pid)
      }
    }
    return struck
  }
  return {
    name,
    address,
    fillDisk: disk === null ? null : () => disk.fill(),
    removeDisk: () => disk?.remove(),
    async kill() {
      strike(() => [...pidOf(patroni), ...postgres()], 'SIGKILL')
      await endOf(patroni)
      patroni = null
      while (postgres().length > 0) await sleep(20)
    },
    freeze() {
      const frozen = strike(() => [...pidOf(patroni), ...postgres(), ...pidOf(etcd)], 'SIGSTOP')
      return () => {
        for (const pid of frozen) signal(pid, 'SIGCONT')
      }
    },
    startPatroni() {
      const words = ['-s', '-m', 'patroni', join(place, 'patroni.yaml')]
      patroni = launch(join(name, 'patroni.log'), programs.python, words)
    },
    async killEtcd() {
      etcd?.kill('SIGKILL')
      await endOf(etcd)
      etcd = null
    },
    startEtcd() {
      etcd = launch(join(name, 'etcd.log'), programs.etcd, ['--config-file', join(place, 'etcd.yaml')])
    },
    async ask(path, init) {
      try {
        const response = await fetch(`http://${address}:8008${path}`, {
          ...init,
          headers: { authorization: `Basic ${btoa(`patroni:${password}`)}`, 'content-type': 'application/json' },
          signal: AbortSignal.timeout(path === '/switchover' ? switchoverMillisecondsMax : answerMillisecondsMax),
        })
        const text = await response.text()
        return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
      } catch {
        return null
      }
    },
  }
}

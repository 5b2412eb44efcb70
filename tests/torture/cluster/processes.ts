import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, spawnAs } from '../../../server/src/embedded-postgres/account.ts'
import type { Programs } from './packages.ts'

/** Starts a program of the cluster, which writes its log to this file of the cluster's folder. */
export type Launch = (log: string, program: string, words: string[]) => ChildProcess

type Around = { folder: string; programs: Programs; account: Account; isMended: boolean }

export function createLaunch({ folder, programs, account, isMended }: Around): Launch {
  return (place, program, words) => {
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
}

/** The processes of a server: the first one, and those that it has started. */
export function postgresOf(dataFolder: string): number[] {
  let main: number
  try {
    main = Number(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return []
  }
  if (!readOf(main, 'cmdline').includes('postgres')) return []
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  return [main, ...processes.map(Number).filter((pid) => parentOf(pid) === main)]
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

/** Does nothing to a process that has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function endOf(child: ChildProcess | null): Promise<void> {
  while (child !== null && child.exitCode === null && child.signalCode === null) await sleep(10)
}

/** Gives a folder and all that is in it to the account that runs the cluster. */
export function giveTo({ uid, gid }: Pick<Account, 'uid' | 'gid'>, path: string): void {
  chownSync(path, uid, gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) giveTo({ uid, gid }, inner)
    else chownSync(inner, uid, gid)
  }
}

/** Ends everything that was started with the mark of this cluster, and its disks, if this process ends before it does so. */
export function watchMarked(folder: string): { dismiss(): void } {
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
for disk in "\${1#STRONGROOM_CLUSTER=}"/*/data; do umount --lazy "$disk"; done
`

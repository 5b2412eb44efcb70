import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forgetProcess, recordProcess } from './processes.ts'

const logBytesMax = 10 * 1024 * 1024
const stopTimeoutMilliseconds = 4_000

/** A part of the service in its own process, which loads its code while the database is still starting. */
export type Part = {
  pid: number
  /** Sends a message and resolves with the answer. Rejects when the part reports a failure, or ends. */
  ask<Answer>(question: object): Promise<Answer>
  /** Resolves when the process has ended, for any reason. */
  ended: Promise<void>
  /** The last lines of its log. */
  tailOfLog(): string
  stop(): Promise<void>
}

type Reply = { id: number } & ({ answer: unknown } | { failure: string })

/** Spawns a program, by default `run-<name>.js` of this folder; its output goes to `<dataDir>/logs/<name>.log`. */
export function spawnPart(
  name: 'company' | 'server' | 'wallet',
  dataDir: string,
  program = fileURLToPath(new URL(`./run-${name}.js`, import.meta.url)),
): Part {
  const logPath = join(dataDir, 'logs', `${name}.log`)
  const log = openLog(logPath)
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', log, log, 'ipc'],
    // Fees are numbers of the type bigint, which JSON does not have.
    serialization: 'advanced',
    // Runs in its own process group: Ctrl-C in the terminal goes to the supervisor only, which stops the parts in
    // order.
    detached: true,
    // Node 22 and newer cache compiled code there for the next start. Older versions ignore the variable.
    env: { ...process.env, NODE_COMPILE_CACHE: join(dataDir, 'run', 'compiled') },
  })
  closeSync(log)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  if (child.pid !== undefined) recordProcess(dataDir, name, child.pid)
  return {
    pid: child.pid ?? 0,
    ended,
    ask: (question) => ask(child, name, question),
    tailOfLog: () => tailOf(logPath),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMilliseconds)
        await ended
        clearTimeout(timer)
      }
      forgetProcess(dataDir, name)
    },
  }
}

let questions = 0

function ask<Answer>(child: ChildProcess, name: string, question: object): Promise<Answer> {
  questions += 1
  const id = questions
  return new Promise((resolve, reject) => {
    const settle = (work: () => void) => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      work()
    }
    const onMessage = (reply: Reply) => {
      if (reply.id !== id) return
      settle(() => ('failure' in reply ? reject(new Error(reply.failure)) : resolve(reply.answer as Answer)))
    }
    const onExit = () => settle(() => reject(new Error(`the ${name} ended while it was starting`)))
    child.on('message', onMessage)
    child.on('exit', onExit)
    if (!child.connected) return onExit()
    child.send({ id, ...question }, (error) => error && onExit())
  })
}

function openLog(path: string): number {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  if (existsSync(path) && statSync(path).size > logBytesMax) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

function tailOf(path: string): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
}

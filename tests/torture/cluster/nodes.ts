import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'

const startMillisecondsMax = 90_000

/** A node of the service outside demo mode, as a process on an address of its own. */
export type Node = {
  start(): Promise<void>
  kill(): Promise<void>
  /** Stops it where it is; the function that it returns lets it go on. */
  freeze(): () => void
  /** @throws when it ended without being killed */
  assertLives(): void
}

export function createNode(serverDir: string, settings: Record<string, string>): Node {
  let child: ChildProcess | null = null
  return {
    async start() {
      const started = fork(join(serverDir, 'dist/main.js'), {
        execArgv: [],
        env: { PATH: process.env.PATH ?? '', ...settings },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      child = started
      await Promise.race([
        once(started, 'message', { signal: AbortSignal.timeout(startMillisecondsMax) }),
        once(started, 'exit').then(([code]) => {
          throw new Error(`A node ended with ${code} while it was starting`)
        }),
      ])
    },
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      child = null
    },
    freeze() {
      const frozen = child!
      frozen.kill('SIGSTOP')
      return () => void frozen.kill('SIGCONT')
    },
    assertLives() {
      const ended = child !== null && (child.exitCode ?? child.signalCode)
      if (typeof ended === 'number' || typeof ended === 'string') throw new Error(`A node ended by itself: ${ended}`)
    },
  }
}

/** Runs `strongroom <words>` and expects it to succeed. */
export async function runCommand(serverDir: string, settings: Record<string, string>, words: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(serverDir, 'bin/strongroom.js'), ...words], {
    env: { PATH: process.env.PATH ?? '', ...settings },
  })
}

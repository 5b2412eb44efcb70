import { type ChildProcess, spawn } from 'node:child_process'
import { type Account, spawnAs } from './account.ts'

type Launch = {
  program: string
  args: string[]
  account: Account
  /** The open files that the program inherits as descriptors 3 and up. */
  descriptors: number[]
  /** The output of the program: an open file, or `pipe` to read it. */
  output: number | 'pipe'
}

/** Starts a PostgreSQL program in its own process group, so that Ctrl-C in a terminal does not reach it. */
export function spawnProgram(launch: Launch): ChildProcess {
  return spawn(launch.program, launch.args, {
    ...spawnAs(launch.account),
    detached: true,
    cwd: '/',
    // The environment is not passed on: it holds secrets, and PG* variables would change the behaviour of PostgreSQL.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', launch.output, launch.output, ...launch.descriptors],
  })
}

/** Runs a program to its end. Resolves with its output. Rejects with the last lines of the output when the program fails. */
export function runProgram(launch: Omit<Launch, 'output'>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawnProgram({ ...launch, output: 'pipe' })
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.on('error', (cause) => reject(toLaunchError(launch.program, cause)))
    child.on('close', (code) => {
      if (code === 0) return resolve(output)
      reject(new Error(`${launch.program} failed: ${toFailure(code, output)}`))
    })
  })
}

/** Returns an error that explains why a program could not be executed at all. */
export function toLaunchError(program: string, cause: NodeJS.ErrnoException): Error {
  // The file exists, so the loader that it names is missing: the system has another C library.
  if (cause.code === 'ENOENT') return new Error(`${program} needs glibc (Alpine has musl); ${WAY_OUT}`, { cause })
  return new Error(`${program} could not be started: ${cause.message}; ${WAY_OUT}`, { cause })
}

/** Returns the last lines of the output, with advice when the cause is the system's libraries or its list of accounts. */
export function toFailure(code: number | null, output: string): string {
  const tail = output.trim().split('\n').slice(-12).join('\n')
  const unsuited = code === 127 || tail.includes('could not look up effective user ID')
  return unsuited ? `${tail}; ${WAY_OUT}` : tail || `exit code ${code}`
}

const WAY_OUT = 'set DATABASE_URL to a PostgreSQL 15 or newer instead.'

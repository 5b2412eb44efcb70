import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const cleanUps: (() => void)[] = []

afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

/** The process id of the PostgreSQL whose data is somewhere below; null before it starts. */
function postgresBelow(directory: string): number | null {
  const [data] = readdirSync(directory).filter((name) => name.startsWith('strongroom-bench-'))
  if (data === undefined) return null
  try {
    return Number(readFileSync(join(directory, data, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

it.each(['load', 'visibility'])('%s that is interrupted ends its PostgreSQL and removes its data', async (program) => {
  const directory = mkdtempSync(join(tmpdir(), 'strongroom-interrupted-'))
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }))
  // A group of its own, as a shell gives to a command: Ctrl-C reaches all of it.
  const bench = spawn(process.execPath, ['bench/run.js', program], {
    cwd: root,
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: directory },
  })
  cleanUps.push(() => bench.exitCode === null && bench.signalCode === null && process.kill(-bench.pid!, 'SIGKILL'))
  const exited = once(bench, 'exit')
  await expect.poll(() => postgresBelow(directory)).not.toBeNull()
  const postgres = postgresBelow(directory)!
  process.kill(-bench.pid!, 'SIGINT')
  const [code] = await exited
  expect(code).not.toBe(0)
  await expect.poll(() => isAlive(postgres)).toBe(false)
  await expect.poll(() => readdirSync(directory)).toEqual([])
})

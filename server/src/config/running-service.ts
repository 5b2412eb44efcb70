import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const answerMilliseconds = 1_000

const recordPath = (dataDir: string) => join(dataDir, 'service.json')

/** Records the origin of the service of a data directory, for its commands, which do not know the port without PUBLIC_URL. */
export async function recordOrigin(dataDir: string, origin: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(recordPath(dataDir), `${JSON.stringify({ origin })}\n`, { mode: 0o600 })
}

export async function forgetOrigin(dataDir: string): Promise<void> {
  await rm(recordPath(dataDir), { force: true })
}

/** Returns the origin of the service that runs for a data directory; null if none runs. A file that a crash left does not count. */
export async function findRunningOrigin(dataDir: string): Promise<string | null> {
  try {
    const { origin } = JSON.parse(await readFile(recordPath(dataDir), 'utf8')) as { origin: string }
    await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(answerMilliseconds) })
    return origin
  } catch {
    return null
  }
}

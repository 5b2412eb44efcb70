import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs'

const LOG_BYTES_MAX = 10 * 1024 * 1024

/** The server's log, open for appending, and a way to read what was written since. */
export type LogFile = { descriptor: number; readNew(): string; close(): void }

/** Opens the log. A log that has grown large is set aside first, replacing the one set aside before. */
export function openLogFile(path: string): LogFile {
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.1`)
  const descriptor = openSync(path, 'a+', 0o600)
  const start = fstatSync(descriptor).size
  return {
    descriptor,
    readNew: () => {
      const length = Math.min(fstatSync(descriptor).size - start, 64 * 1024)
      const bytes = Buffer.alloc(Math.max(length, 0))
      readSync(descriptor, bytes, 0, bytes.length, start)
      return bytes.toString('utf8')
    },
    close: () => closeSync(descriptor),
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives the whole suite one folder for the programs of threads; see typescript-loader.js. */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-threads-'))
  process.env.TEST_THREADS_FOLDER = folder
  return () => {
    delete process.env.TEST_THREADS_FOLDER
    rmSync(folder, { recursive: true, force: true })
  }
}

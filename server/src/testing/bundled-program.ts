import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * Returns the path of a compiled program, joined with all its modules. It behaves as the program does, and starts in a third of
 * the time: the suite starts some programs more than a hundred times. The test files of a run share the joined program.
 *
 * @param program a compiled file, such as `server/dist/cli/cli.js`
 */
export async function bundledProgram(program: string): Promise<string> {
  const folder = join(process.env.TEST_THREADS_FOLDER!, program.replaceAll(/\W/g, '-'))
  const joined = join(folder, 'program.js')
  if (!existsSync(joined)) {
    const bundler = join(root, 'tests/setup/bundle-program.js')
    await promisify(execFile)(process.execPath, [bundler, join(root, program), folder])
  }
  return joined
}

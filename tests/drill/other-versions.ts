import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'oxc-transform'
import { copyWithMigrations, linkModules } from '../torture/server-copy.ts'

const repository = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The version before, until there is a release: the last commit whose schema lacks what this version adds. Set it to the last release
 * with each release. Its epoch must be that of this version, or it may not run beside it.
 */
const previousCommit = '923bb564e08eb10830f6427723741bdf733a9396'

/** A compiled server: what a node runs, and the command line. */
type ServerBuild = { main: string; cli: string; remove(): void }

export const presentBuild = buildAt(join(repository, 'server'))

/** Compiles the server of `previousCommit`. Without the history of the repository it is the present one. */
export function buildPrevious(): ServerBuild & { isPrevious: boolean } {
  const isThere = spawnSync('git', ['cat-file', '-e', `${previousCommit}^{commit}`], { cwd: repository }).status === 0
  if (!isThere) return { ...presentBuild, isPrevious: false }
  const root = mkdtempSync(join(tmpdir(), 'strongroom-previous-'))
  const source = execFileSync('git', ['archive', previousCommit, 'server'], { cwd: repository, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', root], { input: source })
  linkModules(join(repository, 'server'), root)
  compile(join(root, 'server/src'), join(root, 'server/dist'))
  const remove = () => rmSync(root, { recursive: true, force: true })
  return { ...buildAt(join(root, 'server'), remove), isPrevious: true }
}

/** The present server with a further migration, as the next version may have it. */
export function buildNext(migration: string): ServerBuild {
  const { serverDir, remove } = copyWithMigrations(join(repository, 'server'), [migration])
  return buildAt(serverDir, remove)
}

function buildAt(folder: string, remove = () => {}): ServerBuild {
  return { main: join(folder, 'dist/main.js'), cli: join(folder, 'dist/cli/cli.js'), remove }
}

/** Compiles each file by itself, without a check of types: that commit was checked when it was made. */
function compile(source: string, target: string): void {
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const [from, to] = [join(source, name), join(target, name)]
    if (/\.test\.ts$|(^|\/)testing\//.test(name) || !/\.\w+$/.test(name)) continue
    mkdirSync(dirname(to), { recursive: true })
    if (!name.endsWith('.ts')) {
      cpSync(from, to, { recursive: true })
      continue
    }
    const options = { typescript: { rewriteImportExtensions: 'rewrite' as const } }
    const { code, errors } = transformSync(from, readFileSync(from, 'utf8'), options)
    if (errors.length > 0) throw new Error(`${name} of the previous version does not compile: ${errors[0]!.message}`)
    writeFileSync(to.replace(/\.ts$/, '.js'), code)
  }
}

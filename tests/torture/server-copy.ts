import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A temporary copy of the built server, with its dependencies. */
export type ServerCopy = { serverDir: string; remove(): void }

export function copyServer(serverDir: string): ServerCopy {
  const root = mkdtempSync(join(tmpdir(), 'strongroom-copy-'))
  const copy = join(root, 'server')
  for (const part of ['package.json', 'bin', 'dist'])
    cpSync(join(serverDir, part), join(copy, part), { recursive: true })
  linkModules(serverDir, root)
  return { serverDir: copy, remove: () => rmSync(root, { recursive: true, force: true }) }
}

/** Links the dependencies of another server into this folder. */
export function linkModules(serverDir: string, root: string): void {
  for (const [from, to] of [
    [join(serverDir, 'node_modules'), join(root, 'server/node_modules')],
    [join(serverDir, '../node_modules'), join(root, 'node_modules')],
  ] as const) {
    if (existsSync(from)) symlinkSync(from, to)
  }
}

/**
 * Returns a copy of the server with further migrations, as a later version would have them. The migrations are named by
 * their order.
 */
export function copyWithMigrations(serverDir: string, migrations: string[]): ServerCopy {
  const copy = copyServer(serverDir)
  for (const [index, migration] of migrations.entries()) {
    const name = `${9_001 + index}-of-a-next-version.sql`
    writeFileSync(join(copy.serverDir, 'dist/db/migrations', name), migration)
  }
  return copy
}

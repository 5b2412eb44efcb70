// npm run release -- major|minor|patch|<version> [--dry-run]: prepares a release in the files of the working tree, and
// prints the commands that commit and tag it.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { bumpLock, bumpManifest, dateChangelog, nextVersion } from './version.js'

const usage = 'usage: npm run release -- major|minor|patch|<version> [--dry-run]'

try {
  release(process.argv.slice(2))
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}

function release(args) {
  const isDry = args.includes('--dry-run')
  const [wanted, ...others] = args.filter((arg) => arg !== '--dry-run')
  if (wanted === undefined || others.length > 0) throw new Error(usage)
  const root = readJson('package.json')
  const version = nextVersion(root.version, wanted)
  const tag = `v${version}`
  if (git('status', '--porcelain') !== '') throw new Error('the working tree has changes; commit or undo them first')
  if (git('tag', '--list', tag) !== '') throw new Error(`the tag ${tag} exists`)

  const changed = changedFiles(root, version)
  for (const [path, text] of changed) {
    console.log(`${isDry ? 'would write' : 'wrote'} ${path}`)
    if (!isDry) writeFileSync(path, text)
  }
  console.log(`\nThen, once npm run check passes:\n`)
  console.log(`  git commit -am "release: ${version}"`)
  console.log(`  git tag -a ${tag} -m "Strongroom ${version}"`)
}

/** Returns the path and the new text of every file that names the version. */
function changedFiles(root, version) {
  const folders = root.workspaces
  const manifests = folders.map((folder) => [`${folder}/package.json`, readJson(`${folder}/package.json`)])
  const names = manifests.map(([, { name }]) => name)
  const openApi = readJson('openapi.json')
  const today = new Date().toISOString().slice(0, 10)
  return [
    ...[['package.json', root], ...manifests].map(([path, manifest]) => [
      path,
      toText(bumpManifest(manifest, version, names)),
    ]),
    ['package-lock.json', toText(bumpLock(readJson('package-lock.json'), version, folders, names))],
    // The service writes this document in the same way, with the version of its package.
    ['openapi.json', toText({ ...openApi, info: { ...openApi.info, version } })],
    // The SDK is published with its own changelog.
    ...['CHANGELOG.md', 'sdk/CHANGELOG.md'].map((path) => [
      path,
      dateChangelog(readFileSync(path, 'utf8'), version, today, path),
    ]),
  ]
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function toText(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}

// The changes of a release in texts: versions and the changelog. This module neither reads nor writes files.

const levels = ['major', 'minor', 'patch']

/**
 * Returns the version of the release.
 * @param {string} current such as 0.1.0
 * @param {string} wanted major, minor or patch; or a version that is not below the current one
 * @returns {string}
 */
export function nextVersion(current, wanted) {
  const parts = numbersOf(current)
  const level = levels.indexOf(wanted)
  if (level !== -1) return parts.map((part, index) => (index < level ? part : index === level ? part + 1 : 0)).join('.')
  const differing = numbersOf(wanted)
    .map((part, index) => part - parts[index])
    .find((difference) => difference !== 0)
  if (differing !== undefined && differing < 0) throw new Error(`${wanted} is below the current version, ${current}`)
  return wanted
}

function numbersOf(version) {
  const found = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(version)
  if (found === null) throw new Error(`${version} is neither a version such as 1.2.3 nor one of ${levels.join(', ')}`)
  return found.slice(1).map(Number)
}

/** Returns a manifest with the new version, for itself and for the workspaces that it depends on. */
export function bumpManifest(manifest, version, workspaces) {
  return { ...manifest, version, ...bumpDependencies(manifest, version, workspaces) }
}

/** Returns the lock file with the new version, as the manifests of the workspaces have it. */
export function bumpLock(lock, version, folders, workspaces) {
  const packages = Object.entries(lock.packages).map(([path, entry]) =>
    path === '' || folders.includes(path) ? [path, bumpManifest(entry, version, workspaces)] : [path, entry],
  )
  return { ...lock, version, packages: Object.fromEntries(packages) }
}

function bumpDependencies(manifest, version, workspaces) {
  const kinds = ['dependencies', 'devDependencies'].filter((kind) => manifest[kind] !== undefined)
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      Object.fromEntries(
        Object.entries(manifest[kind]).map(([name, range]) => [name, workspaces.includes(name) ? version : range]),
      ),
    ]),
  )
}

/**
 * Returns the changelog with the unreleased entries under the version and its date.
 * @param {string} date YYYY-MM-DD
 */
export function dateChangelog(changelog, version, date, path = 'CHANGELOG.md') {
  const heading = '## Unreleased\n'
  const start = changelog.indexOf(heading)
  if (start === -1) throw new Error(`${path} has no section Unreleased`)
  const after = changelog.slice(start + heading.length)
  const section = after.split(/^## /m)[0]
  if (!/^- /m.test(section)) throw new Error(`${path} lists nothing under Unreleased`)
  return `${changelog.slice(0, start)}${heading}\n## ${version} (${date})\n${after}`
}

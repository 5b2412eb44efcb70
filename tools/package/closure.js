// Finds the packages that the programs of an archive need at run time, in package-lock.json.

const programs = ['server', 'wallet', 'conformance']
/** Returns true if a package is for this platform. The archive has no optional packages of other platforms. */
const isOfPlatform = ({ os, cpu, libc }) =>
  (os === undefined || os.includes('linux')) &&
  (cpu === undefined || cpu.includes('x64')) &&
  (libc === undefined || libc.includes('glibc'))

/**
 * @param {{ packages: Record<string, object> }} lock package-lock.json
 * @returns {Map<string, { entry: object, needs: string[] }>} each folder with its entry and the folders that it needs, sorted
 */
export function findClosure({ packages }) {
  const found = new Map()
  const visit = (path) => {
    const entry = packages[path]
    if (entry.link === true) return visit(entry.resolved)
    if (found.has(path)) return path
    const node = { entry, needs: [] }
    found.set(path, node)
    for (const name of namesNeeded(entry)) {
      const place = resolve(packages, path, name)
      if (place === null) {
        if (entry.optionalDependencies?.[name] !== undefined) continue
        throw new Error(`${path} needs ${name}, which package-lock.json does not have`)
      }
      if (isOfPlatform(packages[place])) node.needs.push(visit(place))
    }
    node.needs.sort()
    return path
  }
  for (const program of programs) visit(program)
  return new Map([...found].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function namesNeeded({
  dependencies = {},
  optionalDependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
}) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])]
}

/** Returns the folder that Node.js would find from `path`: the nearest node_modules with the package. */
function resolve(packages, path, name) {
  for (let folder = path; ; folder = parentOf(folder)) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') return null
  }
}

const parentOf = (path) => (path.includes('/node_modules/') ? path.slice(0, path.lastIndexOf('/node_modules/')) : '')

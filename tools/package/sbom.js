/**
 * Describes the parts of an archive as CycloneDX 1.6 (https://cyclonedx.org). The document has no serial number and no
 * other time, so that the same commit gives the same bytes.
 * @param {{ version: string, commit: string | null, time: Date, closure: ReturnType<typeof
 * import('./closure.js').findClosure> }} archive
 */
export function describeParts({ version, commit, time, closure }) {
  const packages = [...closure].map(([path, { entry, needs }]) => ({ path, entry, needs, ref: refOf(path, entry) }))
  const refs = new Map(packages.map(({ path, ref }) => [path, ref]))
  const root = `strongroom@${version}`
  const programs = packages.filter(({ path }) => !path.includes('node_modules/'))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: time.toISOString(),
      component: {
        'bom-ref': root,
        type: 'application',
        name: 'strongroom',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        ...(commit === null ? {} : { properties: [{ name: 'strongroom:commit', value: commit }] }),
      },
    },
    components: packages.map(describePackage),
    dependencies: [
      { ref: root, dependsOn: programs.map(({ ref }) => ref) },
      ...packages.map(({ ref, needs }) => ({ ref, dependsOn: [...new Set(needs.map((path) => refs.get(path)))] })),
    ],
  }
}

const nameOf = (path, { name }) => name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Returns the reference of a package. It contains the path, because a package may be installed at two places. */
const refOf = (path, entry) => `${nameOf(path, entry)}@${entry.version}|${path}`

function describePackage({ path, entry, ref }) {
  const name = nameOf(path, entry)
  const [scope, base] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const group = scope === undefined ? {} : { group: scope }
  const purl = `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${base}@${entry.version}`
  return {
    'bom-ref': ref,
    type: 'library',
    ...group,
    name: base,
    version: entry.version,
    purl,
    ...(entry.license === undefined ? {} : { licenses: [describeLicense(entry.license)] }),
    ...(entry.integrity === undefined ? {} : { hashes: [describeHash(entry.integrity)] }),
    properties: [{ name: 'strongroom:path', value: path }],
  }
}

/** Describes a license: a single word is an id, several with operators are an expression. */
const describeLicense = (license) =>
  /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license.replace(/^\((.*)\)$/, '$1') }

/** Describes the SHA-512 of the package as the registry has it. */
const describeHash = (integrity) => ({
  alg: 'SHA-512',
  content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
})

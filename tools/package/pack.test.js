import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findClosure } from './closure.js'
import { findStale } from './find-stale.js'
import { pack } from './pack.js'
import { describeParts } from './sbom.js'

const commit = 'c0ffee'.padEnd(40, '0')
const time = new Date('2026-01-31T09:30:00Z')
const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const lock = {
  packages: {
    '': { name: 'strongroom', version: '1.2.3' },
    server: {
      name: '@strongroom/server',
      version: '1.2.3',
      dependencies: { left: '1', '@strongroom/console': '1.2.3', '@expo-google-fonts/noto': '1' },
    },
    wallet: { name: '@strongroom/wallet', version: '1.2.3', devDependencies: { only: '1' } },
    conformance: { name: '@strongroom/wallet-conformance', version: '1.2.3', dependencies: { right: '1' } },
    console: { name: '@strongroom/console', version: '1.2.3', devDependencies: { only: '1' } },
    'node_modules/@strongroom/console': { resolved: 'console', link: true },
    'node_modules/@expo-google-fonts/noto': { version: '1.0.0' },
    'node_modules/left': {
      version: '1.0.0',
      license: 'MIT',
      integrity,
      dependencies: { right: '2' },
      optionalDependencies: { 'for-mac': '1', 'for-linux': '1', 'not-there': '1' },
    },
    'node_modules/left/node_modules/right': { version: '2.0.0', license: '(MIT OR Apache-2.0)' },
    'node_modules/right': { version: '1.0.0', peerDependencies: { peer: '1' } },
    'node_modules/peer': { version: '1.0.0' },
    'node_modules/for-mac': { version: '1.0.0', optional: true, os: ['darwin'] },
    'node_modules/for-linux': { version: '1.0.0', optional: true, os: ['linux'], cpu: ['x64'] },
    'node_modules/only': { version: '1.0.0', dev: true },
  },
}

let root

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'strongroom-pack-'))
  const files = {
    'package.json': JSON.stringify({ version: '1.2.3' }),
    'package-lock.json': JSON.stringify(lock),
    LICENSE: 'Apache-2.0',
    'CHANGELOG.md': '# Changelog',
    'tools/package/bin/strongroom': '#!/bin/sh\n',
    'docs/alerts.yaml': 'groups: []\n',
    'docs/dashboard.json': '{}\n',
    'deploy/linux/strongroom.service': '[Service]\n',
    'server/bin/strongroom.js': '',
    'server/src/main.ts': '',
    'server/src/main.test.ts': '',
    'server/src/testing/app.ts': '',
    'server/src/modules/reports/pdf/pdf-scripts.ts': '',
    'server/src/db/roles.sql': 'select 1',
    'server/dist/main.js': '',
    'server/dist/modules/reports/pdf/pdf-scripts.js': `['@expo-google-fonts/noto/400Regular/Noto.ttf']`,
    'server/dist/main.js.map': '',
    'server/dist/main.d.ts': '',
    'server/dist/main.test.js': '',
    'server/dist/testing/app.js': '',
    'server/dist/renamed-since.js': '',
    'server/dist/bundled/run-server.js': '',
    'server/dist/db/roles.sql': 'select 1',
    'console/dist/index.html': '<!doctype html>',
    'console/dist/built': '',
    'node_modules/@expo-google-fonts/noto/400Regular/Noto.ttf': '',
    'node_modules/@expo-google-fonts/noto/400Regular/Noto.ttf.png': '',
    'node_modules/@expo-google-fonts/noto/900Black/Noto.ttf': '',
    'node_modules/@expo-google-fonts/noto/LICENSE_FONT': '',
    'node_modules/@expo-google-fonts/noto/index.js': '',
    'node_modules/left/index.js': '',
    'node_modules/left/index.d.ts': '',
    'node_modules/left/README.md': '',
    'node_modules/left/LICENSE.md': '',
    'node_modules/left/test/all.js': '',
  }
  for (const path of Object.keys(lock.packages)) {
    const { version, link } = lock.packages[path]
    if (path !== '' && link !== true) files[`${path}/package.json`] = JSON.stringify({ version })
  }
  for (const path of ['wallet/dist', 'conformance/dist']) mkdirSync(join(root, path), { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  symlinkSync('index.js', join(root, 'node_modules/left/link.js'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const list = (archive) => execFileSync('tar', ['-tvzf', archive, '--utc'], { encoding: 'utf8' }).trim().split('\n')

it('an archive has what the programs need at run time, and nothing of tests, types and other platforms', () => {
  const { archive, sums } = pack({ root, output: join(root, 'dist'), commit, time })
  const lines = list(archive)
  const files = lines.filter((line) => !line.startsWith('d')).map((line) => line.replace(/^.*strongroom-1\.2\.3\//, ''))
  expect(files).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'bin/strongroom',
    'conformance/package.json',
    'console/dist/index.html',
    'console/package.json',
    'deploy/linux/strongroom.service',
    'docs/alerts.yaml',
    'docs/dashboard.json',
    'node_modules/@expo-google-fonts/noto/400Regular/Noto.ttf',
    'node_modules/@expo-google-fonts/noto/LICENSE_FONT',
    'node_modules/@expo-google-fonts/noto/package.json',
    ...['conformance', 'console', 'server', 'wallet']
      .map((path) => [path, lock.packages[path].name])
      .sort(([, left], [, right]) => (left < right ? -1 : 1))
      .map(([path, name]) => expect.stringMatching(new RegExp(`^(node_modules/${name} -> )?\\.\\./\\.\\./${path}$`))),
    'node_modules/for-linux/package.json',
    'node_modules/left/LICENSE.md',
    'node_modules/left/index.js',
    expect.stringMatching(/link\.js -> index\.js$/),
    'node_modules/left/node_modules/right/package.json',
    'node_modules/left/package.json',
    'node_modules/peer/package.json',
    'node_modules/right/package.json',
    'sbom.cdx.json',
    'server/bin/strongroom.js',
    'server/commit',
    'server/dist/db/roles.sql',
    'server/dist/main.js',
    'server/dist/modules/reports/pdf/pdf-scripts.js',
    'server/package.json',
    'wallet/package.json',
  ])
  for (const line of lines) expect(line).toMatch(/^\S+ 0\/0 +\d+ 2026-01-31 09:30 strongroom-1\.2\.3\//)
  expect(execFileSync('sha256sum', ['-c', sums], { cwd: join(root, 'dist'), encoding: 'utf8' })).toMatch(
    /: OK\n.*: OK\n/,
  )
})

it('the same commit gives the same bytes, whatever the times and rights of the files are', () => {
  const first = pack({ root, output: join(root, 'first'), commit, time })
  utimesSync(join(root, 'server/dist/main.js'), new Date(), new Date())
  chmodSync(join(root, 'server/dist/main.js'), 0o600)
  const second = pack({ root, output: join(root, 'second'), commit, time })
  for (const name of ['archive', 'sbom', 'sums']) expect(readFileSync(second[name])).toEqual(readFileSync(first[name]))
})

it('the list of parts names each package with its license, its hash and what it needs', () => {
  const { metadata, components, dependencies } = describeParts({
    version: '1.2.3',
    commit,
    time,
    closure: findClosure(lock),
  })
  expect(metadata.component).toMatchObject({ name: 'strongroom', properties: [{ value: commit }] })
  const purls = components.map(({ purl }) => purl)
  expect(purls).toEqual([
    'pkg:npm/%40strongroom/wallet-conformance@1.2.3',
    'pkg:npm/%40strongroom/console@1.2.3',
    'pkg:npm/%40expo-google-fonts/noto@1.0.0',
    'pkg:npm/for-linux@1.0.0',
    'pkg:npm/left@1.0.0',
    'pkg:npm/right@2.0.0',
    'pkg:npm/peer@1.0.0',
    'pkg:npm/right@1.0.0',
    'pkg:npm/%40strongroom/server@1.2.3',
    'pkg:npm/%40strongroom/wallet@1.2.3',
  ])
  const left = components.find(({ name }) => name === 'left')
  expect(left).toMatchObject({
    licenses: [{ license: { id: 'MIT' } }],
    hashes: [{ alg: 'SHA-512', content: '07'.repeat(64) }],
  })
  expect(components.find(({ version }) => version === '2.0.0').licenses).toEqual([{ expression: 'MIT OR Apache-2.0' }])
  const refs = components.map((component) => component['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  for (const { dependsOn } of dependencies) for (const ref of dependsOn) expect(refs).toContain(ref)
  expect(dependencies.find(({ ref }) => ref === left['bom-ref']).dependsOn).toEqual([
    'for-linux@1.0.0|node_modules/for-linux',
    'right@2.0.0|node_modules/left/node_modules/right',
  ])
})

it('a package that is missing, or of another version than the lock file says, is named', () => {
  expect(findStale(root, findClosure(lock))).toEqual([])
  writeFileSync(join(root, 'node_modules/right/package.json'), '{"version": "0.9.0"}')
  rmSync(join(root, 'node_modules/peer'), { recursive: true })
  expect(findStale(root, findClosure(lock))).toEqual([
    'node_modules/peer is missing, and package-lock.json has 1.0.0',
    'node_modules/right is 0.9.0, and package-lock.json has 1.0.0',
  ])
})

it('a dependency that the lock file does not have is not an archive', () => {
  const { 'node_modules/peer': _, ...packages } = lock.packages
  expect(() => findClosure({ packages })).toThrow('node_modules/right needs peer')
})

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProject } from '../../server/src/testing/build-project.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const kit = join(root, 'conformance')
const { name, dependencies } = JSON.parse(readFileSync(join(kit, 'package.json'), 'utf8'))

let project: string
let paths: string[]

/** Makes a project that has installed only the published package and its dependencies. */
beforeAll(() => {
  buildProject('build:server')
  project = mkdtempSync(join(tmpdir(), 'strongroom-conformance-'))
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', project]
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: kit, encoding: 'utf8' }))
  paths = packed.files.map(({ path }: { path: string }) => path)
  const installed = join(project, 'node_modules', name)
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['xzf', join(project, packed.filename), '-C', installed, '--strip-components=1'])
  for (const dependency of Object.keys(dependencies)) {
    const link = join(project, 'node_modules', dependency)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', dependency), link)
  }
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

it('holds the program, its license and its README, and no test', () => {
  const others = paths.filter((path) => !path.startsWith('dist/')).sort()
  expect(others).toEqual(['LICENSE', 'README.md', 'bin/strongroom-wallet-conformance.js', 'package.json'])
  expect(paths.filter((path) => /\.test\.|\.map$|tsbuildinfo/.test(path))).toEqual([])
  expect(readFileSync(join(kit, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
})

it('runs without the service', () => {
  expect(Object.keys(dependencies).filter((dependency) => dependency.startsWith('@strongroom/'))).toEqual([
    '@strongroom/sdk',
  ])
  const program = join(project, 'node_modules', name, 'bin/strongroom-wallet-conformance.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--list'], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout).toMatch(/^auth\.missing-token {2}Every operation/m)
})

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dateChangelog, nextVersion } from './version.js'

const project = new URL('../../', import.meta.url).pathname
const script = new URL('release.js', import.meta.url).pathname
const workspaces = ['server', 'wallet', 'sdk', 'conformance', 'demo', 'console']
const files = ['package.json', 'package-lock.json', 'openapi.json', ...workspaces.map((name) => `${name}/package.json`)]

const changelogs = ['CHANGELOG.md', 'sdk/CHANGELOG.md']

/** A repository with those files of the project that a release changes. */
let folder

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'strongroom-release-'))
  for (const name of workspaces) mkdirSync(join(folder, name))
  for (const path of files) cpSync(join(project, path), join(folder, path))
  for (const path of changelogs) {
    writeFileSync(join(folder, path), '# Changelog\n\n## Unreleased\n\n### Added\n\n- Something.\n')
  }
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'files: as they are')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function git(...args) {
  const identity = ['-c', 'user.name=Release', '-c', 'user.email=release@example.org', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' })
}

const release = (...args) => spawnSync('node', [script, ...args], { cwd: folder, encoding: 'utf8' })
const read = (path) => readFileSync(join(folder, path), 'utf8')

describe('npm run release', () => {
  it('--dry-run names every file and the tag, and writes nothing', () => {
    const { status, stdout, stderr } = release('99.0.0', '--dry-run')
    expect([status, stderr]).toEqual([0, ''])
    for (const path of [...files, ...changelogs]) expect(stdout).toContain(`would write ${path}\n`)
    expect(stdout).toContain('git tag -a v99.0.0')
    expect(git('status', '--porcelain')).toBe('')
  })

  it('writes the version wherever it stands, and changes nothing else', () => {
    const before = JSON.parse(read('package.json')).version
    const next = nextVersion(before, 'minor')
    expect(release('minor').status).toBe(0)
    for (const path of files) {
      const original = readFileSync(join(project, path), 'utf8')
      const [old, current] = [original, read(path)].map((text) => text.split('\n'))
      const changed = old.filter((line, index) => line !== current[index])
      expect(current.length).toBe(old.length)
      expect(changed.length).toBeGreaterThan(0)
      expect(changed.filter((line) => !line.includes(`"${before}"`))).toEqual([])
      expect(changed.map((line) => line.replace(before, next))).toEqual(
        current.filter((line, index) => line !== old[index]),
      )
    }
    expect(JSON.parse(read('demo/package.json')).dependencies['@strongroom/server']).toBe(next)
    expect(read('CHANGELOG.md')).toMatch(
      new RegExp(`^# Changelog\n\n## Unreleased\n\n## ${next} \\(\\d{4}-\\d\\d-\\d\\d\\)\n\n### Added`),
    )
  })

  it.each([
    [
      'changes that are not committed',
      () => writeFileSync(join(folder, 'new.txt'), ''),
      'the working tree has changes',
    ],
    ['a tag that exists', () => git('tag', 'v99.0.0'), 'the tag v99.0.0 exists'],
    [
      'an empty changelog',
      () => {
        writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n## 0.0.1\n\n- Old.\n')
        git('commit', '--quiet', '-am', 'changelog: empty')
      },
      'lists nothing under Unreleased',
    ],
  ])('refuses %s', (_, prepare, message) => {
    prepare()
    const before = git('status', '--porcelain')
    const { status, stderr } = release('99.0.0')
    expect(status).toBe(1)
    expect(stderr).toContain(message)
    expect(git('status', '--porcelain')).toBe(before)
  })

  it.each([[], ['minor', 'patch'], ['next'], ['0.0.1']])('refuses to be called with %j', (...args) => {
    expect(release(...args).status).toBe(1)
  })
})

it.each([
  ['1.2.3', 'major', '2.0.0'],
  ['1.2.3', 'minor', '1.3.0'],
  ['1.2.3', 'patch', '1.2.4'],
  ['0.1.0', '0.1.0', '0.1.0'],
  ['1.9.0', '1.10.0', '1.10.0'],
])('after %s, %s is %s', (current, wanted, next) => {
  expect(nextVersion(current, wanted)).toBe(next)
})

it('dates what was unreleased and leaves older sections alone', () => {
  const dated = dateChangelog('## Unreleased\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- Old.\n', '1.1.0', '2026-02-01')
  expect(dated).toBe('## Unreleased\n\n## 1.1.0 (2026-02-01)\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- Old.\n')
})

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeStartFailure } from './describe-start-failure.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a program in a process that takes itself for another version of Node.js. */
function runOn(version, ...args) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const options = { cwd: root, encoding: 'utf8' }
  return spawnSync(process.execPath, ['--import', `data:text/javascript,${pretend}`, ...args], options)
}

it.each([
  ['tools/start/check-node.js', 'Strongroom'],
  ['tools/start/start.js', 'Strongroom'],
  ['server/bin/strongroom.js', 'strongroom'],
  ['wallet/bin/strongroom-wallet.js', 'strongroom-wallet'],
  ['conformance/bin/strongroom-wallet-conformance.js', 'strongroom-wallet-conformance'],
])('%s says first that Node.js is too old, and does nothing else', (program, name) => {
  for (const version of ['18.20.8', '20.18.3']) {
    const { status, stdout, stderr } = runOn(version, program, '--version')
    const sentence = `${name}: Node.js 20.19 or newer is needed; this is ${version}\n`
    expect([status, stdout, stderr]).toEqual([1, '', sentence])
  }
})

it.each(['20.19.0', '22.0.0', '24.21.0', '26.10.0'])('Node.js %s is new enough', (version) => {
  const { status, stderr } = runOn(version, 'tools/start/check-node.js')
  expect([status, stderr]).toEqual([0, ''])
})

it.each(['EACCES', 'EPERM', 'EROFS'])('a start in a checkout that cannot be written (%s) says what to do', (code) => {
  const path = '/srv/strongroom/server/dist/main.js.7'
  const failure = describeStartFailure(Object.assign(new Error(`${code}: open '${path}'`), { code, path }))
  expect(failure).toContain(`/srv/strongroom/server/dist cannot be written (${code})`)
  expect(failure).toContain('set DATA_DIR')
})

it('another failure of a start is described by its message', () => {
  expect(describeStartFailure(new Error('the console cannot be built'))).toBe('the console cannot be built')
  const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' })
  expect(describeStartFailure(missing)).toBe('Cannot find package \'pg\'; run "npm ci" first')
})

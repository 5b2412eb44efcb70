import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildProject } from '../server/src/testing/build-project.ts'
import { allowTransfers, createGovernanceBench, type GovernanceBench } from '../server/src/testing/governance-bench.ts'
import { untilSessionsWait } from '../server/src/testing/lock-waits.ts'

const hour = 3_600_000
const program = fileURLToPath(new URL('../server/bin/strongroom.js', import.meta.url))
const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-delayed-'))

let bench: GovernanceBench
let node: ChildProcess | undefined

beforeAll(async () => {
  buildProject('build:server')
  bench = await createGovernanceBench()
  // All of it three hours ago, so that the delay of an hour is over by the time of the machine.
  bench.test.clock.advance(-3 * hour)
  await bench.govern({ looseningDelayHours: 1 })
})
afterAll(async () => {
  node?.kill('SIGKILL')
  await bench.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The service as a process of its own, by the time of the machine, on the database of the bench. */
async function startNode(): Promise<ChildProcess> {
  const { PATH } = process.env
  const { databaseUrl, deps } = bench.test
  const settings = { DEMO: 'true', PORT: '0', CONSOLE: 'off', LOG_LEVEL: 'silent', DATA_DIR: dataDir }
  const env = {
    PATH,
    ...settings,
    DATABASE_URL: databaseUrl,
    STRONGROOM_SECRET_KEY: deps.config.secretKey ?? undefined,
  }
  const started = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await Promise.race([once(started, 'message'), once(started, 'exit').then(() => expect.fail('It did not start'))])
  return started
}

it('a delayed change survives kill -9 of the node that applies it, and runs once', async () => {
  const { clock, deps } = bench.test
  const payload = { ...allowTransfers, code: 'delayed', name: 'Delayed' }
  const { body: draft } = await bench.draft([{ action: 'policy_create', targetId: bench.membersId, payload }])
  const { body: submitted } = await bench.submit(draft.id)
  for (const admin of bench.admins.slice(1, 3)) await bench.approve(admin, submitted.request.id)
  expect(await bench.changeSet(draft.id)).toMatchObject({ status: 'scheduled' })
  clock.advance(3 * hour)
  const before = await bench.versions()

  // The group is locked by somebody else, so the node stands still in the middle of its transaction.
  await deps.db.transaction().execute(async (trx) => {
    await trx.selectFrom('policy_groups').select('id').where('id', '=', bench.membersId).forUpdate().execute()
    node = await startNode()
    await untilSessionsWait(deps.db, 1)
    const gone = once(node, 'exit')
    node.kill('SIGKILL')
    await gone
  })
  expect(await bench.changeSet(draft.id)).toMatchObject({ status: 'scheduled' })
  expect(await bench.versions()).toHaveLength(before.length)

  node = await startNode()
  await expect.poll(async () => (await bench.changeSet(draft.id)).status).toBe('applied')
  // A second node that starts afterwards finds nothing to do.
  const second = await startNode()
  const gone = once(second, 'exit')
  second.kill('SIGTERM')
  await gone
  expect(await bench.versions()).toHaveLength(before.length + 1)
})

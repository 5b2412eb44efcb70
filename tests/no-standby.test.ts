import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judge } from '../server/src/jobs/watch/checks.ts'
import { readSamples } from '../server/src/jobs/watch/samples.ts'
import { createTestApp, type Person, type TestApp } from '../server/src/testing/app.ts'
import { type ReplicatedDatabase, startReplicatedDatabase } from '../server/src/testing/replicated-database.ts'

let cluster: ReplicatedDatabase
let test: TestApp
let person: Person
let stopHeartbeat = async () => {}

beforeAll(async () => {
  cluster = await startReplicatedDatabase()
  await cluster.waitForReplica(true)
  test = await createTestApp({ LOG_LEVEL: 'warn' })
  person = await test.signIn('person@example.org')
})
afterAll(async () => {
  await cluster.waitForReplica(false)
  await stopHeartbeat()
  await test.close()
  await cluster.close()
})

const ageOf = async () =>
  (await readSamples(test.deps)).find(({ gauge }) => gauge === 'strongroom_heartbeat_age_seconds')!.value
const write = (color: string) => person.patch('/users/me', { color })

/** Measures what a request returns and how long it takes. */
async function timed<Result>(work: Promise<Result>): Promise<Result & { ms: number }> {
  const startedAt = performance.now()
  const result = await work
  return { ...result, ms: performance.now() - startedAt }
}

describe('a database whose only standby is away', () => {
  it('confirms changes while the standby is there', async () => {
    await expect.poll(async () => (await test.anonymous.get('//readyz?write=true')).status).toBe(200)
    expect((await write('#abc')).status).toBe(200)
    for (const url of ['//readyz?write=true', '//readyz?write'] as const) {
      expect((await test.anonymous.get(url)).status).toBe(200)
    }
    expect(await ageOf()).toBeLessThan(12)
  })

  it('answers the changes under way as unknown within seconds, and reads beside them', async () => {
    await cluster.stopReplica()
    const writes = Array.from({ length: 30 }, (_, i) => timed(write(`#${100 + i}`)))
    const reads = Array.from({ length: 30 }, () => timed(person.get('/users/me')))
    const answers = await Promise.all(writes)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    expect(answers.map(({ body }) => body.reason)).toContain('outcome_unknown')
    // Without the end of a wait after three seconds each wave of changes takes ten, and reads wait for it.
    for (const { status, ms } of await Promise.all(reads)) {
      expect(status).toBe(200)
      expect(ms).toBeLessThan(10_000)
    }
    for (const { ms } of answers) expect(ms).toBeLessThan(15_000)
  })

  it('refuses changes at once after that, and answers reads', async () => {
    stopHeartbeat = test.deps.heartbeat.start()
    const change = await timed(write('#def'))
    expect([change.status, change.body.reason, change.headers['retry-after']]).toEqual([
      503,
      'database_unreachable',
      '5',
    ])
    expect(change.ms).toBeLessThan(1_000)
    const before = test.clock.now()
    // The session of a reader is due for a longer life, which is a change too.
    test.clock.advance(2 * 3_600_000)
    expect(test.clock.now().getTime()).toBeGreaterThan(before.getTime())
    expect((await person.get('/users/me')).status).toBe(200)
  })

  it('says so: by readiness for changes, by the age of the heartbeat, and once in the log', async () => {
    expect((await test.anonymous.get('//readyz')).status).toBe(200)
    expect((await test.anonymous.get('//readyz?write=true')).status).toBe(503)
    await expect.poll(ageOf).toBeGreaterThan(8)
    const red = (age: number) =>
      judge([{ gauge: 'strongroom_heartbeat_age_seconds', labels: {}, value: age }])
        .filter(({ red }) => red.length > 0)
        .map(({ check }) => check.alert)
    expect([red(29), red(31)]).toEqual([[], ['StrongroomWritesUnconfirmed']])
    expect(test.logged.filter((line) => line.includes('no standby confirms commits'))).toHaveLength(1)
  })

  it('takes changes again when the standby is back', async () => {
    await cluster.startReplica()
    await expect.poll(async () => (await write('#123')).status, { interval: 200 }).toBe(200)
    expect((await test.anonymous.get('//readyz?write=true')).status).toBe(200)
    await expect.poll(ageOf).toBeLessThan(6)
  })
})

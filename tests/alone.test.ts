import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Person } from '../server/src/testing/app.ts'
import { describedApiOf } from '../server/src/testing/described-api.ts'
import { type Pick, picker } from '../server/src/testing/rules-model.ts'
import { type Draw, drawsOf, lookAround, writingOperations } from './alone/requests.ts'
import { rightsIn } from './alone/rights.ts'
import { createSnapshot, type Snapshot } from './alone/snapshot.ts'
import { answersOf, createWorld, type World } from './alone/world.ts'

/**
 * One administrator, one platform administrator, both together or a service, who send whatever the API takes, in any order. What
 * anybody may do or see never grows, the others can still change the rules, and no order is decided less strictly.
 */
let world: World
let draws: Map<string, Draw>
let snapshot: Snapshot

const sequences = Number(process.env.ALONE_RUNS ?? 12)
const firstSeed = Number(process.env.ALONE_SEED ?? 1)
const callsMax = 30

beforeAll(async () => {
  world = await createWorld()
  const document = describedApiOf(world.bench.test.app)
  const readers = [world.bench.vault.admin, world.alone.administrator, world.alone.platform]
  const seen = await lookAround(document, world.bench.vault.code, readers)
  draws = drawsOf(document, seen)
  expect(draws.size).toBe(writingOperations(document).length)
  snapshot = await createSnapshot(world.bench)
}, 120_000)
afterAll(() => world.bench.close())

const actors: ((alone: World['alone'], pick: Pick) => Person)[] = [
  ({ administrator }) => administrator,
  ({ platform }) => platform,
  ({ administrator, platform }, pick) => pick([administrator, platform]),
  ({ service }) => service,
]

it(`T83 nothing that one person sends gives anybody a right, locks others out or permits more, in ${sequences} sequences`, async () => {
  const { bench, alone } = world
  const { db } = bench.test.deps
  const people = [alone.administrator.userId, alone.platform.userId]
  const since = bench.test.clock.now()
  const rights = await rightsIn(db, bench.vault.id, people, since)
  const answers = await answersOf(world)
  expect(new Set(answers).size).toBeGreaterThan(2)
  const done = new Set<string>()
  console.log(
    `alone: seeds ${firstSeed} to ${firstSeed + sequences - 1}, ${draws.size} operations, ${answers.length} questions`,
  )
  for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
    const pick = picker(seed)
    const actor = actors[seed % actors.length]!
    const log: string[] = []
    for (let call = 0; call < callsMax; call += 1) {
      const draw = pick([...draws.values()])
      const { operationId, method, path, body } = draw(pick)
      if (signsOut.has(operationId)) continue
      const by = actor(alone, pick)
      const answer = await by.send(method, path as '/vaults', body)
      expect(answer.status, `${operationId} ${JSON.stringify(body)} ${JSON.stringify(answer.body)}`).not.toBe(500)
      if (answer.status >= 300) continue
      done.add(operationId)
      log.push(`${operationId} ${path} ${JSON.stringify(body)}: ${answer.status}`)
    }
    const said = `seed ${seed}:\n${log.join('\n')}`
    await bench.applyDue()
    const now = await rightsIn(db, bench.vault.id, people, since)
    expect(
      [...now].filter((right) => !rights.has(right)),
      said,
    ).toEqual([])
    const after = await answersOf(world)
    const looser = after.flatMap((strict, i) =>
      strict < answers[i]! ? [{ ...world.questions[i]!, was: answers[i], is: strict }] : [],
    )
    expect(looser, said).toEqual([])
    await expectQuorum(said)
    await snapshot.restore()
  }
  expect([...done].sort().length).toBeGreaterThan(Math.min(sequences, 20))
})

/** Operations after which the caller has no session any more: the sequence would be over. */
const signsOut = new Set(['signOut', 'revokeSession'])

/** The others are still enough to change the rules. */
async function expectQuorum(said: string): Promise<void> {
  const { bench } = world
  const honest = bench.admins.slice(0, 3).map(({ userId }) => userId)
  const rows = await bench.sql(
    `select u.id from users u join policy_group_memberships m on m.user_id = u.id and m.group_id = $2
     where u.id = any($1) and u.disabled_at is null`,
    [honest, bench.vault.groups.administrators],
  )
  expect(rows.length, said).toBe(honest.length)
}

import { afterAll, beforeAll, expect, it } from 'vitest'
import { describedApiOf } from '../server/src/testing/described-api.ts'
import { createOutbox, type Outbox } from '../server/src/testing/outbox.ts'
import { Campaign, type Sequence } from './alone/campaign.ts'
import { Honest, recoveryMilliseconds } from './alone/honest.ts'
import { rightsIn } from './alone/rights.ts'
import { createSnapshot, type Snapshot } from './alone/snapshot.ts'
import { answersOf, createWorld, type World } from './alone/world.ts'

/**
 * One administrator, one platform administrator, both together or a service, who send whatever the API takes, in any order. What
 * anybody may do or see never grows, no order is decided less strictly, and the others undo all of it.
 */
let world: World
let campaign: Campaign
let snapshot: Snapshot
let outbox: Outbox

/** Ten are a round, which draws every operation. */
const sequences = Number(process.env.ALONE_RUNS ?? 10)
const firstSeed = Number(process.env.ALONE_SEED ?? 1)

beforeAll(async () => {
  outbox = await createOutbox()
  world = await createWorld(outbox.dataDir)
  campaign = await Campaign.of(describedApiOf(world.bench.test.app), world)
  snapshot = await createSnapshot(world.bench)
}, 120_000)
afterAll(async () => {
  await world.bench.close()
  await outbox.remove()
})

/** Operations that nobody who is alone gets through in the vault of the campaign, and why. */
const neverTaken: Record<string, string> = {
  cancelAuthority: 'the wallet service of the vault has no authority',
  lockVault: 'the vault is locked',
  replaceRoutes: 'the vault is locked, and its structure final',
}

it(`T83 nothing that one person sends gives anybody a right, locks others out or permits more, in ${sequences} sequences`, async () => {
  const { bench, alone, since } = world
  const { db } = bench.test.deps
  const people = Object.values(alone).map(({ userId }) => userId)
  const rights = await rightsIn(db, bench.vault.id, people, since)
  const answers = await answersOf(world)
  expect(new Set(answers).size).toBeGreaterThan(2)
  const honest = new Honest(world, outbox)
  const version = (await bench.versions())[0]!.number
  let [calls, taken] = [0, 0]
  const check = async (sequence: Sequence) => {
    const said = `seed ${sequence.seed}, ${sequence.who}:\n${sequence.taken.map(({ text }) => text).join('\n')}`
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
    await honest.recover(version, said)
    await snapshot.restore()
    bench.test.clock.advance(-recoveryMilliseconds)
  }
  for (let seed = firstSeed; seed < firstSeed + sequences; seed += 1) {
    const sequence = await campaign.run(seed)
    calls += sequence.calls
    taken += sequence.taken.length
    await check(sequence)
  }
  console.log(`alone: seeds ${firstSeed} to ${firstSeed + sequences - 1}: ${taken} of ${calls} calls were taken`)
  expect(taken / calls, 'the share of calls that were taken').toBeGreaterThan(0.5)
  if (sequences < 10) return
  await check(await campaign.insist())
  const untaken = campaign.untaken().map(({ operationId }) => operationId)
  const refusals = untaken.map((operationId) => `${operationId}: ${campaign.counts.get(operationId)?.refusal}`)
  expect(untaken.sort(), refusals.join('\n')).toEqual(Object.keys(neverTaken).sort())
}, 3_600_000)

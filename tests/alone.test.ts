import { afterAll, beforeAll, expect, it } from 'vitest'
import { campaignOf } from '../server/src/testing/campaign.ts'
import { describedApiOf } from '../server/src/testing/described-api.ts'
import { createOutbox, type Outbox } from '../server/src/testing/outbox.ts'
import { Campaign, type Sequence } from './alone/campaign.ts'
import { type ChangeLog, columnsReadBy, logChanges } from './alone/columns.ts'
import { columnsOfFacts, factsOfColumn, namedOperations, unnamedOf, unreadOf } from './alone/fact-columns.ts'
import { statementsOfFacts } from './alone/facts.ts'
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
let log: ChangeLog
/** The columns that policies read. */
let read: Set<string>
/** The operations that changed what each fact is read from. */
const seen = new Map<string, Set<string>>()
const isSecond = /\/(approve|confirm)$/
/** Of approval requests, only an agreement on an adjustment is a part of a fact; the vault is one row. */
const ignoredOf = (vaultId: string) => ({
  approval_requests: "(r ->> 'action' <> 'balance_adjust' or r ->> 'status' <> 'applied')",
  vaults: `r ->> 'id' <> '${vaultId}'`,
})

/** Ten are a round, which draws every operation. */
const { runs: sequences, seed: firstSeed } = campaignOf('ALONE', { runs: 10, seed: 1 })

beforeAll(async () => {
  outbox = await createOutbox()
  world = await createWorld(outbox.dataDir)
  const { databaseUrl, app } = world.bench.test
  read = await columnsReadBy(databaseUrl, await statementsOfFacts(world))
  const { id: vaultId } = world.bench.vault
  const tables = new Set(Object.values(columnsOfFacts).flatMap((names) => names.map((name) => name.split('.')[0]!)))
  log = await logChanges(databaseUrl, tables, { vaultId, ignored: ignoredOf(vaultId) })
  campaign = await Campaign.of(describedApiOf(app), world, async ({ operationId, path }) => {
    const changed = await log.take()
    // Another person has asked for what is confirmed or approved.
    if (isSecond.test(path)) return
    for (const fact of [...changed].flatMap(factsOfColumn))
      seen.set(fact, (seen.get(fact) ?? new Set()).add(operationId))
  })
  snapshot = await createSnapshot(world.bench)
})
afterAll(async () => {
  await log.drop()
  await world.bench.close()
  await outbox.remove()
})

/** Operations that nobody who is alone gets through in the vault of the campaign, and why. */
const neverTaken: Record<string, string> = {
  activateIdentityProvider: 'another person must have signed in through the provider first',
  deactivateIdentityProvider: 'no provider is active',
  deactivateDirectory: 'no directory is active',
  decideDirectoryStops: 'no stop of a directory waits',
  enforceIdentityProvider: 'no provider is active',
  removeUserIdentity: 'nobody has an account at a provider',
  removeBreakGlassPerson: 'nobody is a break-glass person before two people agreed',
  cancelAuthority: 'the wallet service of the vault has no authority',
  lockVault: 'the vault is locked',
  replaceRoutes: 'the vault is locked, and its structure final',
}

it('T83 each column that policies read belongs to a fact, or has a reason why not', async () => {
  expect(unnamedOf(read)).toEqual([])
  expect(unreadOf(read)).toEqual([])
  const known = new Set(campaign.drawer.operations.map(({ operationId }) => operationId))
  const operations = Object.values(await namedOperations()).flat()
  expect(operations.length).toBeGreaterThan(0)
  expect(operations.filter((operation) => !known.has(operation))).toEqual([])
})

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
    await log.take()
    const sequence = await campaign.run(seed)
    calls += sequence.calls
    taken += sequence.taken.length
    await check(sequence)
  }
  console.log(`alone: seeds ${firstSeed} to ${firstSeed + sequences - 1}: ${taken} of ${calls} calls were taken`)
  expect(taken / calls, 'the share of calls that were taken').toBeGreaterThan(0.5)
  if (sequences >= 10) {
    await log.take()
    await check(await campaign.insist())
    const untaken = campaign.untaken().map(({ operationId }) => operationId)
    const refusals = untaken.map((operationId) => `${operationId}: ${campaign.counts.get(operationId)?.refusal}`)
    expect(untaken.sort(), refusals.join('\n')).toEqual(Object.keys(neverTaken).sort())
  }
  const named = await namedOperations()
  const unnamed = [...seen].flatMap(([fact, operations]) =>
    [...operations]
      .filter((operation) => !named[fact]?.includes(operation))
      .map((operation) => `${fact}: ${operation}`),
  )
  expect(unnamed, 'what one person did to a fact, and docs/governance.md does not name').toEqual([])
}, 3_600_000)

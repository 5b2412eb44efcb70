import { afterAll, beforeAll, describe, it } from 'vitest'
import { createRandom } from '../server/src/testing/random.ts'
import { drillCases, type RestoreDrill, startRestoreDrill } from './drill/restore-drill.ts'

/** `npm run drill:restore -- --points 20 --seed 7` sets these. */
const points = Number(process.env.DRILL_POINTS ?? 5)
const seed = Number(process.env.DRILL_SEED ?? 33)
const loadMilliseconds = 6_000

let drill: RestoreDrill
beforeAll(async () => {
  drill = await startRestoreDrill(loadMilliseconds)
})
afterAll(() => drill?.close())

describe(`T26 after a restore to a random moment (seed ${seed})`, () => {
  const random = createRandom(seed)
  const cases = Array.from({ length: points }, (_, n) => ({
    n: n + 1,
    kind: drillCases[(n + 1) % drillCases.length]!,
    part: random.below(1_000) / 1_000,
  }))
  it.each(cases)(
    '$n: $kind: books and chain agree, no address is given twice, nothing is paid twice',
    async ({ kind, part }) => {
      const { from, to } = drill.period
      const moment = new Date(from.getTime() + part * (to.getTime() - from.getTime()))
      const lost = await drill.runPoint(kind, moment)
      console.info(`${kind}, ${to.getTime() - moment.getTime()} ms before the end: ${lost}`)
    },
  )
})

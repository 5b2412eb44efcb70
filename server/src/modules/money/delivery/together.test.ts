import { pino } from 'pino'
import { expect, it } from 'vitest'
import { together } from './together.ts'

const log = pino({ level: 'silent' })

it('processes inputs together that arrive during other work of the vault, and answers each input', async () => {
  const done: string[] = []
  const double = together({ log }, async (vaultId, numbers: number[]) => {
    done.push(`${vaultId} ${numbers.join()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    return numbers.map((number) => 2 * number)
  })
  const answers = await Promise.all([1, 2, 3].map((number) => double('a', number)).concat(double('b', 4)))
  expect(answers).toEqual([2, 4, 6, 8])
  expect(done).toEqual(['a 1', 'b 4', 'a 2,3'])
})

it('processes inputs one by one after a common failure, so that only its cause fails', async () => {
  const done: string[] = []
  const work = together({ log }, async (_vaultId, numbers: number[]) => {
    done.push(numbers.join())
    if (numbers.includes(3)) throw new Error('not three')
    return numbers
  })
  const settled = await Promise.allSettled([1, 2, 3, 4].map((number) => work('a', number)))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(settled[2]).toMatchObject({ reason: { message: 'not three' } })
  expect(done).toEqual(['1', '2,3,4', '2', '3', '4'])
})

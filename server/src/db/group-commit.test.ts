import { expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { createGroupCommit } from './group-commit.ts'

/** Returns a commit whose transactions end when `next` is called, and the inputs of each transaction. */
function manual() {
  const batches: number[][] = []
  const going: (() => void)[] = []
  const commit = async (inputs: number[]) => {
    batches.push(inputs)
    await new Promise<void>((resolve) => going.push(resolve))
    if (inputs.includes(13)) throw Object.assign(new Error('numeric field overflow'), { code: '22003' })
    if (inputs.includes(99)) throw Object.assign(new Error('connection lost'), { code: '08006' })
    return inputs.map((input) => input * 10)
  }
  const next = async () => {
    going.shift()!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { batches, commit, next }
}

it('sends the first item at once, and items that arrive meanwhile together', async () => {
  const { batches, commit, next } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 3, inFlightMax: 1, waitingMax: 10 })
  const answers = [1, 2, 3, 4, 5].map(submit)
  expect(batches).toEqual([[1]])
  await next()
  expect(batches).toEqual([[1], [2, 3, 4]])
  await next()
  await next()
  expect(batches).toEqual([[1], [2, 3, 4], [5]])
  expect(await Promise.all(answers)).toEqual([10, 20, 30, 40, 50])
})

it('runs as many transactions at once as it may', () => {
  const { batches, commit } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 3, inFlightMax: 2, waitingMax: 10 })
  for (const input of [1, 2, 3]) void submit(input)
  expect(batches).toEqual([[1], [2]])
})

it('commits the inputs of a failed batch one by one, so that only the invalid input fails', async () => {
  const { batches, commit, next } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 5, inFlightMax: 1, waitingMax: 10 })
  const answers = Promise.allSettled([1, 2, 13, 4].map(submit))
  for (let i = 0; i < 5; i += 1) await next()
  expect(batches).toEqual([[1], [2, 13, 4], [2], [13], [4]])
  expect((await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.code))).toEqual([
    10,
    20,
    '22003',
    40,
  ])
})

it('fails the whole batch when the connection is lost, and tries none of its inputs again', async () => {
  const { batches, commit, next } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 5, inFlightMax: 1, waitingMax: 10 })
  const answers = Promise.allSettled([1, 2, 99, 4].map(submit))
  for (let i = 0; i < 2; i += 1) await next()
  expect(batches).toEqual([[1], [2, 99, 4]])
  expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
})

it('refuses an input with 503 and Retry-After while the queue is full, and takes the next when there is room', async () => {
  const { commit, next } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 5, inFlightMax: 1, waitingMax: 2 })
  const answers = [1, 2, 3].map(submit)
  const refusal = (() => {
    try {
      return submit(4)
    } catch (error) {
      return error
    }
  })() as AppError
  expect(refusal).toBeInstanceOf(AppError)
  expect([refusal.status, refusal.headers]).toEqual([503, { 'retry-after': '1' }])
  await next()
  answers.push(submit(5))
  await next()
  await next()
  expect(await Promise.all(answers)).toEqual([10, 20, 30, 50])
})

it('answers a batch a few inputs at a time, while the next batch is under way', async () => {
  const { batches, commit, next } = manual()
  const { submit } = createGroupCommit({ commit, batchMax: 20, inFlightMax: 1, waitingMax: 50 })
  const first = submit(0)
  let answered = 0
  const batch = Array.from({ length: 20 }, (_, i) => submit(100 + i).then(() => answered++))
  void submit(7)
  await next()
  await first
  await next()
  expect(batches.map(({ length }) => length)).toEqual([1, 20, 1])
  expect(answered).toBeGreaterThan(0)
  expect(answered).toBeLessThan(10)
  await Promise.all(batch)
})

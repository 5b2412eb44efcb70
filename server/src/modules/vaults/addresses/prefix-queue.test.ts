import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { badGateway } from '../../../lib/errors.ts'
import { addressTurnWaitMilliseconds } from '../../../lib/limits.ts'
import { WalletServiceError } from '../../registry/wallet-service/call.ts'
import { inTurn } from './prefix-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Work that ends when the test ends it. */
function held() {
  let resolve: (value: string) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<string>((...both) => {
    ;[resolve, reject] = both
  })
  return { work: vi.fn((_deadline: AbortSignal) => promise), resolve, reject }
}

const outcomeOf = (promise: Promise<unknown>) =>
  promise.then(
    (value) => value,
    (error: { status: number }) => error.status,
  )

describe('turns under a prefix', () => {
  it('come one after the other, in the order of arrival, and other keys do not wait', async () => {
    const [first, second] = [held(), held()]
    const outcomes = [inTurn('a', first.work), inTurn('a', second.work)]
    expect(await inTurn('b', async () => 'at once')).toBe('at once')
    expect(second.work).not.toHaveBeenCalled()
    first.resolve('first')
    second.resolve('second')
    expect(await Promise.all(outcomes)).toEqual(['first', 'second'])
  })

  it('wait some seconds, then are refused with 503; later callers are served', async () => {
    const first = held()
    const done = inTurn('a', first.work)
    const tooLong = outcomeOf(inTurn('a', held().work))
    await vi.advanceTimersByTimeAsync(addressTurnWaitMilliseconds - 1)
    const later = inTurn('a', async () => 'later')
    await vi.advanceTimersByTimeAsync(1)
    expect(await tooLong).toBe(503)
    first.resolve('first')
    expect(await Promise.all([done, later])).toEqual(['first', 'later'])
  })

  it('are refused at once when the wallet service did not answer, and not when it refused', async () => {
    for (const [kind, behind] of [
      ['timeout', 503],
      ['unreachable', 503],
      ['refused', 'served'],
    ] as const) {
      const first = held()
      const outcomes = [outcomeOf(inTurn(kind, first.work)), outcomeOf(inTurn(kind, async () => 'served'))]
      first.reject(badGateway('The wallet service failed', new WalletServiceError(kind, 'no answer')))
      expect(await Promise.all(outcomes)).toEqual([502, behind])
    }
    expect(await inTurn('timeout', async () => 'tried again')).toBe('tried again')
  })
})

import { pino } from 'pino'
import { expect, it } from 'vitest'
import { NodeError } from './chains/node-error.ts'
import { startLoop } from './loop.ts'

it('logs each reason of an outage once, so that a node of another network behind a silent one is named', async () => {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).error) })
  const reasons = ['is silent', 'is silent', 'serves another network', 'serves another network', 'is silent']
  let passes = 0
  const pass = async () => {
    const reason = reasons[passes]
    passes += 1
    if (reason !== undefined) throw new NodeError(reason)
    return false
  }
  const loop = startLoop(log, { name: 'follow', everyMilliseconds: 1, pass })
  await expect.poll(() => passes).toBeGreaterThan(reasons.length)
  await loop.stop()
  expect(logged).toEqual(['is silent', 'serves another network', 'is silent'])
})

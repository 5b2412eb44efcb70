import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readWithin } from './read-within.ts'

type Body = Parameters<typeof readWithin>[0]

describe('the limit of an answer', () => {
  it('permits exactly its number of bytes', async () => {
    const bodyOf = (text: string) => Readable.from([Buffer.from(text)]) as unknown as Body
    expect((await readWithin(bodyOf('12345'), 5)).toString()).toBe('12345')
    await expect(readWithin(bodyOf('123456'), 5)).rejects.toThrow('The answer is longer than 5 bytes')
  })

  it('stops the reading of an answer that never ends', async () => {
    let sent = 0
    function* forever() {
      for (;;) {
        sent += 1
        yield Buffer.from('1234')
      }
    }
    const body = Readable.from(forever(), { highWaterMark: 1 })
    await expect(readWithin(body as unknown as Body, 10)).rejects.toThrow('longer than 10 bytes')
    expect(body.destroyed).toBe(true)
    expect(sent).toBeLessThan(10)
  })
})

import type { Dispatcher } from 'undici'

/** An answer of another service is longer than what is read of it. */
export class AnswerTooLongError extends Error {
  constructor(bytesMax: number) {
    super(`The answer is longer than ${bytesMax} bytes`)
    this.name = 'AnswerTooLongError'
  }
}

/** Reads the whole body of an answer. @throws AnswerTooLongError, and then reads no further */
export async function readWithin(body: Dispatcher.ResponseData['body'], bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bytesMax) throw new AnswerTooLongError(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

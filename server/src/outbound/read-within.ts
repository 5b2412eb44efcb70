import type { Dispatcher } from 'undici'

/** Thrown when the answer of another service is longer than the permitted length. */
export class AnswerTooLongError extends Error {
  constructor(bytesMax: number) {
    super(`The answer is longer than ${bytesMax} bytes`)
    this.name = 'AnswerTooLongError'
  }
}

/** Reads the whole body of an answer. @throws AnswerTooLongError at the limit, without reading the rest */
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

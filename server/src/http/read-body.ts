import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { AppError, badRequest, tooManyRequests } from '../lib/errors.ts'
import { bodyBytesPerCallerMax } from '../lib/limits.ts'

export type BodyReader = (request: FastifyRequest, payload: Readable) => Promise<Buffer>

const firstBytes = 4_096

/**
 * Creates the body reader of one node. A body is held in memory until it is complete, also while its sender stalls. So each
 * body is limited by its route, and the total that one caller sends at a time is limited as well. Bytes are copied into one
 * buffer as they arrive, because a list of very small chunks takes many times the memory of their content.
 */
export function createBodyReader(): BodyReader {
  const bytesOf = new Map<string, number>()
  const add = (caller: string | undefined, bytes: number) => {
    if (caller === undefined) return
    const sum = (bytesOf.get(caller) ?? 0) + bytes
    if (sum > bodyBytesPerCallerMax) {
      throw tooManyRequests('too_many_at_once', 'You are sending too much at a time; try again later', 1)
    }
    if (sum === 0) bytesOf.delete(caller)
    else bytesOf.set(caller, sum)
  }
  return async (request, payload) => {
    const { bodyLimit } = request.routeOptions
    const caller = request.caller?.userId ?? request.directory?.id
    const declared = Number(request.headers['content-length'] ?? Number.NaN)
    if (declared > bodyLimit) throw tooLarge()
    let body = Buffer.alloc(0)
    let length = 0
    let counted = 0
    try {
      await forEachChunk(payload, (chunk) => {
        if (length + chunk.length > bodyLimit) throw tooLarge()
        add(caller, chunk.length)
        counted += chunk.length
        if (length + chunk.length > body.length) {
          const room = Math.min(bodyLimit, Math.max(firstBytes, 2 * body.length, length + chunk.length))
          body = Buffer.concat([body.subarray(0, length)], room)
        }
        chunk.copy(body, length)
        length += chunk.length
      })
    } finally {
      add(caller, -counted)
    }
    if (!Number.isNaN(declared) && declared !== length) throw notWhole()
    return body.subarray(0, length)
  }
}

/** Reads the chunks of a body. `for await` would close the connection before a refusal could be answered. */
function forEachChunk(payload: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        stop()
        reject(error)
      }
    }
    const onEnd = () => {
      stop()
      resolve()
    }
    const onBreak = () => {
      stop()
      reject(notWhole())
    }
    const stop = () => {
      payload.off('data', onData).off('end', onEnd).off('close', onBreak)
    }
    // A broken connection is an error of the stream too, and may still be emitted after the listeners were removed.
    payload.on('error', onBreak)
    payload.on('data', onData).on('end', onEnd).on('close', onBreak)
  })
}

function tooLarge(): AppError {
  return new AppError('body_too_large', 'The body is larger than this service accepts')
}

function notWhole(): AppError {
  return badRequest('body', 'does not have the length that Content-Length states', 'malformed_body')
}

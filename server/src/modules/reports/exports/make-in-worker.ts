import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Deps } from '../../../deps.ts'
import { exportHeapMegabytesMax } from '../../../lib/limits.ts'
import { signerOf } from '../archives/manifest.ts'
import type { ReportExportRow } from './queries.ts'

/** `reason` describes a mistake of the requester and may be shown; it is null for any other failure. */
export type Failure = { is: 'failed'; reason: string | null; error: unknown }
export type Outcome = { is: 'made' } | { is: 'stopped' } | Failure

/** `now` is the time of the service when the thread begins. */
export type WorkerOrder = {
  databaseUrl: string
  replicaUrl: string | null
  organisationName: string | null
  /** The public part of the key of the node, which signs archives, and the ids of the keys that may have signed seals. */
  key: { keyId: string; publicKey: Uint8Array }
  trusted: string[]
  taken: ReportExportRow
  now: Date
}
export type FromWorker =
  | Outcome
  | { is: 'percent'; percent: number }
  | { is: 'warning'; text: string; error: unknown }
  | { is: 'unsigned'; hash: Uint8Array }
export type ToWorker = { is: 'stop' } | { is: 'signed'; signature: Uint8Array }

/** Rows live briefly; a larger young generation would only use memory. */
const youngMegabytes = 8

/** The program of the thread: TypeScript if this file is TypeScript, compiled JavaScript otherwise. */
const program = new URL(`./worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url)

/**
 * Makes a file in a separate thread with its own connections, so that reading, writing and compressing millions of rows does
 * not slow down the thread that answers requests. Resolves when the thread has ended.
 */
export async function makeInWorker(
  { databaseUrl, config, clock, log, sealKey }: Pick<Deps, 'databaseUrl' | 'config' | 'clock' | 'log' | 'sealKey'>,
  taken: ReportExportRow,
  signal: AbortSignal,
  onPercent: (percent: number) => void,
): Promise<Outcome> {
  const { reportsDatabaseUrl: replicaUrl, organisationName } = config
  const { keyId, publicKey, sign } = signerOf(sealKey)
  const trusted = [keyId, ...config.sealKeys]
  const key = { keyId, publicKey }
  // The private key never reaches the thread, which can have nothing signed but archives.
  const signed = async (hash: Uint8Array) => sign(Buffer.from(hash))
  const order: WorkerOrder = { databaseUrl, replicaUrl, organisationName, key, trusted, taken, now: clock() }
  const worker = new Worker(program, {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: exportHeapMegabytesMax, maxYoungGenerationSizeMb: youngMegabytes },
  })
  const send = (message: ToWorker) => worker.postMessage(message)
  const stop = () => send({ is: 'stop' })
  let outcome: Outcome = { is: 'failed', reason: null, error: new Error('the thread ended without an outcome') }
  worker.on('message', (message: FromWorker) => {
    if (message.is === 'percent') onPercent(message.percent)
    else if (message.is === 'warning') log.warn({ err: message.error, exportId: taken.id }, message.text)
    else if (message.is === 'unsigned') void signed(message.hash).then((signature) => send({ is: 'signed', signature }))
    else outcome = message
  })
  // An error of the thread itself, such as memory beyond the limit.
  worker.on('error', (error) => {
    outcome = { is: 'failed', reason: null, error }
  })
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  await new Promise((resolve) => worker.once('exit', resolve))
  signal.removeEventListener('abort', stop)
  return outcome
}

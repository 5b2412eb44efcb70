import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../../db/client.ts'
import { useRecordKey } from '../../../db/record-key.ts'
import { openSlowReads } from '../../../db/slow-reads.ts'
import { AppError } from '../../../lib/errors.ts'
import { makeFile } from './make-file.ts'
import type { FromWorker, Outcome, ToWorker, WorkerOrder } from './make-in-worker.ts'

// The program of a thread that makes one file.

const { databaseUrl, replicaUrl, organisationName, key, trusted, taken, now } = workerData as WorkerOrder
const port = parentPort!
const tell = (message: FromWorker) => port.postMessage(message)
const warn = (error: unknown, text: string) => tell({ is: 'warning', text, error })

let isStopped = false
let onSigned: (signature: Buffer) => void = () => {}
port.on('message', (message: ToWorker) => {
  if (message.is === 'stop') isStopped = true
  else onSigned(Buffer.from(message.signature))
})

/** Has the hash of an archive signed by the thread that has the key. */
function sign(hash: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    onSigned = resolve
    tell({ is: 'unsigned', hash })
  })
}

const outcome = await make().catch(failureOf)
tell(outcome)
port.close()

async function make(): Promise<Outcome> {
  const onError = (error: Error) => warn(error, 'database connection lost')
  const { db } = openDatabase({ url: databaseUrl, connectionsMax: 1, onError })
  // No report reads an audit record, and an archive checks the records of its seals without their MACs.
  useRecordKey(db, null)
  const { slowReads, close } = openSlowReads({ url: databaseUrl, replicaUrl, connectionsMax: 1, recordKey: null, warn })
  const began = performance.now()
  const clock = () => new Date(now.getTime() + performance.now() - began)
  let reported = 0
  const onPercent = (percent: number) => {
    if (percent > reported) tell({ is: 'percent', percent })
    reported = percent
  }
  try {
    const signer = { keyId: key.keyId, publicKey: Buffer.from(key.publicKey), sign }
    const workshop = { db, slowReads, clock, organisationName, signer, trusted: new Set(trusted) }
    const isMade = await makeFile(workshop, taken, { onPercent, isStopped: () => isStopped })
    return { is: isMade ? 'made' : 'stopped' }
  } finally {
    await Promise.all([db.destroy(), close()])
  }
}

/** Keeps only values that can be copied to another thread: the message and the stack of an error. */
function failureOf(error: unknown): Outcome {
  const reason = error instanceof AppError && error.status < 500 ? error.message : null
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { is: 'failed', reason, error: Object.assign(new Error(message), { stack }) }
}

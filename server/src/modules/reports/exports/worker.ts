import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../../db/client.ts'
import { useRecordKey } from '../../../db/record-key.ts'
import { openSlowReads } from '../../../db/slow-reads.ts'
import { AppError } from '../../../lib/errors.ts'
import { makeFile } from './make-file.ts'
import type { FromWorker, Outcome, WorkerOrder } from './make-in-worker.ts'

// The program of a thread that makes one file.

const { databaseUrl, replicaUrl, organisationName, taken, now } = workerData as WorkerOrder
const port = parentPort!
const tell = (message: FromWorker) => port.postMessage(message)
const warn = (error: unknown, text: string) => tell({ is: 'warning', text, error })

let isStopped = false
port.on('message', () => {
  isStopped = true
})

const outcome = await make().catch(failureOf)
tell(outcome)
port.close()

async function make(): Promise<Outcome> {
  const onError = (error: Error) => warn(error, 'database connection lost')
  const { db } = openDatabase({ url: databaseUrl, connectionsMax: 1, onError })
  // No report reads an audit record.
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
    const isMade = await makeFile({ db, slowReads, clock, organisationName }, taken, {
      onPercent,
      isStopped: () => isStopped,
    })
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

import { unavailable } from '../lib/errors.ts'
import { sqlStateOf } from './transaction.ts'

type Options<Input, Output> = {
  /** Does the work of all inputs in one transaction and answers each, in their order, after the commit. */
  commit: (inputs: Input[]) => Promise<Output[]>
  /** The maximum number of inputs of one transaction. */
  batchMax: number
  /** The number of transactions that run at once. With two, one is prepared while the other waits for the disk. */
  inFlightMax: number
  /** The number of inputs that may wait. Further inputs are refused with 503 and Retry-After. */
  waitingMax: number
}

type Waiting<Input, Output> = {
  input: Input
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

export type GroupCommit<Input, Output> = {
  /** Returns true if the queue is full. */
  isFull(): boolean
  /** Returns the output after the commit. @throws 503 with Retry-After when the queue is full */
  submit(input: Input): Promise<Output>
}

/**
 * Creates a group commit. Inputs that arrive while a transaction runs wait and share the next transaction, so that many share
 * the cost of one commit. A single input does not wait. If one input makes a batch fail, its inputs are processed again one by
 * one, so that the others succeed.
 */
export function createGroupCommit<Input, Output>({
  commit,
  batchMax,
  inFlightMax,
  waitingMax,
}: Options<Input, Output>): GroupCommit<Input, Output> {
  const waiting: Waiting<Input, Output>[] = []
  let inFlight = 0

  /** Processes a batch. The returned function settles the promise of each input. */
  const run = async (batch: Waiting<Input, Output>[]): Promise<() => Promise<void>> => {
    try {
      const outputs = await commit(batch.map(({ input }) => input))
      return () => inTurns(batch, ({ resolve }, i) => resolve(outputs[i]!))
    } catch (error) {
      if (batch.length === 1 || !isOfOneInput(error)) return () => inTurns(batch, ({ reject }) => reject(error))
      for (const input of batch) await (await run([input]))()
      return async () => {}
    }
  }

  const start = () => {
    while (inFlight < inFlightMax && waiting.length > 0) {
      inFlight += 1
      void run(waiting.splice(0, batchMax)).then((settle) => {
        inFlight -= 1
        start()
        return settle()
      })
    }
  }

  const isFull = () => waiting.length >= waitingMax

  return {
    isFull,
    submit(input) {
      if (isFull()) throw tooMuchAtOnce()
      return new Promise((resolve, reject) => {
        waiting.push({ input, resolve, reject })
        start()
      })
    },
  }
}

/** Returns the error of a full queue. */
export const tooMuchAtOnce = () => unavailable('overloaded', 'Too many requests are waiting; try again later', 1)

/** Settles a few promises at a time: to answer hundreds at once would delay the next statement to the database. */
async function inTurns<Item>(items: Item[], work: (item: Item, i: number) => void): Promise<void> {
  for (const [i, item] of items.entries()) {
    work(item, i)
    if (i % itemsPerTurn === itemsPerTurn - 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

const itemsPerTurn = 4

/**
 * Returns true for invalid data (class 22) and a violated constraint (class 23), which concern one input. A lost connection
 * concerns all inputs.
 */
function isOfOneInput(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && (state.startsWith('22') || state.startsWith('23'))
}

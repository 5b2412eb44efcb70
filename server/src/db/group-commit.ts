import { unavailable } from '../lib/errors.ts'
import { sqlStateOf } from './transaction.ts'

type Options<Input, Output> = {
  /** Does the work of all inputs in one transaction and answers each, in their order, after the commit. */
  commit: (inputs: Input[]) => Promise<Output[]>
  /** Inputs that travel together at most. */
  batchMax: number
  /** Transactions that run at once; two let the next one be prepared while the last one waits for the disk. */
  inFlightMax: number
  /** Inputs that may wait; whoever comes then is asked to come again. */
  waitingMax: number
}

type Waiting<Input, Output> = {
  input: Input
  resolve: (output: Output) => void
  reject: (error: unknown) => void
}

export type GroupCommit<Input, Output> = {
  /** As many wait as may. */
  isFull(): boolean
  /** Answers after the commit. @throws 503 with Retry-After when it is full */
  submit(input: Input): Promise<Output>
}

/**
 * Group commit: what arrives while a transaction runs waits and travels together in the next one, so that many share
 * the price of one commit. Alone, an input goes at once. A batch that one input spoils is done again one by one, so
 * that nobody else is harmed.
 */
export function createGroupCommit<Input, Output>({
  commit,
  batchMax,
  inFlightMax,
  waitingMax,
}: Options<Input, Output>): GroupCommit<Input, Output> {
  const waiting: Waiting<Input, Output>[] = []
  let inFlight = 0

  /** Does the work of a batch; what it returns tells everybody what became of theirs. */
  const run = async (batch: Waiting<Input, Output>[]): Promise<() => Promise<void>> => {
    try {
      const outputs = await commit(batch.map(({ input }) => input))
      return () => inTurns(batch, ({ resolve }, i) => resolve(outputs[i]!))
    } catch (error) {
      if (batch.length === 1 || !isOfOneInput(error)) return () => inTurns(batch, ({ reject }) => reject(error))
      for (const each of batch) await (await run([each]))()
      return async () => {}
    }
  }

  const start = () => {
    while (inFlight < inFlightMax && waiting.length > 0) {
      inFlight += 1
      void run(waiting.splice(0, batchMax)).then((tell) => {
        inFlight -= 1
        start()
        return tell()
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

/** What whoever finds the queue full is told. */
export const tooMuchAtOnce = () => unavailable('Too much is arriving at once', 1)

/** A few at a time: to answer hundreds in one go would keep the database waiting for its next statement. */
async function inTurns<Item>(items: Item[], work: (item: Item, i: number) => void): Promise<void> {
  for (const [i, item] of items.entries()) {
    work(item, i)
    if (i % itemsPerTurn === itemsPerTurn - 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

const itemsPerTurn = 4

/** Wrong data (class 22) or a broken constraint (class 23) is the fault of one; a lost connection is everybody's. */
function isOfOneInput(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== null && (state.startsWith('22') || state.startsWith('23'))
}

/** Creates a queue that runs a few tasks at a time, in the order of their arrival. */
export function createTurns(runningMax: number) {
  let running = 0
  const queue: (() => void)[] = []
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running < runningMax) running += 1
    else await new Promise<void>((resolve) => queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

/** Creates a queue for each key that is used. */
export function createTurnsOfKeys(runningMax: number) {
  const ofKeys = new Map<string, ReturnType<typeof createTurns>>()
  return <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const turns = ofKeys.get(key) ?? createTurns(runningMax)
    ofKeys.set(key, turns)
    return turns(work)
  }
}

/** A handler for each kind of request from the supervisor. */
type Handlers = Record<string, (question: never) => Promise<unknown>>

type Question = { id: number; type: string }

/**
 * Runs one part of the demo in its process: it answers the supervisor, and stops on a signal or when the supervisor
 * ends.
 */
export function serve(handlers: Handlers, stop: () => Promise<void>): void {
  process.on('message', (question: Question) => {
    void answer(handlers, question).then((reply) => {
      if (process.connected) process.send?.({ id: question.id, ...reply })
    })
  })
  let isStopping = false
  const end = () => {
    if (isStopping) return
    isStopping = true
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${JSON.stringify({ level: 'error', msg: `stopping failed: ${error}` })}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('disconnect', end)
}

async function answer(handlers: Handlers, question: Question): Promise<{ answer: unknown } | { failure: string }> {
  try {
    const handle = handlers[question.type]
    if (handle === undefined) throw new Error(`there is no ${question.type} here`)
    return { answer: await handle(question as never) }
  } catch (error) {
    return { failure: (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, ' ') }
  }
}

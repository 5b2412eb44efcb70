/** A handler for each kind of question that the supervisor asks. */
export type Handlers = Record<string, (question: never) => Promise<unknown>>

type Question = { type: string }

/**
 * The process side of a part: it answers questions of the supervisor one after another, stops on a signal, and does not
 * outlive the supervisor.
 */
export function serve(handlers: Handlers, stop: () => Promise<void>): void {
  let work = Promise.resolve()
  process.on('message', (question: Question) => {
    work = work.then(async () => {
      const handle = handlers[question.type]
      const reply = await (handle?.(question as never) ?? Promise.reject(new Error(`unknown: ${question.type}`))).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ failure: error instanceof Error ? error.message : String(error) }),
      )
      if (process.connected) process.send?.(reply)
    })
  })
  let isStopping = false
  const end = () => {
    if (isStopping) return
    isStopping = true
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${JSON.stringify({ level: 50, msg: `stopping failed: ${error}` })}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('disconnect', end)
}

import { readConfig } from './config/config.ts'
import { describeFailure } from './config/describe-failure.ts'
import { type RunningServer, startServer } from './start.ts'

const stopTimeoutMilliseconds = 10_000

/**
 * Runs one node until it is stopped. SIGTERM and SIGINT end it in good order within ten seconds; a second signal
 * ends it at once. When its embedded database is gone, it logs this and exits with 1; the next start recovers what was
 * committed. A parent with an IPC channel is notified when the node is ready, and the node stops when its parent dies.
 */
async function run(): Promise<void> {
  let stopping = false
  let server: RunningServer | null = null
  const stop = () => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => {
      process.stderr.write(`Strongroom did not stop within ${stopTimeoutMilliseconds / 1_000} s, and is ended\n`)
      process.exit(1)
    }, stopTimeoutMilliseconds).unref()
    // A start in progress ends itself in `start` below.
    if (server !== null) void end(server)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  try {
    server = await startServer(readConfig())
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`)
    process.exit(1)
  }
  if (stopping) return end(server)
  void server.failed.then((reason) => {
    // Ctrl-C in a terminal also reaches the database.
    if (stopping) return
    process.stderr.write(`${reason}\n`)
    process.exitCode = 1
    stop()
  })
  process.send?.({ type: 'ready', url: server.url })
  if (process.channel !== undefined) process.once('disconnect', stop)
}

async function end(server: RunningServer): Promise<void> {
  try {
    await server.stop()
    process.exit()
  } catch (error) {
    server.deps.log.error({ err: error }, 'stopping')
    process.exit(1)
  }
}

await run()

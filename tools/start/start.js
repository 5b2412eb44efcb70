// The entry of `npm start`: brings the compiled code up to date, then runs the demo in this process. It prints its
// first line before it loads large modules.
import './check-node.js'

process.stdout.write(
  'Strongroom starts PostgreSQL, the server, the reference wallet, a local chain and a demo organisation.\n',
)
try {
  const { transpileStale } = await import('./transpile.js')
  const count = await transpileStale()
  const { reportProgress } = await import('../../demo/dist/progress.js')
  if (count > 0) reportProgress(`${count} files are compiled`)
  const { buildStaleConsole } = await import('./build-console.js')
  const consoleBuilt = buildStaleConsole().then((isNew) => isNew && reportProgress('the console is built'))
  // The code that waits for this promise reports its failure.
  consoleBuilt.catch(() => undefined)
  const { findBundles, makeBundlesLater } = await import('./bundles.js')
  const bundles = findBundles()
  const { supervise } = await import('../../demo/dist/supervise.js')
  await supervise(consoleBuilt, bundles)
  if (bundles === undefined) makeBundlesLater()
} catch (error) {
  const { describeStartFailure } = await import('./describe-start-failure.js')
  process.stderr.write(`Strongroom cannot start: ${describeStartFailure(error)}\n`)
  process.exit(1)
}

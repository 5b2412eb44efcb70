/** The entry of `npm start`: it imports the rest dynamically, so that a missing build is one clear line and not a stack trace. */
try {
  const { supervise } = await import('./supervise.ts')
  await supervise()
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const isNotBuilt = code === 'ERR_MODULE_NOT_FOUND' && message.includes('/dist/')
  process.stderr.write(
    isNotBuilt ? 'Strongroom is not built yet; run "npm run build" first.\n' : `Strongroom cannot start: ${message}\n`,
  )
  process.exit(1)
}

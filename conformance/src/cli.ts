import { CommanderError } from 'commander'
import { conformanceCommand } from './command.ts'

/** Nothing could be checked; 1 says that a check failed. */
const couldNotRun = 2

const program = conformanceCommand('strongroom-wallet-conformance').exitOverride()

// The reader of our output may close the pipe early, as head does.
process.stdout.on('error', () => process.exit())

try {
  await program.parseAsync()
} catch (error) {
  const isAnswered = error instanceof CommanderError
  if (!isAnswered) process.stderr.write(`${program.name()}: ${(error as Error).message}\n`)
  process.exitCode = isAnswered && error.exitCode === 0 ? 0 : couldNotRun
}

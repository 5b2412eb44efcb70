import { spawn } from 'node:child_process'
import { stepMillisecondsMax } from './limits.ts'
import { Blocked } from './outcomes.ts'

/** Runs a command of the user in a shell, with its output on standard error. @throws Blocked if it fails */
export async function runStep(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2], timeout: stepMillisecondsMax })
  const end = await new Promise<string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `it ended with ${code ?? signal}`))
  })
  if (end !== null) throw new Blocked(`The command "${command}" failed: ${end}`)
}

import { spawn } from 'node:child_process'
import { stepMillisecondsMax } from './limits.ts'
import { Blocked } from './outcomes.ts'

/** Runs a command of the person who runs the kit, in a shell. What it prints goes to standard error. @throws Blocked when it fails */
export async function runStep(command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2], timeout: stepMillisecondsMax })
  const end = await new Promise<string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `it ended with ${code ?? signal}`))
  })
  if (end !== null) throw new Blocked(`The command "${command}" failed: ${end}`)
}

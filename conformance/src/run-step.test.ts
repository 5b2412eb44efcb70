import { expect, it } from 'vitest'
import { Blocked } from './outcomes.ts'
import { runStep } from './run-step.ts'

it('runs a command in a shell, and reports the end of a command that fails', async () => {
  await expect(runStep('exit 0 && exit 4')).resolves.toBeUndefined()
  const failed = runStep('exit 3')
  await expect(failed).rejects.toThrow('The command "exit 3" failed: it ended with 3')
  await expect(failed).rejects.toBeInstanceOf(Blocked)
})

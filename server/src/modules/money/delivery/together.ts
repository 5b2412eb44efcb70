import { createGroupCommit, type GroupCommit } from '../../../db/group-commit.ts'
import type { Deps } from '../../../deps.ts'
import { deliveriesInProgressMax } from '../../../lib/limits.ts'

type Settled<Output> = PromiseSettledResult<Output>

/**
 * Collects the inputs of a vault that arrive while `work` runs for the vault, and passes them to the next call of `work`. If that
 * call fails, it is repeated for every input alone, so that no transfer stops another.
 *
 * @param work returns an output for every input, in the same order
 */
export function together<Input, Output>(
  { log }: Pick<Deps, 'log'>,
  work: (vaultId: string, inputs: Input[]) => Promise<Output[]>,
): (vaultId: string, input: Input) => Promise<Output> {
  const ofVaults = new Map<string, GroupCommit<Input, Settled<Output>>>()

  const settle = async (vaultId: string, inputs: Input[]): Promise<Settled<Output>[]> => {
    try {
      return (await work(vaultId, inputs)).map((value) => ({ status: 'fulfilled', value }))
    } catch (reason) {
      if (inputs.length === 1) return [{ status: 'rejected', reason }]
      log.warn({ err: reason, vaultId }, 'transfers are delivered one by one')
      const settled: Settled<Output>[] = []
      for (const input of inputs) settled.push(...(await settle(vaultId, [input])))
      return settled
    }
  }
  const open = (vaultId: string) =>
    createGroupCommit<Input, Settled<Output>>({
      commit: (inputs) => settle(vaultId, inputs),
      batchMax: deliveriesInProgressMax,
      inFlightMax: 1,
      waitingMax: deliveriesInProgressMax,
    })

  return async (vaultId, input) => {
    const group = ofVaults.get(vaultId) ?? open(vaultId)
    ofVaults.set(vaultId, group)
    const settled = await group.submit(input)
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }
}

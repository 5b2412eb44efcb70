import type { CompositeActions } from '@strongroom/sdk'
import { vaultOf } from '../../lib/api.ts'
import { faultsOf, isOutcomeUnknown, newIdempotencyKey } from '../../lib/forms.ts'
import { chainsOf, entriesOf, type ImportRow, kindOf, networkOf } from './import-rows.ts'

type ImportResult = {
  /** Numbers of the rows that are imported or wait for votes. */
  done: Set<number>
  /** The service's messages about single rows. The other rows of their batch are not imported either. */
  refusals: Map<number, string>
  /** The service's error about a whole batch. */
  error: unknown
  /** Requests that wait for votes, one for each batch. */
  waiting: string[]
}

/**
 * The idempotency key of each batch. A batch whose answer was lost is sent again under the same key, so that no entry
 * is imported twice.
 */
const keys = new Map<string, string>()

/** Imports rows in batches of fifty entries. Each batch is imported whole or not at all. */
export async function importRows(
  code: string,
  rows: readonly ImportRow[],
  networks: readonly string[],
  onProgress: (done: number) => void,
): Promise<ImportResult> {
  const result: ImportResult = { done: new Set(), refusals: new Map(), error: null, waiting: [] }
  for (const batch of chainsOf(entriesOf(rows))) {
    const body: CompositeActions = { steps: batch.map((entry) => stepOf(entry, networks)) }
    const content = `${code} ${JSON.stringify(body)}`
    const idempotencyKey = keys.get(content) ?? newIdempotencyKey()
    keys.set(content, idempotencyKey)
    try {
      const { pendingApproval } = await vaultOf(code).approvalRequests.createComposite(body, { idempotencyKey })
      for (const { number } of batch.flat()) result.done.add(number)
      if (pendingApproval !== null) result.waiting.push(pendingApproval.id)
    } catch (error) {
      if (!isOutcomeUnknown(error)) keys.delete(content)
      refuse(batch, error, result)
    }
    onProgress(result.done.size)
  }
  return result
}

function stepOf(entry: ImportRow[], networks: readonly string[]): CompositeActions['steps'][number] {
  const [first] = entry as [ImportRow]
  const addresses = entry.map((row) => ({
    network: networkOf(row, networks),
    address: row.address,
    label: row.label || null,
  }))
  const payload = { name: first.name, kind: kindOf(first.kind), description: first.description || null, addresses }
  return { action: 'counterparty_create', payload }
}

/** Assigns the service's messages to the rows that they are about. */
function refuse(batch: ImportRow[][], error: unknown, result: ImportResult): void {
  const faults = faultsOf(error)
  for (const { field, message } of faults) {
    const step = /steps\.(\d+)/.exec(field)?.[1]
    for (const { number } of (step === undefined ? null : batch[Number(step)]) ?? [])
      result.refusals.set(number, message)
  }
  const isOfRows = faults.length > 0 && faults.every(({ field }) => /steps\.\d+/.test(field))
  if (!isOfRows) result.error = error
}

import type { Trx } from '../../../db/client.ts'
import { conflict } from '../../../lib/errors.ts'
import type { Change } from './actions.ts'
import type { RulesDocument } from './document-schema.ts'
import { planChanges } from './plan-changes.ts'
import { lockRules } from './versions.ts'

/** The changes that make of the present rules the wanted ones. @throws 409 when nothing differs */
export async function changesBetween(trx: Trx, vaultId: string, wanted: RulesDocument, now: Date): Promise<Change[]> {
  const { document } = await lockRules(trx, vaultId, now)
  const changes = planChanges(document, wanted)
  if (changes.length === 0) throw conflict('wrong_state', 'The rules are already like this')
  return changes
}

import type { Member } from '../../../access/caller.ts'
import { conflict } from '../../../lib/errors.ts'

/** Nobody signs a payout as a whole: what is paid together is ordered row by row where orders are signed. @throws 409 */
export function assertBatchable({ protection }: Pick<Member['vault'], 'protection'>): void {
  if (protection === 'off') return
  throw conflict('not_in_protected_vault', 'In a protected vault each transfer is ordered and signed by itself')
}

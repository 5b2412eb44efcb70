import { byMember } from '../../../access/caller.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { conflict } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { orNotFound } from '../../../lib/or-not-found.ts'
import { audit } from '../../record/audit/record.ts'
import { toLedgerVerification } from './present.ts'
import { findOpenVerification, findVerification, insertVerification } from './queries.ts'
import { LedgerVerification } from './schema.ts'

export function ledgerVerificationRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Ledger', { access: 'auditor', scopes: { reads: 'report', writes: 'report' } })

  api.post('startLedgerVerification', '/vaults/:code/ledger/verifications', {
    summary: 'Start a verification of the ledger',
    description:
      'For administrators and auditors. Recomputes every balance from its entries in the background, and the entries ' +
      'from the operations, as `strongroom ledger verify` does. A vault has one verification at a time: while one is ' +
      'open, the answer is that verification.',
    errors: ['changed_concurrently'],
    answers: { 202: LedgerVerification },
    handler: async (trx, by) => {
      const { member, now } = by
      const order = { vaultId: member.vault.id, id: newId(now), requesterId: member.userId, now }
      const inserted = await insertVerification(trx, order)
      if (inserted === null) {
        const open = await findOpenVerification(trx, member.vault.id)
        if (open === null) throw conflict('changed_concurrently', 'A verification ended at this moment; try again')
        return toLedgerVerification(open)
      }
      await audit(trx, byMember(by), 'ledger.verification_started', { type: 'ledger_verification', id: order.id }, {})
      return toLedgerVerification(inserted)
    },
  })

  api.get('getLedgerVerification', '/vaults/:code/ledger/verifications/:id', {
    summary: 'Get a verification of the ledger',
    description: 'For administrators and auditors, whoever started it. Kept for 30 days.',
    answers: { 200: LedgerVerification },
    handler: async (db, { member, params }) =>
      toLedgerVerification(orNotFound(await findVerification(db, member.vault.id, params.id), 'Verification')),
  })
}

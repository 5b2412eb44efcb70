import { Type } from 'typebox'
import { visibleScopeOf } from '../../../access/address-scope.ts'
import type { Deps } from '../../../deps.ts'
import { type App, endpoints } from '../../../http/endpoints.ts'
import { Closed, described, Ref } from '../../../http/schema.ts'
import { checkRecipients } from './check.ts'
import { CheckedRecipient, RecipientQuestion } from './schema.ts'

export function recipientRoutes(app: App, deps: Deps): void {
  const api = endpoints(app, deps, 'Counterparties', { access: 'member', scopes: { reads: 'read' } })

  api.calculate('checkRecipients', '/vaults/:code/recipients/check', {
    summary: 'Check recipients',
    description:
      'Compares addresses with the address book, with the addresses of the vault that the caller sees, and with the addresses ' +
      'that the caller has paid; for an administrator or auditor, with those that any member has paid. Use it before a payment, a ' +
      'payout or an import. It changes nothing, and reveals nothing about addresses that the caller may not see.',
    errors: [],
    body: RecipientQuestion,
    answers: {
      200: Closed({
        items: described(Type.Array(Ref(CheckedRecipient)), 'A result for each address, in the order of the request.'),
      }),
    },
    handler: async (db, { member, body }) => ({
      items: await checkRecipients(db, visibleScopeOf(member), body.recipients),
    }),
  })
}

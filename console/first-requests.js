/**
 * The first requests of pages: the browser sends it while it still loads the scripts. A page has those of the paths that
 * it begins with, too. Each must be exactly what a query of the page asks for; `console/test` fails when one is not used.
 * @type {Record<string, string[]>}
 */
export const firstRequests = {
  '/v/$code': ['/vaults/$code/me'],
  '/v/$code/': ['/vaults/$code/balances?summary=true&includeShared=true'],
  '/v/$code/approvals/transfer/$id': ['/vaults/$code/transfers/$id'],
  '/v/$code/approvals/request/$id': ['/vaults/$code/approval-requests/$id'],
  '/v/$code/approvals/payout/$id': ['/vaults/$code/payouts/$id'],
}

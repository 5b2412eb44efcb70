/**
 * The rooms of each domain by level, the lowest first. A room imports rooms of lower levels only; rooms of the same
 * level do not import each other. The rules of `npm run arrows` are made from this table, and docs/architecture.md
 * shows it.
 */
exports.rooms = {
  record: [['seals'], ['audit'], ['notifications', 'witnesses']],
  registry: [['wallet-service', 'images', 'platform-changes'], ['networks'], ['tokens'], ['rates']],
  rules: [
    ['selectors', 'holds', 'signatures'],
    ['decisions'],
    ['votes'],
    ['approval-requests', 'policy-groups'],
    ['policies', 'rules-versions'],
    ['change-sets'],
    ['governance'],
    ['policy-editing'],
  ],
  people: [
    ['users', 'invitations'],
    ['members', 'passkeys', 'providers'],
    ['sign-in', 'service-tokens'],
    ['provider-sign-in', 'offboarding'],
    ['directories'],
    ['scim'],
  ],
  vaults: [['structure'], ['wallets'], ['authority', 'addresses'], ['vaults', 'grants'], ['folders']],
  'address-book': [['counterparties', 'recipients'], ['groups']],
  operations: [
    ['categories'],
    ['feed'],
    ['assignments', 'changes', 'search'],
    ['metadata', 'relations', 'late-rates'],
    ['history'],
  ],
  money: [
    ['ledger', 'screening', 'resolutions', 'backtests'],
    ['adjustments', 'verifications', 'holds', 'orders'],
    ['transfers', 'deposits', 'reconciliations', 'simulations'],
    ['payouts', 'delivery'],
    ['stuck', 'inbox'],
  ],
  reports: [
    ['documents'],
    ['spreadsheets', 'pdf'],
    ['files'],
    ['requests'],
    ['blocks', 'balance-timeline'],
    ['activity'],
    ['reports'],
    ['catalogue'],
    ['archives'],
    ['exports'],
  ],
}

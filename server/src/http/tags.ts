/** The groups of operations, in the order in which a reference shows them, each with its description. */
export const tags: { name: string; description: string }[] = [
  { name: 'Sign-in', description: 'Links by e-mail, sessions, and their end.' },
  {
    name: 'Directories',
    description: 'Directories of companies (SCIM 2.0), which say who works there, and their stops that wait.',
  },
  {
    name: 'Passkeys',
    description: 'Your own sign-in keys (WebAuthn), which sign in and confirm requests that extend rights.',
  },
  {
    name: 'People',
    description: 'Your own profile and preferences, the members of a vault, the users of the platform.',
  },
  { name: 'Invitations', description: 'Inviting people into a vault and its groups.' },
  { name: 'Service tokens', description: 'Programs that act in a vault in their own name.' },
  { name: 'Vaults', description: 'Vaults, their settings, and the structure from which their addresses are derived.' },
  { name: 'Addresses', description: 'The addresses of a vault, where money arrives and leaves.' },
  { name: 'Sharing', description: 'Folders of addresses, and who may see or use an address or a folder.' },
  { name: 'Ledger', description: 'Balances, the entries behind them, adjustments, and the comparison with the chain.' },
  { name: 'Transfers', description: 'Ordering a payment, voting on it, following it to its confirmation, proving it.' },
  { name: 'Payouts', description: 'Up to 1,000 payments that are decided and voted on as one.' },
  { name: 'Deposits', description: 'Payments that arrived, and what the wallet service reported.' },
  { name: 'Inbox', description: 'Items that wait for your vote, in all your vaults.' },
  {
    name: 'History',
    description: 'Transfers and deposits as one list, search over a vault, and rates that come late.',
  },
  {
    name: 'Images',
    description: 'Small images of people, tokens, vaults and counterparties, served from the origin of the service.',
  },
  { name: 'Changes', description: 'Changes since your last request, without polling each list.' },
  {
    name: 'Policies',
    description: 'Groups of people and the rules that allow, block or ask for votes; trying them out.',
  },
  {
    name: 'Governance',
    description: 'Votes and delays for changes of the rules, change sets, and versions of the rules.',
  },
  { name: 'Approval requests', description: 'Changes that wait for votes before they take effect.' },
  { name: 'Holds', description: 'Holds, which stop a subject at once: placed by one person, released by two.' },
  {
    name: 'Counterparties',
    description: 'The address book: who is on the other side, with their addresses and groups.',
  },
  {
    name: 'Operation categories',
    description: 'Categories with typed fields, who may use them, and the purposes, tags and notes of operations.',
  },
  {
    name: 'Operation relations',
    description: 'Links between operations: refunds, reversals, corrections, replacements.',
  },
  { name: 'Reports', description: 'Figures over what the caller may see, as JSON or as files.' },
  { name: 'Audit', description: 'The record of every change, with the seals that prove that it is whole.' },
  { name: 'Registry', description: 'Networks, tokens and rates of the platform.' },
  { name: 'Service', description: 'Health, metrics, and this document.' },
  { name: 'Webhook', description: 'Endpoints for reports of the wallet service.' },
]

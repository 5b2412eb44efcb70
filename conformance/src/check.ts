import type { WalletUnderTest } from './wallet-under-test.ts'

/**
 * The needs of checks: a second client, an EVM network, Bitcoin or Litecoin, Litecoin alone, a token, permission to move funds, an address
 * for webhooks, a client with an authority, keys that the authority names, commands that restart the service and restore its database,
 * and permission for many orders.
 */
export const needs = [
  ...([
    'otherClient',
    'evm',
    'outputs',
    'litecoin',
    'token',
    'spend',
    'webhooks',
    'protected',
    'authorityKeys',
  ] as const),
  ...(['restart', 'restore', 'many'] as const),
]
export type Need = (typeof needs)[number]

/** A check of one sentence of the protocol. */
export type Check = {
  /** Stable: scripts and the option --only name it. */
  id: string
  /** The rule that holds when the check passes. */
  title: string
  /** The heading of docs/wallet-protocol.md that has the rule, as an anchor. */
  section: Section
  /** The words of that section that are checked. */
  rule: string
  /** The next step for the builder of the wallet service when the check fails. */
  advice: string
  needs?: Need[]
  /** @throws Violation when the wallet service breaks the rule */
  run(wallet: WalletUnderTest): Promise<void>
}

export type Category = {
  name: string
  title: string
  checks: Check[]
  /** True if the checks run at the same time, because they mostly wait. */
  isConcurrent?: true
}

export type Section =
  | 'rules-for-every-request'
  | 'families-of-networks'
  | 'errors'
  | 'post-addresses'
  | 'get-xpubnetworkderivationpathchallenge'
  | 'post-transfers'
  | 'get-transfersid'
  | 'get-transfersids'
  | 'get-transferschangesafterlimitwait'
  | 'get-acceptedafterlimit'
  | 'replacing-a-transaction'
  | 'signed-orders'
  | 'get-transactionshashnetwork'
  | 'get-balancesnetworkaddresscontract'
  | 'post-fees'
  | 'get-healthz'
  | 'the-webhook-deposits'
  | 'deposits-that-the-chain-loses'
  | 'signature'
  | 'what-strongroom-does-when-the-wallet-fails-hangs-or-lies'
  | 'security-advice'

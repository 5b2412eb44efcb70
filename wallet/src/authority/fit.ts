import type { Chain } from '../chains/chain.ts'
import { tokenDecimalsMax } from '../limits.ts'
import type { AnyAuthority, Authority } from './documents.ts'
import { type Refusal, refusal } from './refusal.ts'

/** The parts of this service with which a version of an authority is compared before it is taken. */
export type Surroundings = {
  /** Origin of the page for signatures, or null when this service serves none. */
  signingOrigin: string | null
  chains: ReadonlyMap<string, Chain>
  /** True if this service sends mails about a next version to the contacts. */
  sendsMail: boolean
}

/**
 * Refuses a version that does not match this service. Keys of another page sign documents that the other page shows, so an
 * authority with such a key must permit it. Returns null when the version matches.
 * @throws an error of the node that does not say the decimals of a token
 */
export async function refusalOfFit(
  authority: Authority,
  { signingOrigin, chains }: Pick<Surroundings, 'signingOrigin' | 'chains'>,
): Promise<Refusal | null> {
  const foreign = refusalOfPages(authority, signingOrigin)
  if (foreign !== null) return foreign
  for (const rule of authority.rules) {
    const differing = await refusalOfDecimals(rule, chains.get(rule.network))
    if (differing !== null) return differing
  }
  return null
}

function refusalOfPages({ trustsServicePage, keys }: Authority, signingOrigin: string | null): Refusal | null {
  if (trustsServicePage) return null
  const foreign = keys.find((key) => key.kind === 'passkey' && !isOfPage(key, signingOrigin))
  if (foreign === undefined) return null
  const place = signingOrigin ?? 'WALLET_SIGNING_ORIGIN, which is not set'
  const sentence = `the key ${foreign.name} of ${foreign.person} is not one of ${place}, and trustsServicePage is false`
  return refusal('KEY_OF_ANOTHER_PAGE', sentence)
}

const isOfPage = ({ rpId, origins }: { rpId: string; origins: string[] }, signingOrigin: string | null) =>
  signingOrigin !== null &&
  rpId === new URL(signingOrigin).hostname &&
  origins.every((origin) => origin === signingOrigin)

/** Refuses every order on a network whose orders people cannot sign: nobody would have read what is signed there. */
export function refusalOfNetwork({ network, kind, hasSignedOrders }: Chain): Refusal | null {
  if (hasSignedOrders) return null
  const sentence = `a protected vault pays on EVM networks only, and ${network} is of the type ${kind.type}`
  return refusal('TOKEN_NOT_PERMITTED', sentence)
}

type Rule = AnyAuthority['rules'][number]

/** Compares the decimals of a rule with the chain: with other decimals, people read another amount. Format 1 has no decimals. */
export async function refusalOfDecimals(rule: Rule, chain: Chain | undefined): Promise<Refusal | null> {
  if (!('decimals' in rule)) return null
  const { network, contractAddress, decimals } = rule
  if (contractAddress !== null && chain === undefined) {
    return refusal('DECIMALS_DIFFER', `this service has no node of ${network} to compare the decimals with`)
  }
  const found =
    contractAddress === null ? (chain?.coinDecimals ?? evmDecimals) : await readDecimals(chain!, contractAddress)
  if (found === decimals) return null
  return refusal(
    'DECIMALS_DIFFER',
    `${contractAddress ?? 'the coin'} on ${network} has ${found} decimals, not ${decimals}`,
  )
}

/** The decimals of the coin of a network that is not configured, which are those of EVM networks. */
const evmDecimals = 18

/** Decimals by contract, as the node reports them. They do not depend on the database. */
const known = new WeakMap<Chain, Map<string, number>>()

async function readDecimals(chain: Chain, contract: string): Promise<number> {
  const ofChain = known.get(chain) ?? new Map<string, number>()
  known.set(chain, ofChain)
  const before = ofChain.get(contract)
  if (before !== undefined) return before
  const decimals = await chain.readDecimals(contract)
  if (decimals <= tokenDecimalsMax) ofChain.set(contract, decimals)
  return decimals
}

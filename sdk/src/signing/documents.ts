import { hashOf } from './canonical.ts'
import { SigningError } from './signing-error.ts'

/** The documents that people and services sign, and their strict readers: a field that is not named here is refused. */

/** A signed transfer. */
export interface Order {
  transferId: string
  vaultId: string
  initiatorId: string
  fromAddressId: string
  fromAddress: string
  network: string
  coinType: number
  derivationPath: string
  toAddress: string
  tokenId: string
  contractAddress: string | null
  /** In the smallest unit. */
  amount: string
  feeLevel?: 'low' | 'medium' | 'high'
  /** In the smallest unit of the coin of the network. */
  maxFee?: string
  rulesVersion: number
  expiresAt: string
}

export type Subject = 'transfer' | 'payout' | 'approval_request' | 'authority'
export type Decision = 'initiate' | 'approve' | 'reject' | 'cancel'

export interface Vote {
  format: 'strongroom-vote-2'
  subject: Subject
  hash: string
  decision: Decision
  /** The user id of the signer. */
  person: string
  /**
   * Hash of the authority whose symbols and decimals the signer was shown; null if the wallet service has no authority.
   */
  authority: string | null
  signedAt: string
}

/** A vote with its signature. Only votes of passkeys have the last two fields. */
export interface SignedVote {
  vote: Vote
  keyId: string
  signature: string
  authenticatorData?: string
  clientDataJSON?: string
}

/** The parts of an authority that decide how an order is shown. Its hash binds the rest. */
export interface AuthorityDocument {
  format: string
  vaultId: string
  version: number
  previous: string | null
  addresses: readonly { network: string; address: string }[]
  rules: readonly { network: string; contractAddress: string | null; symbol?: string; decimals?: number }[]
  contacts?: readonly { person: string; email: string }[]
}

/** An authority with the hash that was computed from it. */
export interface Authority {
  document: AuthorityDocument
  hash: string
}

type Form = (value: unknown) => boolean

const matching = (pattern: RegExp): Form => {
  return (value) => typeof value === 'string' && pattern.test(value)
}
const isWhole: Form = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isId = matching(/^[A-Za-z0-9._:-]{1,128}$/)
const isAddress = matching(/^0x[0-9a-fA-F]{40}$/)
const isAmount = matching(/^[1-9][0-9]{0,77}$/)
const isTime: Form = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value

/** The form of each field of an order. An order may have no other fields. */
const orderForms: Record<keyof Order, Form> = {
  transferId: isId,
  vaultId: isId,
  initiatorId: isId,
  fromAddressId: isId,
  fromAddress: isAddress,
  network: matching(/^[a-z0-9][a-z0-9-]{0,62}$/),
  coinType: isWhole,
  derivationPath: matching(/^m(\/[0-9]+)+$/),
  toAddress: isAddress,
  tokenId: isId,
  contractAddress: (value) => value === null || isAddress(value),
  amount: isAmount,
  feeLevel: matching(/^(low|medium|high)$/),
  maxFee: isAmount,
  rulesVersion: isWhole,
  expiresAt: isTime,
}
const optional: readonly string[] = ['feeLevel', 'maxFee']

/** The names of all fields that an order may have. */
export const orderFields = Object.keys(orderForms) as (keyof Order)[]

/**
 * Reads an order with exactly the signed fields, each in its form.
 * @throws SigningError for any other value
 */
export function readOrder(value: unknown): Order {
  const fields = membersOf(value, 'order')
  const stray = Object.keys(fields).find((name) => !Object.hasOwn(orderForms, name))
  if (stray !== undefined) throw new SigningError(stray, 'is not a field of an order')
  const order: Record<string, unknown> = {}
  for (const [name, hasForm] of Object.entries(orderForms)) {
    if (fields[name] === undefined && optional.includes(name)) continue
    if (!hasForm(fields[name])) throw new SigningError(name, 'is missing or has another form')
    order[name] = fields[name]
  }
  return order as unknown as Order
}

/**
 * Reads an authority and computes its hash. A document that is forged in any part has another hash; votes name that
 * hash, and the wallet service refuses them.
 * @throws SigningError if it lacks the parts that are needed to show orders
 */
export async function readAuthority(value: unknown): Promise<Authority> {
  const document = membersOf(value, 'authority') as unknown as AuthorityDocument
  const isReadable =
    matching(/^strongroom-authority-[1-9][0-9]*$/)(document.format) &&
    [document.rules, document.addresses, document.contacts ?? []].every(isListOfObjects)
  if (!isReadable) throw new SigningError('authority', 'cannot be read')
  return { document, hash: await hashOf(document) }
}

const isListOfObjects = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

function membersOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SigningError(name, 'is not a document')
  return value as Record<string, unknown>
}

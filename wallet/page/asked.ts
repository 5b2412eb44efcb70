import { toBytes } from './encoding.ts'

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
  amount: string
  feeLevel?: string
  maxFee?: string
  rulesVersion: number
  expiresAt: string
}

export type Decision = 'initiate' | 'approve' | 'reject'
/** What the console asks to have signed, and who signs it. */
export interface Asked {
  order: Order
  decision: Decision
  person: string
}

/** A request that cannot be signed, for a reason that people are told. */
export class Fault extends Error {}

type Form = (value: unknown) => boolean
const matching =
  (pattern: RegExp): Form =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
const isWhole: Form = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isId = matching(/^[A-Za-z0-9._:-]{1,128}$/)
const isAddress = matching(/^0x[0-9a-fA-F]{40}$/)
const isAmount = matching(/^[1-9][0-9]{0,77}$/)
const isTime: Form = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value

/** Each field of an order (docs/signed-orders.md): what it is called here, and its form. An order with another one is refused. */
export const orderFields: Record<keyof Order, [label: string, hasForm: Form]> = {
  transferId: ['Transfer', isId],
  vaultId: ['Vault', isId],
  initiatorId: ['Ordered by', isId],
  fromAddressId: ['Id of the sender’s address', isId],
  fromAddress: ['Sender', isAddress],
  network: ['Network', matching(/^[a-z0-9][a-z0-9-]{0,62}$/)],
  coinType: ['Coin type', isWhole],
  derivationPath: ['Derivation path', matching(/^m(\/[0-9]+)+$/)],
  toAddress: ['Recipient', isAddress],
  tokenId: ['Id of the token', isId],
  contractAddress: ['Contract of the token', (value) => value === null || isAddress(value)],
  amount: ['Amount in the smallest unit', isAmount],
  feeLevel: ['Speed', matching(/^(low|medium|high)$/)],
  maxFee: ['Fee limit in the smallest unit', isAmount],
  rulesVersion: ['Version of the rules', isWhole],
  expiresAt: ['Expires', isTime],
}
const optional = ['feeLevel', 'maxFee']
const decisions = ['initiate', 'approve', 'reject']

/** @throws Fault, or another error for what cannot be read at all */
export function readAsked(fragment: string): Asked {
  const { order: given, decision, person, ...others } = JSON.parse(new TextDecoder().decode(toBytes(fragment)))
  if (Object.keys(others).length > 0) throw new Fault('it has a field that this page does not know')
  if (!decisions.includes(decision) || !isId(person)) throw new Fault('nobody decides')
  const order = readOrder(given)
  if (decision === 'initiate' && person !== order.initiatorId) throw new Fault('somebody else orders it')
  return { order, decision, person }
}

function readOrder(given: Record<string, unknown>): Order {
  if (Object.keys(given).some((name) => !Object.hasOwn(orderFields, name)))
    throw new Fault('it has a field that this page does not know')
  const order: Record<string, unknown> = {}
  for (const [name, [label, hasForm]] of Object.entries(orderFields)) {
    if (!Object.hasOwn(given, name) && optional.includes(name)) continue
    if (!hasForm(given[name])) throw new Fault(`${label} is missing or has another form`)
    order[name] = given[name]
  }
  return order as unknown as Order
}

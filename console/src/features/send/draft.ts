import { type Address, type AddressBalance, type Token, type TransferOrder, toRaw } from '@strongroom/sdk'
import { parseAmount } from '../../lib/amounts.ts'
import { addressKey, isAddressLike } from '../../lib/recipient.ts'
import type { Entered } from '../../lib/sign-votes.ts'
import type { KnownAddress, RecipientCheck } from './queries.ts'

/** What the form holds. */
export type Draft = {
  sourceText: string
  source: Address | null
  tokenId: string | null
  recipientText: string
  /** Chosen from the offer; a pasted address is no choice. */
  recipient: KnownAddress | null
  /** The address once more, typed by hand because it resembles another one. */
  typedOut: string
  amountText: string
  purpose: string
  note: string
  category: string
  /** '' leaves it to the service. */
  feeLevel: '' | 'low' | 'medium' | 'high'
  maxFeeText: string
}

export const emptyDraft: Draft = {
  sourceText: '',
  source: null,
  tokenId: null,
  recipientText: '',
  recipient: null,
  typedOut: '',
  amountText: '',
  purpose: '',
  note: '',
  category: '',
  feeLevel: '',
  maxFeeText: '',
}

/** The balance that pays: of the chosen token, or of the first that holds something. */
export function balanceOf({ source, tokenId }: Draft): AddressBalance | null {
  if (source === null) return null
  const chosen = source.balances.find((balance) => balance.tokenId === (tokenId ?? source.tokenId))
  return chosen ?? source.balances.find(({ available }) => available !== '0') ?? source.balances[0] ?? null
}

/** The address that was pasted or typed, if it has the form of one. */
export function pastedAddress({ recipient, recipientText }: Draft): string | null {
  const text = recipientText.trim()
  return recipient === null && isAddressLike(text) ? text : null
}

export function isTypedOut({ typedOut, recipientText }: Draft): boolean {
  return addressKey(typedOut.replace(/\s/g, '')) === addressKey(recipientText.trim())
}

export function amountOf(draft: Draft): string | null {
  const balance = balanceOf(draft)
  return balance === null ? null : parseAmount(draft.amountText, balance.decimals)
}

/** The order that the form describes; null while something is missing. */
export function orderOf(draft: Draft, check: RecipientCheck | null, coin: Token | null): TransferOrder | null {
  const balance = balanceOf(draft)
  const amount = amountOf(draft)
  const toAddress = draft.recipient?.address ?? pastedAddress(draft)
  if (draft.source === null || balance === null || amount === null || toAddress === null) return null
  if (!/[1-9]/.test(amount)) return null
  const feeLimit = feeLimitOf(draft, coin)
  if (feeLimit === null) return null
  const counterpartyId = draft.recipient?.counterpartyId ?? check?.same?.counterpartyId ?? null
  return {
    fromAddressId: draft.source.id,
    toAddress,
    tokenId: balance.tokenId,
    amount,
    ...(counterpartyId === null ? {} : { counterpartyId }),
    ...(draft.feeLevel === '' ? {} : { feeLevel: draft.feeLevel }),
    ...feeLimit,
    ...metadataOf(draft),
  }
}

/** The limit of the fee in the smallest unit of the coin; null when what was typed is none. */
export function feeLimitOf({ maxFeeText }: Draft, coin: Token | null): Pick<TransferOrder, 'maxFee'> | null {
  if (maxFeeText.trim() === '') return {}
  const decimal = coin === null ? null : parseAmount(maxFeeText, coin.decimals)
  if (coin === null || decimal === null || !/[1-9]/.test(decimal)) return null
  return { maxFee: toRaw(decimal, coin).toString() }
}

/** What the person entered of an order, without what the service makes of it; null while something is missing. */
export function enteredOf(draft: Draft, { toAddress, amount, feeLevel }: TransferOrder): Entered | null {
  const balance = balanceOf(draft)
  if (draft.source === null || balance === null) return null
  const { address: fromAddress, network } = draft.source
  const maxFee = draft.maxFeeText.trim() === '' ? null : parseAmount(draft.maxFeeText, decimalsMax)
  return {
    ...{ fromAddress, network, symbol: balance.symbol, toAddress, amount },
    ...(feeLevel === undefined ? {} : { feeLevel }),
    ...(maxFee === null ? {} : { maxFee }),
  }
}

/** More than any token has: the authority says how many count. */
const decimalsMax = 36

function metadataOf({ purpose, note, category }: Draft): Pick<TransferOrder, 'metadata'> {
  const metadata = {
    ...(purpose.trim() === '' ? {} : { paymentPurpose: purpose.trim() }),
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(category === '' ? {} : { category }),
  }
  return Object.keys(metadata).length === 0 ? {} : { metadata }
}

import {
  type Address,
  type AddressBalance,
  type CheckedRecipient,
  type Token,
  type TransferOrder,
  toRaw,
} from '@strongroom/sdk'
import { parseAmount } from '../../lib/amounts.ts'
import { addressKey, isAddressLike } from '../../lib/recipient.ts'
import type { Entered } from '../../lib/sign-votes.ts'
import type { KnownAddress } from './queries.ts'

/** The values of the form. */
export type Draft = {
  sourceText: string
  source: Address | null
  tokenId: string | null
  recipientText: string
  /** The chosen recipient; null for a pasted address. */
  recipient: KnownAddress | null
  /** The address typed again by hand, because it resembles another address. */
  typedOut: string
  amountText: string
  purpose: string
  note: string
  category: string
  /** '' leaves the level to the service. */
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

/** Returns the paying balance: of the chosen token, or the first balance above zero. */
export function balanceOf({ source, tokenId }: Draft): AddressBalance | null {
  if (source === null) return null
  const chosen = source.balances.find((balance) => balance.tokenId === (tokenId ?? source.tokenId))
  return chosen ?? source.balances.find(({ available }) => available !== '0') ?? source.balances[0] ?? null
}

/** Returns the pasted or typed text if it has the form of an address. */
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

/** Returns the order that the form describes, or null while something is missing. */
export function orderOf(draft: Draft, check: CheckedRecipient | null, coin: Token | null): TransferOrder | null {
  const balance = balanceOf(draft)
  const amount = amountOf(draft)
  const toAddress = draft.recipient?.address ?? pastedAddress(draft)
  if (draft.source === null || balance === null || amount === null || toAddress === null) return null
  if (!/[1-9]/.test(amount)) return null
  const feeLimit = feeLimitOf(draft, coin)
  if (feeLimit === null) return null
  const known = check?.known?.network === draft.source.network ? check.known : null
  const counterpartyId = draft.recipient?.counterpartyId ?? known?.counterpartyId ?? null
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

/**
 * Returns the limit of the fee in the smallest unit of the coin, or null if the typed text is not an amount above zero.
 */
export function feeLimitOf({ maxFeeText }: Draft, coin: Token | null): Pick<TransferOrder, 'maxFee'> | null {
  if (maxFeeText.trim() === '') return {}
  const decimal = coin === null ? null : parseAmount(maxFeeText, coin.decimals)
  if (coin === null || decimal === null || !/[1-9]/.test(decimal)) return null
  return { maxFee: toRaw(decimal, coin).toString() }
}

/** Returns the entered values of an order, without values that the service adds; null while something is missing. */
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

/** More decimals than any token has. The authority decides how many are valid. */
const decimalsMax = 36

function metadataOf({ purpose, note, category }: Draft): Pick<TransferOrder, 'metadata'> {
  const metadata = {
    ...(purpose.trim() === '' ? {} : { paymentPurpose: purpose.trim() }),
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(category === '' ? {} : { category }),
  }
  return Object.keys(metadata).length === 0 ? {} : { metadata }
}

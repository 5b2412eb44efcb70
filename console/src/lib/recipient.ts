import type { CheckedRecipient } from '@strongroom/sdk'

/**
 * Returns an address in the form in which addresses are compared: letters of a 0x address may have either case, and those of a
 * bech32 address may all be capitals.
 */
export function addressKey(address: string): string {
  const isBech32 = /^(bc|ltc)1[0-9a-z]*$|^(BC|LTC)1[0-9A-Z]*$/.test(address)
  return /^0x/i.test(address) || isBech32 ? address.toLowerCase() : address
}

/** Returns true if a text is meant as an address and not as a name. The service checks its exact form. */
export function isAddressLike(text: string): boolean {
  if (/^0x/i.test(text)) return /^0x[0-9a-f]{40}$/i.test(text)
  return /^[A-Za-z0-9]{25,90}$/.test(text) && /\d/.test(text)
}

export type Recipient = { network: string; address: string }
/** Returns what the service says about an address; null while it was not asked. */
export type FindChecked = (recipient: Recipient) => CheckedRecipient | null

type Common = 'checking' | 'no address' | 'wrong checksum' | 'known' | 'look-alike' | 'paid before' | 'new'

/** Returns what the check says about a recipient of a list, in one word. */
export function verdictOf(checked: CheckedRecipient | null): Common {
  if (checked === null) return 'checking'
  if (checked.fault !== null) return checked.fault === 'wrong_checksum' ? 'wrong checksum' : 'no address'
  if (checked.known !== null) return 'known'
  if (checked.lookAlikes.length > 0) return 'look-alike'
  return checked.isFirstPayment ? 'new' : 'paid before'
}

/** A key by which rows with the same recipient are counted once. */
export const recipientKey = ({ network, address }: Recipient) => `${network} ${addressKey(address)}`

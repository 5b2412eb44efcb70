import { addressKeyOf } from './address-keys.ts'
import { defineSelector, unknownFinding } from './selector.ts'
import { readOnchainSet } from './values.ts'

/** The on-chain address that is paid, compared as its network compares addresses. */
export const destination = defineSelector(readOnchainSet, (named, { destination }) => {
  if (destination === undefined) return unknownFinding
  const { address, key, networkType } = destination
  return { matched: named.some((text) => addressKeyOf(text, networkType) === key), observed: address }
})

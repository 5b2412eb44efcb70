/** The codes of refusals of orders and authorities (docs/signed-orders.md). The answer has the first code that applies, in this order. */
export const refusalCodes = [
  'AUTHORIZATION_MISSING',
  'AUTHORIZATION_MALFORMED',
  'ORDER_DIFFERS',
  'NOT_IN_PAYOUT',
  'ORDER_EXPIRED',
  'AUTHORITY_VERSION_DIFFERS',
  'KEY_UNKNOWN',
  'SIGNATURE_INVALID',
  'SIGNED_IN_FUTURE',
  'EXPIRES_TOO_LATE',
  'TOKEN_NOT_PERMITTED',
  'NOT_INITIATED',
  'VOTES_MISSING',
  'PER_DAY_EXCEEDED',
  'STOPPED',
] as const
/** Codes that refuse a fully signed version of an authority. DECIMALS_DIFFER also refuses orders before they are signed. */
type FitCode = 'KEY_OF_ANOTHER_PAGE' | 'DECIMALS_DIFFER' | 'VERSION_CANCELLED'
export type RefusalCode = (typeof refusalCodes)[number]

export type Refusal = { code: RefusalCode | FitCode; sentence: string }

export const refusal = (code: Refusal['code'], sentence: string): Refusal => ({ code, sentence })

/** A code in capitals, a colon and a sentence, as everywhere in the protocol. */
export const toText = ({ code, sentence }: Refusal) => `${code}: ${sentence}`

/** How soon a transfer should be mined. */
export const feeLevels = ['low', 'medium', 'high'] as const
export type FeeLevel = (typeof feeLevels)[number]

/** What a wallet service takes when an order names no level. */
export const defaultFeeLevel: FeeLevel = 'medium'

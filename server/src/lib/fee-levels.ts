/** The levels of how soon a transfer should be mined. */
export const feeLevels = ['low', 'medium', 'high'] as const
export type FeeLevel = (typeof feeLevels)[number]

/** The level that a wallet service uses when an order names none. */
export const defaultFeeLevel: FeeLevel = 'medium'

/** The levels of the network fee, which decide how soon a transfer is mined. */
export const feeLevels = ['low', 'medium', 'high'] as const
export type FeeLevel = (typeof feeLevels)[number]

/** The level that a wallet service uses when an order names none. */
export const defaultFeeLevel: FeeLevel = 'medium'

export const kinds = ['company', 'individual', 'exchange', 'service', 'other'] as const
export type Kind = (typeof kinds)[number]

import type { WithheldTokenRow } from '../../registry/tokens/withheld.ts'

export function toWithheldToken({ createdAt, ...token }: WithheldTokenRow) {
  return { ...token, createdAt: createdAt.toISOString() }
}

import { parseStrictJson } from '../../../lib/strict-json.ts'
import { checks, type TransferStatus } from './answers.ts'

/** Parses JSON. Returns undefined, which matches no schema, for invalid or ambiguous JSON. */
export function parse(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}

export function codeOf(text: string): string | null {
  const value = parse(text)
  const details = checks.refusal(value) ? value.details : undefined
  return typeof details === 'string' ? (/^([A-Z_]{3,40})(?::|$)/.exec(details)?.[1] ?? null) : null
}

export function wordsOf(text: string): string {
  const value = parse(text)
  return checks.refusal(value) ? plainText(value.message) : 'no reason given'
}

export const withPlainReason = (status: TransferStatus): TransferStatus => ({
  ...status,
  failureReason: status.failureReason === null ? null : plainText(status.failureReason),
})

export const isPossible = (blockTime: string | null): boolean =>
  blockTime === null || !Number.isNaN(Date.parse(blockTime))

/** Makes text of another service safe to store and show: one line, of limited length, without control characters. */
function plainText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 500)
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

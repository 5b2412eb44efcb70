import { isForbiddenTarget } from '../../../outbound/guarded-connect.ts'
import { AnswerTooLongError } from '../../../outbound/read-within.ts'

/** Thrown when the answer of a provider opens no session. The log and the audit record show the reason; the page does not. */
export class ProviderError extends Error {
  readonly reason: string

  constructor(reason: string, cause?: unknown) {
    super(`The identity provider answered wrongly: ${reason}`, { cause })
    this.name = 'ProviderError'
    this.reason = reason
  }

  /** Returns a ProviderError for an error of a library or connection. Its reason contains no text of the provider. */
  static of(error: unknown): ProviderError {
    if (error instanceof ProviderError) return error
    return new ProviderError(reasonOf(error), error)
  }
}

function reasonOf(error: unknown): string {
  const chain = causesOf(error)
  if (chain.some(isForbiddenTarget)) return 'target_refused'
  if (chain.some((cause) => cause instanceof AnswerTooLongError)) return 'answer_too_long'
  if (chain.some((cause) => cause instanceof Error && cause.name === 'TimeoutError')) return 'provider_silent'
  const code = chain.map((cause) => (cause as { code?: unknown }).code).find((value) => typeof value === 'string')
  const claim = chain.map((cause) => (cause as { claim?: unknown }).claim).find((value) => typeof value === 'string')
  const words = [code ?? 'answer_invalid', ...(claim === undefined ? [] : [claim])].join('_')
  return words
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '')
    .slice(0, 80)
}

function causesOf(error: unknown): object[] {
  const chain: object[] = []
  let cause = error
  while (typeof cause === 'object' && cause !== null && chain.length < 8) {
    chain.push(cause)
    cause = (cause as { cause?: unknown }).cause
  }
  return chain
}

/** A node did not answer, or refused a call. */
export class NodeError extends Error {
  readonly isOfNode = true
}

/** The shape by which errors of viem are recognised, so that the library is loaded for EVM networks only. */
type LibraryError = Error & { shortMessage: string; details?: string; walk: unknown }

/** Returns true if a node of a network did not answer, or refused a call. */
export function isNodeError(error: unknown): error is NodeError | LibraryError {
  return error instanceof NodeError || isOfLibrary(error)
}

const isOfLibrary = (error: unknown): error is LibraryError =>
  error instanceof Error && 'shortMessage' in error && 'walk' in error

/** Returns a sentence for logs and failure reasons, without the request, whose URL may hold a key. */
export function describeNodeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const text = isOfLibrary(error) ? sentenceOf(error) : error.message
  return text
    .replace(/(https?|wss?):\/\/\S+/g, '<node>')
    .replace(/\s+/g, ' ')
    .slice(0, 500)
}

const sentenceOf = ({ shortMessage, details }: LibraryError) => [shortMessage, details].filter(Boolean).join(' ')

import {
  BaseError,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  InsufficientFundsError,
} from 'viem'

/** A sentence for logs and failure reasons; leaves out viem's request dump, which holds the node's URL and so perhaps a key. */
export function describeNodeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const text =
    error instanceof BaseError ? [error.shortMessage, error.details].filter(Boolean).join(' ') : error.message
  return text
    .replace(/https?:\/\/\S+/g, '<node>')
    .replace(/\s+/g, ' ')
    .slice(0, 500)
}

/** Whether the node executed the call and refused it, as opposed to the node not answering. */
export function isRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const cause = error.walk(
    (each) =>
      each instanceof ExecutionRevertedError ||
      each instanceof ContractFunctionRevertedError ||
      each instanceof ContractFunctionZeroDataError,
  )
  return cause !== null
}

/** Whether the node refused because the sender cannot pay. */
export function isInsufficientFunds(error: unknown): boolean {
  return error instanceof BaseError && error.walk((each) => each instanceof InsufficientFundsError) !== null
}

/** Whether a contract call failed in a way that asking again would not change: it reverted or answered with no or wrong data. */
export function isContractFault(error: unknown): boolean {
  if (isRevert(error)) return true
  if (!(error instanceof ContractFunctionExecutionError)) return false
  return (
    error.walk((each) => each instanceof Error && /^(AbiDecoding|Position|Integer|Slice|Size)/.test(each.name)) !== null
  )
}

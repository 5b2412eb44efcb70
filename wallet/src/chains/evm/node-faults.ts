import {
  BaseError,
  ContractFunctionExecutionError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  ExecutionRevertedError,
  HttpRequestError,
  InsufficientFundsError,
  SocketClosedError,
  TimeoutError,
  WebSocketRequestError,
} from 'viem'
import { describeNodeError } from '../node-error.ts'

/** Returns true if the code was executed and reverted or failed, so that a retry would not help. */
export function isExecutionFault(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const isKnownFault = (cause: unknown) =>
    cause instanceof ExecutionRevertedError ||
    cause instanceof ContractFunctionRevertedError ||
    cause instanceof ContractFunctionZeroDataError
  if (error.walk(isKnownFault) !== null) return true
  return !isOutage(error) && executionFaultPattern.test(describeNodeError(error))
}

const outages = [HttpRequestError, SocketClosedError, TimeoutError, WebSocketRequestError]

/** Returns true if the node did not answer. A refusal is an answer. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof BaseError)) return true
  return error.walk((cause) => outages.some((outage) => cause instanceof outage)) !== null
}

/** The names that geth, anvil, Nethermind, Erigon and Besu have for execution errors; there is no common error code. */
const executionFaultPattern = new RegExp(
  [
    'revert',
    'out ?of ?gas',
    'gas required exceeds',
    'invalid ?opcode',
    'invalid ?jump',
    'bad ?(jump|instruction)',
    'stack ?(under|over)flow',
    'undefined instruction',
    '(EVM|VM execution) error',
    'execution aborted',
    'INSUFFICIENT_GAS',
    'INVALID_OPERATION',
  ].join('|'),
  'i',
)

/** Returns true if the node refused because the sender cannot pay. */
export function isInsufficientFunds(error: unknown): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof InsufficientFundsError) !== null
}

/** Returns true if a contract cannot be read as an ERC-20 token: it failed, or its answer has no data or other data. */
export function isContractFault(error: unknown): boolean {
  if (isExecutionFault(error)) return true
  if (!(error instanceof ContractFunctionExecutionError)) return false
  return (
    error.walk(
      (cause) => cause instanceof Error && /^(AbiDecoding|Position|Integer|Slice|Size|InvalidBytes)/.test(cause.name),
    ) !== null
  )
}

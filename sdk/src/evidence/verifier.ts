/** Checks evidence files of transfers offline: `@strongroom/sdk/evidence`. */
export { type Evidence, readEvidence } from './evidence.ts'
export { type RequestFile, type RequestVerdict, readRequest, verifyRequest } from './request.ts'
export { type ChainedSeal, type CheckedSeal, checkChainedSeal } from './seals.ts'
export {
  type Check,
  type CheckName,
  checkNames,
  type Field,
  type FieldState,
  type Verdict,
  type VerifyOptions,
  verifyEvidence,
} from './verify.ts'
export type { CheckedVote, VoteFault } from './votes.ts'

/** One policy's demand on a subject, with the votes that count for it now. */
export type RequirementState = {
  stepIndex: number
  policyId: string
  policyCode: string
  threshold: number
  bypassed: boolean
  /** Distinct approvers who voted yes and are still entitled to. */
  approvalsCount: number
}

/** A subject is approved when every requirement that was not waived has reached its own threshold. */
export function isApproved(requirements: RequirementState[]): boolean {
  return requirements.length > 0 && requirements.every((one) => one.bypassed || one.approvalsCount >= one.threshold)
}

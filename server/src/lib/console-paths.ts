/**
 * The pages that mails lead to, as paths of our own origin. They are stable: a mail is opened years later. Whatever serves
 * them asks for a session first.
 */
export const consolePaths = {
  transfer: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/transfer/${id}`,
  /** Where nobody votes: what can be done about a transfer that is on its way. */
  transferOnItsWay: (vaultCode: string, id: string) => `/v/${vaultCode}/transfers/${id}`,
  deposit: (vaultCode: string, id: string) => `/v/${vaultCode}/deposits/${id}`,
  approvalRequest: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/request/${id}`,
  payout: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/payout/${id}`,
  /** A change that was announced, by its audit record; null: of the platform. */
  change: (vaultCode: string | null, auditRecordId: string) =>
    vaultCode === null ? `/changes/${auditRecordId}` : `/changes/${vaultCode}/${auditRecordId}`,
  sessions: () => '/me/sessions',
}

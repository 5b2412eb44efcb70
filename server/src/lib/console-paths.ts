/**
 * The pages to which mails lead, as paths of our own origin. They are stable, because a mail may be opened years later. The
 * pages ask for a session first.
 */
export const consolePaths = {
  transfer: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/transfer/${id}`,
  /** The page of a transfer on its way, which shows how people can act on it. There are no votes on it. */
  transferOnItsWay: (vaultCode: string, id: string) => `/v/${vaultCode}/transfers/${id}`,
  deposit: (vaultCode: string, id: string) => `/v/${vaultCode}/deposits/${id}`,
  approvalRequest: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/request/${id}`,
  payout: (vaultCode: string, id: string) => `/v/${vaultCode}/approvals/payout/${id}`,
  /** The page of an announced change, by its audit record; the code is null for a change of the platform. */
  change: (vaultCode: string | null, auditRecordId: string) =>
    vaultCode === null ? `/changes/${auditRecordId}` : `/changes/${vaultCode}/${auditRecordId}`,
  sessions: () => '/me/sessions',
}

/**
 * The pages that mails lead to, as paths of our own origin. They are stable: a mail is opened years later. Whatever serves
 * them asks for a session first.
 */
export const appPaths = {
  transfer: (vaultCode: string, id: string) => `/app/vaults/${vaultCode}/transfers/${id}`,
  approvalRequest: (vaultCode: string, id: string) => `/app/vaults/${vaultCode}/approval-requests/${id}`,
  /** A change that was announced, by its audit record; null: of the platform. */
  change: (vaultCode: string | null, auditRecordId: string) =>
    vaultCode === null ? `/app/changes/${auditRecordId}` : `/app/vaults/${vaultCode}/changes/${auditRecordId}`,
  sessions: () => '/app/sessions',
}

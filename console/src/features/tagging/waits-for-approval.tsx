import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'

/** Says that a change waits for votes, with a link to its approval request. */
export function WaitsForApproval({ code, requestId }: { code: string; requestId: string }) {
  return (
    <div role="status" className="grid justify-items-start gap-2">
      <Badge tone="waiting">{t('Waits for approval')}</Badge>
      <p>{t('The approvers of this category decide about the change.')}</p>
      <Link to={`/v/${code}/approvals/request/${requestId}` as '/'} className="text-accent underline">
        {t('Show the request')}
      </Link>
    </div>
  )
}

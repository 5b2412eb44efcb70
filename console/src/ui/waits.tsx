import { Link } from '@tanstack/react-router'
import { Clock } from 'lucide-react'
import { t } from '../lib/language.ts'
import { buttonClass } from './button.tsx'

/** Says that a requested change is not made yet, because others vote on it first. */
export function WaitsForApproval({ code, requestId }: { code: string; requestId: string }) {
  return (
    <div role="status" className="rounded-lg border border-line bg-accent-soft p-4">
      <p className="mb-3 flex items-center gap-2 font-semibold text-accent">
        <Clock size={18} aria-hidden /> {t('This waits for approval')}
      </p>
      <p className="mb-3">{t('It takes effect when enough people have agreed.')}</p>
      <Link className={buttonClass('primary')} to={`/v/${code}/approvals/request/${requestId}` as '/'}>
        {t('See who votes')}
      </Link>
    </div>
  )
}

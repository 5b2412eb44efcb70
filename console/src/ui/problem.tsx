import { t } from '../lib/language.ts'
import { messageOf, requestIdOf } from '../lib/query-client.ts'

/** The error of an action, above its form. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  const requestId = requestIdOf(error)
  return (
    <div role="alert" className="mb-4 rounded-lg border border-bad bg-bad-soft p-3">
      <p className="font-medium text-bad">{messageOf(error)}</p>
      {requestId !== null && (
        <p className="mt-1 text-[0.8125rem] text-quiet">
          {t('Request')} <span className="code">{requestId}</span>
        </p>
      )}
    </div>
  )
}

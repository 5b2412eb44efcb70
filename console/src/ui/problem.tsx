import { messageOf } from '../lib/error-words.ts'
import { t } from '../lib/language.ts'
import { requestIdOf } from '../lib/query-client.ts'
import { CopyButton } from './copy-button.tsx'

/** The error of an action, above its form. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  return (
    <div role="alert" className="mb-4 rounded-lg border border-bad bg-bad-soft p-3">
      <p className="font-medium text-bad">{messageOf(error)}</p>
      <RequestId error={error} />
    </div>
  )
}

/** The id by which support finds the request, small and to be copied. */
export function RequestId({ error }: { error: unknown }) {
  const requestId = requestIdOf(error)
  if (requestId === null) return null
  return (
    <p className="flex items-center gap-1 text-[0.75rem] text-quiet">
      {t('Request')} <span className="code [overflow-wrap:anywhere]">{requestId}</span>
      <CopyButton text={requestId} label={t('Copy the number of the request')} />
    </p>
  )
}

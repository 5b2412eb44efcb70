import { t } from '../lib/language.ts'
import { messageOf, requestIdOf } from '../lib/query-client.ts'

/** Why a write was refused, in the words of the service, beside the button that was pressed. */
export function Refused({ error }: { error: unknown }) {
  const requestId = requestIdOf(error)
  return (
    <p role="alert" className="my-3 text-bad">
      {messageOf(error)}{' '}
      {requestId !== null && <span className="code text-[0.75rem]">({t('Request {id}', { id: requestId })})</span>}
    </p>
  )
}

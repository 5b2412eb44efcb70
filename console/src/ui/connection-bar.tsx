import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { t } from '../lib/language.ts'
import { isReached, onReached } from '../lib/reached.ts'
import { Button } from './button.tsx'

/** Says that the page may be outdated while the service does not answer. The page itself stays. */
export function ConnectionBar() {
  const client = useQueryClient()
  const isUp = useSyncExternalStore(onReached, isReached)
  // A page without queries, such as /verify, does not become outdated.
  if (isUp || client.getQueryCache().getAll().length === 0) return null
  return (
    <div role="alert" className="sticky top-0 z-50 flex items-center gap-3 bg-warn-soft px-4 py-2 text-warn">
      {t('The service does not answer. What you see may be old.')}
      <Button onClick={() => client.refetchQueries({ type: 'active' })}>{t('Try again')}</Button>
    </div>
  )
}

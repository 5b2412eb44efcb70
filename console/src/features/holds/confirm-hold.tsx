import type { Hold } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { useMayPlace } from './queries.ts'
import { nameOfHeld } from './words.ts'

/**
 * Confirms a hold on a person, which would otherwise end by itself. The confirming person must not be the one who
 * placed it.
 */
export function ConfirmHold({ code, hold }: { code: string; hold: Hold }) {
  const [key] = useState(newIdempotencyKey)
  const mayPlace = useMayPlace(code)
  const { data: session } = useQuery(sessionQuery)
  const write = useWrite({
    renews: ['holds', code],
    said: t('The hold stays until two people release it.'),
    write: () => vaultOf(code).holds.confirm(hold.id, { idempotencyKey: key }),
  })
  const waits = hold.endsAt !== null && hold.confirmedAt === null && hold.becauseOfId === null
  if (!mayPlace || !waits || session?.user.id === hold.placedById) return null
  return (
    <>
      <WriteFailed write={write} />
      <Button
        busy={write.isPending}
        aria-label={t('Confirm the hold on {subject}', { subject: nameOfHeld(hold) })}
        onClick={() => write.mutate()}
      >
        {t('Confirm')}
      </Button>
    </>
  )
}

import { type Hold, StrongroomError } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { nameOfHeld } from './words.ts'

const isWithoutVoters = (error: unknown) => error instanceof StrongroomError && error.reason === 'quorum_unreachable'

/** Requests the release of a hold. Another person votes on it, so the hold stays for now. */
export function ReleaseHold({ code, hold, close }: { code: string; hold: Hold; close: () => void }) {
  const [reason, setReason] = useState('')
  const [key] = useState(newIdempotencyKey)
  const write = useWrite({
    renews: ['inbox'],
    said: t('The release waits for the vote of another person.'),
    write: () => vaultOf(code).holds.release(hold.id, { reason: reason.trim() }, { idempotencyKey: key }),
  })
  const waiting = write.data?.pendingApproval ?? null
  return (
    <Sheet open title={t('Release the hold on {subject}?', { subject: nameOfHeld(hold) })} onClose={close}>
      {waiting !== null ? (
        <>
          <p className="mb-4">{t('Another person must agree. Until then the hold stays in force.')}</p>
          <Link to={`/v/${code}/approvals/request/${waiting.id}` as '/'} className={buttonClass('primary')}>
            {t('See the request')}
          </Link>
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (reason.trim() !== '') write.mutate()
          }}
        >
          <p className="mb-4 text-quiet">{t('Another person votes on it and reads your reason.')}</p>
          <TextArea
            label={t('Reason')}
            value={reason}
            error={write.fields.get('reason') ?? null}
            onChange={({ target }) => setReason(target.value)}
          />
          <WriteFailed write={write} shown={['reason']} />
          {isWithoutVoters(write.error) && (
            <p className="mb-4 rounded-md bg-warn-soft p-3 text-warn">
              {t('Nobody else can vote on it. Another administrator must be added first.')}
            </p>
          )}
          <Button
            type="submit"
            look="primary"
            busy={write.isPending}
            disabledBecause={reason.trim() === '' ? t('Say why first.') : null}
          >
            {t('Ask for the release')}
          </Button>
        </form>
      )}
    </Sheet>
  )
}

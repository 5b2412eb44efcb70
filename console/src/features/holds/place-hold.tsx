import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import type { Subject } from './queries.ts'
import { effectOf, subjectWord } from './words.ts'

type PlaceHoldProps = { code: string; subject: Subject; name: string | null; close: () => void }

/** Places a hold at once. Only the reason is required: a person who needs a hold has no time. */
export function PlaceHold({ code, subject, name, close }: PlaceHoldProps) {
  const [reason, setReason] = useState('')
  const [key] = useState(newIdempotencyKey)
  const write = useWrite({
    renews: ['holds', code],
    said: t('The hold is in force.'),
    onDone: close,
    write: () =>
      vaultOf(code).holds.place(
        { subjectType: subject.type, subjectId: subject.id, reason: reason.trim() },
        { idempotencyKey: key },
      ),
  })
  const title = t('Hold {subject}?', { subject: name ?? subjectWord(subject.type) })
  return (
    <Sheet open title={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (reason.trim() !== '') write.mutate()
        }}
      >
        <p className="mb-2">{effectOf(subject.type)}</p>
        <p className="mb-4 text-quiet">{t('It takes effect at once. To release it, two people must agree.')}</p>
        {subject.type === 'user' && (
          <p className="mb-4 text-quiet">
            {t(
              'A hold on a person ends after 72 hours unless a second person confirms it. If too few people who vote were left besides you, you are suspended as well until then.',
            )}
          </p>
        )}
        <TextArea
          label={t('Reason')}
          hint={t('The administrators get it by mail, and everybody who sees the hold reads it.')}
          value={reason}
          error={write.fields.get('reason') ?? null}
          onChange={({ target }) => setReason(target.value)}
        />
        <WriteFailed write={write} shown={['reason']} />
        <Button
          type="submit"
          look="danger"
          busy={write.isPending}
          disabledBecause={reason.trim() === '' ? t('Say why first.') : null}
        >
          {t('Hold now')}
        </Button>
      </form>
    </Sheet>
  )
}

import type { Deposit, EventResolution } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'

/** Asks two people to credit or dismiss a held deposit. */
export function ResolveEvent({ code, deposit }: { code: string; deposit: Deposit }) {
  const [open, setOpen] = useState(false)
  const [requestId, setRequestId] = useState<string | null>(null)
  const { register, handleSubmit, formState } = useForm<EventResolution>({ defaultValues: { outcome: 'credit' } })
  const resolve = useWrite({
    write: (body: EventResolution) => vaultOf(code).walletEvents.resolve(deposit.id, body),
    renews: ['inbox'],
    said: t('Your request waits for another person.'),
    onDone: ({ request }) => {
      setRequestId(request.id)
      setOpen(false)
    },
  })
  if (requestId !== null) {
    return (
      <Link to={`/v/${code}/approvals/request/${requestId}` as '/'} className="text-accent underline">
        {t('Waits for votes')}
      </Link>
    )
  }
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        {t('Decide')}
      </Button>
      <Sheet title={t('Decide on a held deposit')} open={open} onClose={() => setOpen(false)}>
        <form onSubmit={handleSubmit((body) => resolve.mutate(body))}>
          <SelectField
            label={t('Decision on the deposit')}
            hint={t('To credit the deposit, the chain must confirm it now, and again before the last vote counts.')}
            {...register('outcome')}
          >
            <option value="credit">{t('The deposit is credited as the chain reports it')}</option>
            <option value="dismiss">{t('The deposit is dismissed, and the books do not change')}</option>
          </SelectField>
          <TextArea
            label={t('Reason')}
            error={formState.errors.reason?.message ?? resolve.fields.get('reason')}
            {...register('reason', { required: t('Please fill this in.') })}
          />
          <WriteFailed write={resolve} shown={['reason']} />
          <Button look="primary" type="submit" busy={resolve.isPending}>
            {t('Send the request')}
          </Button>
        </form>
      </Sheet>
    </>
  )
}

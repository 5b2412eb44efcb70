import type { Transfer, TransferResolution } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'

type Values = { outcome: TransferResolution['outcome']; txHash: string; reason: string }

/** A halted transfer: the reason, and the resolutions that people can request. */
export function HaltedTransfer({ code, transfer, mayAsk }: { code: string; transfer: Transfer; mayAsk: boolean }) {
  const [open, setOpen] = useState(false)
  const [requestId, setRequestId] = useState<string | null>(null)
  return (
    <Card title={t('This transfer is halted')}>
      <p className="[overflow-wrap:anywhere]">{transfer.haltReason}</p>
      <p className="mt-2 text-quiet">
        {t('Its amount stays reserved until two people settle, release or resume it together.')}
      </p>
      {requestId !== null && (
        <p className="mt-3">
          <Link to={`/v/${code}/approvals/request/${requestId}` as '/'} className="text-accent underline">
            {t('Your request waits for votes')}
          </Link>
        </p>
      )}
      {mayAsk && requestId === null && (
        <div className="mt-3">
          <Button look="primary" onClick={() => setOpen(true)}>
            {t('Resolve the transfer')}
          </Button>
        </div>
      )}
      <Sheet title={t('Resolve the transfer')} open={open} onClose={() => setOpen(false)}>
        <ResolveForm
          code={code}
          id={transfer.id}
          onAsked={(request) => {
            setRequestId(request)
            setOpen(false)
          }}
        />
      </Sheet>
    </Card>
  )
}

type ResolveFormProps = { code: string; id: string; onAsked: (requestId: string) => void }

function ResolveForm({ code, id, onAsked }: ResolveFormProps) {
  const { register, handleSubmit, watch, formState } = useForm<Values>({ defaultValues: { outcome: 'resume' } })
  const outcome = watch('outcome')
  const resolve = useWrite({
    write: (body: TransferResolution) => vaultOf(code).transfers.resolve(id, body),
    renews: ['inbox'],
    said: t('Your request waits for another person.'),
    onDone: ({ request }) => onAsked(request.id),
  })
  const submit = handleSubmit(({ txHash, ...values }) =>
    resolve.mutate(values.outcome === 'settle' ? { ...values, txHash: txHash.trim() } : values),
  )
  const required = { required: t('Please fill this in.') }
  return (
    <form onSubmit={submit}>
      <p className="mb-4">
        {t('The wallet service is asked about the transfer now, and again before the last vote counts.')}
      </p>
      <SelectField label={t('Outcome of the transfer')} hint={hintOf(outcome)} {...register('outcome')}>
        <option value="resume">{t('No outcome yet: resume the transfer')}</option>
        <option value="settle">{t('It was paid: settle the transfer')}</option>
        <option value="release">{t('It was not paid and never will be: release the amount')}</option>
      </SelectField>
      {outcome === 'settle' && (
        <TextField
          label={t('Hash of the transaction that paid the transfer')}
          className="code"
          error={formState.errors.txHash?.message ?? resolve.fields.get('txHash')}
          {...register('txHash', required)}
        />
      )}
      <TextArea
        label={t('Reason')}
        hint={t('The voters read the reason, and the audit log keeps it.')}
        error={formState.errors.reason?.message ?? resolve.fields.get('reason')}
        {...register('reason', required)}
      />
      <WriteFailed write={resolve} shown={['txHash', 'reason']} />
      <Button look="primary" type="submit" busy={resolve.isPending}>
        {t('Send the request')}
      </Button>
    </form>
  )
}

function hintOf(outcome: Values['outcome']): string {
  const hints: Record<Values['outcome'], string> = {
    resume: t('The wallet service is asked about the transfer again, or gets it again under the same id.'),
    settle: t('The transaction must be mined, with this sender, recipient, token and amount.'),
    release: t(
      'The wallet service must report a failure, or another transaction that has the same nonce or spends the same coins.',
    ),
  }
  return hints[outcome]
}

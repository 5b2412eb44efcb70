import { type CreateOperationRelationBody, toRaw } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { parseAmount } from '../../lib/amounts.ts'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { readReference } from './operation-reference.ts'
import { type Operation, refreshOperation, tokensQuery } from './queries.ts'

type RelationFormProps = { operation: Operation; tokenId: string; onDone: () => void }
type Values = {
  relationType: CreateOperationRelationBody['relationType']
  other: string
  amount: string
  comment: string
}

/** Records that this operation refunds, reverses, corrects or replaces another operation. */
export function RelationForm({ operation, tokenId, onDone }: RelationFormProps) {
  const client = useQueryClient()
  const { data: tokens = [] } = useQuery(tokensQuery)
  const { register, handleSubmit, setError, formState } = useForm<Values>({ defaultValues: { relationType: 'refund' } })
  const { code, type, id } = operation
  const create = useMutation({
    mutationFn: (body: CreateOperationRelationBody) => vaultOf(code).operationRelations.create(body),
    onSuccess: async () => {
      announce(t('The operations are related.'))
      await refreshOperation(client, operation)
      onDone()
    },
  })
  const submit = handleSubmit(({ relationType, other, amount, comment }) => {
    const target = readReference(other, code, type === 'transfer' ? 'deposit' : 'transfer')
    if (target === null) return setError('other', { message: t('This is no operation of this vault.') })
    const token = tokens.find((candidate) => candidate.id === tokenId)
    const decimal = amount.trim() === '' ? '' : parseAmount(amount, token?.decimals ?? 0)
    if (decimal === null) return setError('amount', { message: t('This is not a valid amount of the token.') })
    create.mutate({
      sourceOperationType: type,
      sourceOperationId: id,
      targetOperationType: target.type,
      targetOperationId: target.id,
      relationType,
      ...(decimal === '' || token === undefined ? {} : { relatedAmountRaw: toRaw(decimal, token).toString() }),
      comment: comment.trim() || null,
    })
  })
  return (
    <form onSubmit={submit} className="mt-3">
      <SelectField label={t('This operation')} {...register('relationType')}>
        <option value="refund">{t('refunds')}</option>
        <option value="reversal">{t('reverses')}</option>
        <option value="correction">{t('corrects')}</option>
        <option value="replacement">{t('replaces')}</option>
      </SelectField>
      <TextField
        label={t('the operation')}
        hint={t('Paste the address of its page.')}
        error={formState.errors.other?.message}
        {...register('other', { required: t('Please fill this in.') })}
      />
      <TextField
        label={t('Amount (optional)')}
        hint={t('The part that is meant; the whole amount without it.')}
        inputMode="decimal"
        error={formState.errors.amount?.message}
        {...register('amount')}
      />
      <TextField label={t('Comment (optional)')} {...register('comment')} />
      <Problem error={create.error} />
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={create.isPending}>
          {t('Relate')}
        </Button>
        <Button onClick={onDone}>{t('Discard')}</Button>
      </div>
    </form>
  )
}

import type { CreateOperationCategoryBody, OperationCategory } from '@strongroom/sdk'
import { useRef } from 'react'
import { type UseFormRegister, useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { appliesToWords, approvalScopeWords, scopeWords } from './category-words.ts'

type Values = Required<Omit<CreateOperationCategoryBody, 'color' | 'description' | 'emoji'>> & {
  description: string
  emoji: string
}

type CategoryFormProps = {
  code: string
  category?: OperationCategory
  /** True if the reader may change scopes and votes. Other editors leave them unchanged. */
  isAdmin: boolean
  /** Called with null if the new category waits for votes. */
  onDone: (category: OperationCategory | null) => void
}

const shown = ['key', 'name', 'description', 'emoji', 'appliesTo', 'approvalThreshold']

/** The name, look and rules of a category. */
export function CategoryForm({ code, category, isAdmin, onDone }: CategoryFormProps) {
  const idempotencyKey = useRef(crypto.randomUUID())
  const { register, handleSubmit, watch } = useForm<Values>({ defaultValues: valuesOf(category) })
  const write = useWrite<Values, OperationCategory | null>({
    renews: ['categories', code],
    said: category === undefined ? t('The category is created') : t('The category is changed'),
    onDone: (made) => onDone(made ?? category ?? null),
    write: async (values) => {
      const { operationCategories } = vaultOf(code)
      const { key, ...change } = bodyOf(values)
      if (category === undefined) {
        return (await operationCategories.create({ key, ...change }, { idempotencyKey: idempotencyKey.current })).value
      }
      const { name, description, emoji, appliesTo } = change
      const permitted = isAdmin ? change : { name, description, emoji, appliesTo }
      return (await operationCategories.update(category.id, permitted)).value
    },
  })
  const { fields } = write
  return (
    <form onSubmit={handleSubmit((values) => write.mutate(values))}>
      <TextField label={t('Name')} required maxLength={200} error={fields.get('name')} {...register('name')} />
      {category === undefined && (
        <TextField
          label={t('Key')}
          hint={t('Lower-case letters, digits and _. It never changes.')}
          required
          pattern="[a-z][a-z0-9_]*"
          maxLength={64}
          error={fields.get('key')}
          {...register('key')}
        />
      )}
      <TextArea
        label={t('Description')}
        maxLength={2_000}
        error={fields.get('description')}
        {...register('description')}
      />
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('Symbol')}
          hint={t('One emoji, or empty.')}
          maxLength={32}
          error={fields.get('emoji')}
          {...register('emoji')}
        />
        <SelectField label={t('For')} error={fields.get('appliesTo')} {...register('appliesTo')}>
          {optionsOf(appliesToWords())}
        </SelectField>
      </div>
      {isAdmin && <Rules register={register} waits={watch('approvalScope') !== 'none'} errors={fields} />}
      <WriteFailed write={write} shown={shown} />
      <Button type="submit" look="primary" busy={write.isPending}>
        {t('Save')}
      </Button>
    </form>
  )
}

type RulesProps = { register: UseFormRegister<Values>; waits: boolean; errors: ReadonlyMap<string, string> }

function Rules({ register, waits, errors }: RulesProps) {
  const scopes = optionsOf(scopeWords())
  return (
    <>
      <div className="grid gap-x-4 sm:grid-cols-3">
        <SelectField label={t('Who sees the values')} {...register('viewScope')}>
          {scopes}
        </SelectField>
        <SelectField label={t('Who assigns it')} {...register('assignScope')}>
          {scopes}
        </SelectField>
        <SelectField label={t('Who edits it')} {...register('editScope')}>
          {scopes}
        </SelectField>
      </div>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <SelectField label={t('Votes')} {...register('approvalScope')}>
          {optionsOf(approvalScopeWords())}
        </SelectField>
        {waits && (
          <TextField
            label={t('Number of votes needed')}
            type="number"
            min={1}
            max={100}
            required
            error={errors.get('approvalThreshold')}
            {...register('approvalThreshold', { valueAsNumber: true })}
          />
        )}
      </div>
      {waits && <CheckField label={t('Who asks may vote, too')} {...register('allowInitiatorApproval')} />}
    </>
  )
}

function optionsOf(words: Record<string, string>) {
  return Object.entries(words).map(([value, word]) => (
    <option key={value} value={value}>
      {word}
    </option>
  ))
}

function valuesOf(category: OperationCategory | undefined): Values {
  return {
    key: category?.key ?? '',
    name: category?.name ?? '',
    description: category?.description ?? '',
    emoji: category?.emoji ?? '',
    appliesTo: category?.appliesTo ?? 'both',
    viewScope: category?.viewScope ?? 'vault_members',
    assignScope: category?.assignScope ?? 'owner_only',
    editScope: category?.editScope ?? 'owner_only',
    approvalScope: category?.approvalScope ?? 'none',
    approvalThreshold: Math.max(1, category?.approvalThreshold ?? 1),
    allowInitiatorApproval: category?.allowInitiatorApproval ?? false,
  }
}

function bodyOf({ description, emoji, approvalThreshold, ...values }: Values): CreateOperationCategoryBody {
  return {
    ...values,
    description: description.trim() === '' ? null : description.trim(),
    emoji: emoji.trim() === '' ? null : emoji.trim(),
    approvalThreshold: values.approvalScope === 'none' ? 0 : approvalThreshold,
  }
}

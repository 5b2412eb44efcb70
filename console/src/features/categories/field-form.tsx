import type { CategoryField, OperationCategory } from '@strongroom/sdk'
import { useRef } from 'react'
import { type UseFormRegister, useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { typeWords } from './category-words.ts'
import { type FieldValues, fieldBodyOf, fieldChangeOf, fieldValuesOf, parseOptions } from './field-body.ts'

type FieldFormProps = { code: string; category: OperationCategory; field?: CategoryField; close: () => void }

const shown = ['key', 'label', 'optionsJson', 'scale', 'unit', 'currencyFieldKey', 'defaultJson', 'helpText']

/** A field of a category. Its key and type never change. */
export function FieldForm({ code, category, field, close }: FieldFormProps) {
  const idempotencyKey = useRef(crypto.randomUUID())
  const before = fieldValuesOf(field)
  const { register, handleSubmit, watch } = useForm<FieldValues>({ defaultValues: before })
  const write = useWrite<FieldValues>({
    renews: ['categories', code],
    said: field === undefined ? t('The field is added') : t('The field is changed'),
    onDone: close,
    write: (values) => {
      const { operationCategories } = vaultOf(code)
      if (field !== undefined)
        return operationCategories.updateField(category.id, field.id, fieldChangeOf(before, values))
      const orderIndex = category.fields.length
      const body = { ...fieldBodyOf(values), orderIndex }
      return operationCategories.addField(category.id, body, { idempotencyKey: idempotencyKey.current })
    },
  })
  const { fields: errors } = write
  return (
    <Sheet
      wide
      open
      title={field === undefined ? t('New field') : t('Edit {name}', { name: field.label })}
      onClose={close}
    >
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <div className="grid gap-x-4 sm:grid-cols-2">
          <TextField label={t('Label')} required maxLength={200} error={errors.get('label')} {...register('label')} />
          {field === undefined && (
            <>
              <TextField
                label={t('Key')}
                hint={t('Lower-case letters, digits and _. It never changes.')}
                required
                pattern="[a-z][a-z0-9_]*"
                maxLength={64}
                error={errors.get('key')}
                {...register('key')}
              />
              <SelectField label={t('Type')} hint={t('It never changes.')} {...register('type')}>
                {Object.entries(typeWords()).map(([type, word]) => (
                  <option key={type} value={type}>
                    {word}
                  </option>
                ))}
              </SelectField>
            </>
          )}
        </div>
        <OfType {...{ register, errors, category }} values={watch()} />
        <TextField
          label={t('Help')}
          hint={t('It stands below the field.')}
          maxLength={500}
          error={errors.get('helpText')}
          {...register('helpText')}
        />
        <CheckField label={t('Required')} {...register('required')} />
        <CheckField
          label={t('Sensitive')}
          hint={t('Only who may edit the category on an operation sees the value.')}
          {...register('sensitive')}
        />
        <WriteFailed write={write} shown={shown} />
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      </form>
    </Sheet>
  )
}

type OfTypeProps = {
  register: UseFormRegister<FieldValues>
  errors: ReadonlyMap<string, string>
  category: OperationCategory
  values: FieldValues
}

/** The settings that only some types of fields have. */
function OfType({ register, errors, category, values }: OfTypeProps) {
  const { type } = values
  const isNumeric = type === 'number' || type === 'currency'
  const currencies = category.fields.filter(
    (field) => (field.type === 'select' || field.type === 'text') && !field.archived,
  )
  return (
    <>
      {type === 'select' && (
        <TextArea
          label={t('Options')}
          hint={t('One a line. Write “value = label” where reports shall show another word than the list.')}
          required
          rows={5}
          error={errorBelow(errors, 'optionsJson')}
          {...register('options')}
        />
      )}
      {isNumeric && (
        <div className="grid gap-x-4 sm:grid-cols-2">
          <TextField
            label={t('Digits after the point')}
            hint={type === 'currency' ? t('Empty: two.') : t('Empty: as entered.')}
            type="number"
            min={0}
            max={18}
            error={errors.get('scale')}
            {...register('scale')}
          />
          <TextField label={t('Unit')} maxLength={16} error={errors.get('unit')} {...register('unit')} />
        </div>
      )}
      {type === 'currency' && (
        <SelectField
          label={t('Field that holds the currency')}
          error={errors.get('currencyFieldKey')}
          {...register('currencyFieldKey')}
        >
          <option value="">{t('none')}</option>
          {currencies.map(({ key, label }) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </SelectField>
      )}
      <Default {...{ register, errors, values }} />
    </>
  )
}

/** Returns the error of an option. Errors of single options name their place in the list. */
function errorBelow(errors: ReadonlyMap<string, string>, name: string): string | undefined {
  return [...errors].find(([field]) => field === name || field.startsWith(`${name}.`))?.[1]
}

function Default({ register, errors, values }: Omit<OfTypeProps, 'category'>) {
  const label = t('Value at first')
  const error = errors.get('defaultJson')
  const { type, options } = values
  if (type === 'boolean' || type === 'select') {
    const choices =
      type === 'select'
        ? parseOptions(options)
        : [
            { value: 'true', label: t('Yes') },
            { value: 'false', label: t('No') },
          ]
    return (
      <SelectField label={label} error={error} {...register('defaultText')}>
        <option value="">{t('none')}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </SelectField>
    )
  }
  const input = { date: 'date', url: 'url' }[type as string] ?? 'text'
  const hint = type === 'datetime' ? t('Such as 2026-05-01T10:00Z.') : undefined
  return <TextField label={label} type={input} hint={hint} error={error} {...register('defaultText')} />
}

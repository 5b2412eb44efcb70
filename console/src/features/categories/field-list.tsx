import type { CategoryField, OperationCategory } from '@strongroom/sdk'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { typeWords } from './category-words.ts'
import { movesOf } from './field-body.ts'
import { FieldForm } from './field-form.tsx'

type FieldListProps = { code: string; category: OperationCategory; mayEdit: boolean }
type Asked = { what: 'add' } | { what: 'edit' | 'delete'; field: CategoryField }

/** The fields of a category in their order. */
export function FieldList({ code, category, mayEdit }: FieldListProps) {
  const [action, setAction] = useState<Asked | null>(null)
  const fields = category.fields.toSorted((a, b) => a.orderIndex - b.orderIndex)
  const { operationCategories } = vaultOf(code)
  const moving = useWrite<{ id: string; by: -1 | 1 }>({
    renews: ['categories', code],
    said: t('The order is changed'),
    write: async ({ id, by }) => {
      for (const { id: moved, orderIndex } of movesOf(fields, id, by)) {
        await operationCategories.updateField(category.id, moved, { orderIndex })
      }
    },
  })
  const actions = mayEdit ? <Button onClick={() => setAction({ what: 'add' })}>{t('New field')}</Button> : undefined
  return (
    <Card title={t('Fields')} actions={actions}>
      <WriteFailed write={moving} />
      {fields.length === 0 && <Empty>{t('No fields: this category marks operations, without values.')}</Empty>}
      <ol>
        {fields.map((field, index) => (
          <FieldRow
            key={field.id}
            {...{ code, category, field, mayEdit }}
            isFirst={index === 0}
            isLast={index === fields.length - 1}
            busy={moving.isPending}
            move={(by) => moving.mutate({ id: field.id, by })}
            ask={(what) => setAction({ what, field })}
          />
        ))}
      </ol>
      {action?.what === 'add' && <FieldForm {...{ code, category }} close={() => setAction(null)} />}
      {action?.what === 'edit' && (
        <FieldForm {...{ code, category }} field={action.field} close={() => setAction(null)} />
      )}
      {action?.what === 'delete' && (
        <DeleteField {...{ code, category }} field={action.field} close={() => setAction(null)} />
      )}
    </Card>
  )
}

type FieldRowProps = FieldListProps & {
  field: CategoryField
  isFirst: boolean
  isLast: boolean
  busy: boolean
  move: (by: -1 | 1) => void
  ask: (what: 'edit' | 'delete') => void
}

function FieldRow({ code, category, field, mayEdit, isFirst, isLast, busy, move, ask }: FieldRowProps) {
  const { label, key, type, required, sensitive, archived, unit, optionsJson, helpText } = field
  const archiving = useWrite({
    renews: ['categories', code],
    said: archived ? t('The field is restored') : t('The field is archived'),
    write: () => vaultOf(code).operationCategories.updateField(category.id, field.id, { archived: !archived }),
  })
  const details = [
    typeWords()[type],
    ...(unit === null ? [] : [unit]),
    ...(required ? [t('required')] : []),
    ...(optionsJson === null ? [] : [optionsJson.map((option) => option.label).join(', ')]),
  ]
  return (
    <li className="border-t border-line py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{label}</span> <span className="code text-quiet">{key}</span>
          {sensitive && <Badge tone="warn">{t('Sensitive')}</Badge>}
          {archived && <Badge tone="neutral">{t('Archived')}</Badge>}
        </p>
        {mayEdit && (
          <div className="flex flex-wrap gap-2">
            <Button
              aria-label={t('Move {name} up', { name: label })}
              busy={busy}
              disabledBecause={isFirst ? t('It is the first.') : null}
              onClick={() => move(-1)}
            >
              <ArrowUp size={16} aria-hidden />
            </Button>
            <Button
              aria-label={t('Move {name} down', { name: label })}
              busy={busy}
              disabledBecause={isLast ? t('It is the last.') : null}
              onClick={() => move(1)}
            >
              <ArrowDown size={16} aria-hidden />
            </Button>
            <Button aria-label={t('Edit {name}', { name: label })} onClick={() => ask('edit')}>
              {t('Edit')}
            </Button>
            <Button busy={archiving.isPending} onClick={() => archiving.mutate()}>
              {archived ? t('Bring back') : t('Archive')}
            </Button>
            <Button look="danger" aria-label={t('Delete {name}', { name: label })} onClick={() => ask('delete')}>
              {t('Delete')}
            </Button>
          </div>
        )}
      </div>
      <p className="text-quiet">{details.join(' · ')}</p>
      {helpText !== null && <p className="text-quiet">{helpText}</p>}
      <WriteFailed write={archiving} />
    </li>
  )
}

type DeleteFieldProps = { code: string; category: OperationCategory; field: CategoryField; close: () => void }

function DeleteField({ code, category, field, close }: DeleteFieldProps) {
  const write = useWrite({
    renews: ['categories', code],
    said: t('The field is deleted'),
    onDone: close,
    write: () => vaultOf(code).operationCategories.deleteField(category.id, field.id),
  })
  return (
    <Confirm open title={t('Delete {name}', { name: field.label })} verb={t('Delete')} onClose={close} write={write}>
      {t('A field cannot be deleted while operations have values for it. Archive the field instead.')}
    </Confirm>
  )
}

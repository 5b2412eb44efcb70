import type { OperationMetadata } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Card, Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { type Operation, refreshOperation } from './queries.ts'

type MetadataCardProps = { operation: Operation; metadata: OperationMetadata; mayEdit: boolean }

/** Purpose, note and tags. The owner of the address changes them. */
export function MetadataCard({ operation, metadata, mayEdit }: MetadataCardProps) {
  const [editing, setEditing] = useState(false)
  const { paymentPurpose, note, tags } = metadata
  const isEmpty = paymentPurpose === null && note === null && tags.length === 0
  const edit = mayEdit && !editing ? <Button onClick={() => setEditing(true)}>{t('Edit')}</Button> : undefined
  return (
    <Card title={t('Purpose and note')} actions={edit}>
      {editing ? (
        <MetadataForm operation={operation} metadata={metadata} onDone={() => setEditing(false)} />
      ) : (
        <>
          {isEmpty && <p className="text-quiet">{t('Neither purpose nor note nor tags yet.')}</p>}
          <Facts
            facts={[
              [t('Purpose'), paymentPurpose],
              [t('Note'), note === null ? null : <span className="whitespace-pre-wrap">{note}</span>],
              [t('Tags'), tags.length === 0 ? null : <Tags key="tags" tags={tags} />],
            ]}
          />
        </>
      )}
    </Card>
  )
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1.5">
      {tags.map((tag) => (
        <span key={tag} className="rounded-sm border border-line px-1.5">
          {tag}
        </span>
      ))}
    </span>
  )
}

type MetadataFormProps = { operation: Operation; metadata: OperationMetadata; onDone: () => void }
type Values = { paymentPurpose: string; note: string; tags: string }

function MetadataForm({ operation, metadata, onDone }: MetadataFormProps) {
  const client = useQueryClient()
  const { code, type, id } = operation
  const { register, handleSubmit } = useForm<Values>({
    defaultValues: {
      paymentPurpose: metadata.paymentPurpose ?? '',
      note: metadata.note ?? '',
      tags: metadata.tags.join(', '),
    },
  })
  const save = useMutation({
    mutationFn: ({ paymentPurpose, note, tags }: Values) =>
      vaultOf(code).operations.updateMetadata(type, id, {
        paymentPurpose: paymentPurpose.trim() || null,
        note: note.trim() || null,
        tags: tagsOf(tags),
      }),
    onSuccess: async () => {
      announce(t('Saved'))
      await refreshOperation(client, operation)
      onDone()
    },
  })
  return (
    <form onSubmit={handleSubmit((values) => save.mutate(values))}>
      <TextField
        label={t('Purpose')}
        hint={t('For example the number of the invoice. It is not sent to the chain.')}
        {...register('paymentPurpose')}
      />
      <TextArea label={t('Note')} {...register('note')} />
      <TextField label={t('Tags')} hint={t('Separated by commas.')} {...register('tags')} />
      <Problem error={save.error} />
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={save.isPending}>
          {t('Save')}
        </Button>
        <Button onClick={onDone}>{t('Discard')}</Button>
      </div>
    </form>
  )
}

function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

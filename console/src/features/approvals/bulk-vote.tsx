import type { BulkVoteResults, InboxItem } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { newIdempotencyKey } from '../../lib/forms.ts'
import { said, t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { ItemTitle } from './item-title.tsx'
import { pathOf, sendVotes, subjectKeys } from './queries.ts'

type Decision = 'approve' | 'reject'

/** The largest number of votes that the service takes at once. */
const mostAtOnce = 100

type BulkVoteProps = {
  items: readonly InboxItem[]
  /** True if there are no rows to select. */
  hidden: boolean
  onDone: () => void
}

/**
 * Votes on all selected items, after one confirmation that lists them. The list stays as it was when the sheet opened,
 * so that each vote is bound to the content that its voter saw.
 */
export function BulkVote({ items, hidden, onDone }: BulkVoteProps) {
  const [pending, setPending] = useState<{ decision: Decision; items: readonly InboxItem[] } | null>(null)
  const off =
    items.length > mostAtOnce
      ? t('At most {count} can be decided together.', { count: mostAtOnce })
      : items.length === 0
        ? t('Select at least one row.')
        : null
  return (
    <>
      <div className={hidden ? 'hidden' : 'mb-3 flex flex-wrap items-center gap-3'}>
        <Button look="primary" disabledBecause={off} onClick={() => setPending({ decision: 'approve', items })}>
          {t('Approve selected')}
        </Button>
        <Button look="danger" disabledBecause={off} onClick={() => setPending({ decision: 'reject', items })}>
          {t('Reject selected')}
        </Button>
        <span role="status" className="text-quiet">
          {t('{count} selected', { count: items.length })}
        </span>
      </div>
      <Sheet
        title={pending?.decision === 'reject' ? t('Reject all of these?') : t('Approve all of these?')}
        open={pending !== null}
        onClose={() => setPending(null)}
        wide
      >
        {pending !== null && <Confirm {...pending} onVoted={onDone} close={() => setPending(null)} />}
      </Sheet>
    </>
  )
}

type ConfirmProps = { decision: Decision; items: readonly InboxItem[]; onVoted: () => void; close: () => void }

function Confirm({ decision, items, onVoted, close }: ConfirmProps) {
  const client = useQueryClient()
  // After a lost answer, the votes are sent again under the same key. Another comment makes another request.
  const [comment, setComment] = useState({ text: '', key: newIdempotencyKey() })
  const [missing, setMissing] = useState(false)
  const isEmpty = comment.text.trim() === ''
  const voting = useMutation({
    mutationFn: () => sendVotes(items, decision, comment.text.trim(), comment.key),
    onSuccess: async () => {
      onVoted()
      const keys = ['inbox', ...Object.values(subjectKeys)]
      await Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })))
    },
  })
  if (voting.data !== undefined) return <Outcome items={items} results={voting.data.items} close={close} />
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (decision === 'reject' && isEmpty) setMissing(true)
    else if (!voting.isPending) voting.mutate()
  }
  return (
    <form onSubmit={submit}>
      <ul className="mb-4 grid gap-2 rounded-md bg-ground p-3">
        {items.map((item) => (
          <li key={item.id}>
            <ItemTitle item={item} />
            <Facts item={item} />
          </li>
        ))}
      </ul>
      <TextArea
        label={decision === 'reject' ? t('Reason') : t('Comment (optional)')}
        hint={t('It is kept with each of these votes.')}
        value={comment.text}
        maxLength={500}
        error={missing && isEmpty ? t('Give a reason so that the initiator can correct it.') : null}
        onChange={({ target }) => setComment({ text: target.value, key: newIdempotencyKey() })}
      />
      {decision === 'reject' && (
        <p className="mb-3 text-[0.8125rem] text-quiet">
          {t(
            'Rejections from this list are not signed. In a protected vault they stop nothing at the wallet service: open an order by itself to sign its veto.',
          )}
        </p>
      )}
      {voting.isError && <Failed error={voting.error} retry={() => voting.mutate()} />}
      <div className="mt-4 flex justify-end gap-3">
        <Button onClick={close}>{t('Back')}</Button>
        <Button type="submit" look={decision === 'reject' ? 'danger' : 'primary'} busy={voting.isPending}>
          {decision === 'reject'
            ? t('Reject {count, plural, one {# row} other {# rows}}', { count: items.length })
            : t('Approve {count, plural, one {# row} other {# rows}}', { count: items.length })}
        </Button>
      </div>
    </form>
  )
}

/** The destination, the purpose, the vault and the initiator. */
function Facts({ item: { transfer, vault, initiator } }: { item: InboxItem }) {
  const purpose = transfer?.paymentPurpose ?? null
  return (
    <span className="block text-[0.8125rem] text-quiet [overflow-wrap:anywhere]">
      {transfer !== null && <span className="code block">{transfer.toAddress}</span>}
      {[...(purpose === null ? [] : [purpose]), vault.name, initiator.name ?? '–'].join(' · ')}
    </span>
  )
}

type OutcomeProps = { items: readonly InboxItem[]; results: BulkVoteResults['items']; close: () => void }

/** The result of each vote. The service answers in the order of the votes. */
function Outcome({ items, results, close }: OutcomeProps) {
  const refused = results.flatMap(({ error }, at) => (error === null ? [] : [{ error, item: items[at]! }]))
  return (
    <>
      <div role="status">
        <p className="mb-3 font-medium">
          {t('{count, plural, one {# vote was cast.} other {# votes were cast.}}', {
            count: results.length - refused.length,
          })}
        </p>
        {refused.length > 0 && (
          <>
            <p className="mb-2 font-medium text-bad">
              {t('{count, plural, one {# vote was refused:} other {# votes were refused:}}', { count: refused.length })}
            </p>
            <ul className="grid gap-2">
              {refused.map(({ error, item }) => (
                <li key={item.id} className="rounded-md border border-bad bg-bad-soft p-3">
                  <Link to={pathOf(item) as '/'} className="font-medium text-accent hover:underline">
                    <ItemTitle item={item} />
                  </Link>
                  <p>{said(error.message, error.reason)}</p>
                  {typeof error.details === 'string' && <p className="text-quiet">{said(error.details)}</p>}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={close}>
          {t('Close')}
        </Button>
      </div>
    </>
  )
}

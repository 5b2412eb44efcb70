import type { PolicyListItem } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { governanceQuery, ownDraftsQuery } from '../governance/queries.ts'
import type { Vocabulary } from './queries.ts'
import type { Destination } from './saving.ts'
import { type Draft, draftOf } from './terms.ts'
import { sentenceOf } from './words.ts'

type ReviewSheetProps = {
  code: string
  policy: PolicyListItem | undefined
  vocabulary: Vocabulary
  draft: Draft
  /** The draft of the rules from which the page was opened. */
  into: string
  /** True if the policy is an edited change of that draft, and stays in it. */
  isPlaced: boolean
  open: boolean
  busy: boolean
  onClose: () => void
  onSave: (destination: Destination) => void
}

/** The policy before and after, shown before it takes effect or goes into a draft. */
export function ReviewSheet(props: ReviewSheetProps) {
  const { code, policy, vocabulary, draft, into, isPlaced, open, busy, onClose, onSave } = props
  const before = policy === undefined ? null : draftOf(policy)
  const [to, setTo] = useState(into)
  const [title, setTitle] = useState('')
  const untitled = to === 'new' && title.trim() === '' ? t('Say what the change set is for.') : null
  return (
    <Sheet
      wide
      open={open}
      onClose={onClose}
      title={policy === undefined ? t('Save this policy?') : t('Change this policy?')}
    >
      <dl className="mb-4 grid gap-3">
        {before !== null && <Version title={t('Before')} draft={before} vocabulary={vocabulary} />}
        <Version title={before === null ? t('New policy') : t('After')} draft={draft} vocabulary={vocabulary} />
      </dl>
      {!isPlaced && <Where {...{ code, to }} choose={setTo} />}
      {to === 'new' && (
        <TextField
          label={t('What the change is for')}
          required
          maxLength={200}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
      )}
      {to === '' && <WhenItDecides code={code} />}
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          busy={busy}
          disabledBecause={untitled}
          onClick={() => onSave({ to, title: title.trim() })}
        >
          {to === '' ? t('Save') : t('Save the draft')}
        </Button>
        <Button onClick={onClose}>{t('Back')}</Button>
      </div>
    </Sheet>
  )
}

/** Lets the reader put the policy into a draft, so that several changes take effect together. */
function Where({ code, to, choose }: { code: string; to: string; choose: (to: string) => void }) {
  const { data: session } = useQuery(sessionQuery)
  const { data: drafts = [] } = useQuery(ownDraftsQuery(code, session?.user.id ?? ''))
  return (
    <SelectField label={t('Where the change goes')} value={to} onChange={({ target }) => choose(target.value)}>
      <option value="">{t('A change by itself')}</option>
      <option value="new">{t('The first change of a new change set')}</option>
      {drafts.map(({ id, title }) => (
        <option key={id} value={id}>
          {t('A change of “{title}”', { title })}
        </option>
      ))}
    </SelectField>
  )
}

function WhenItDecides({ code }: { code: string }) {
  const { data: governance } = useQuery(governanceQuery(code))
  const isGoverned = (governance?.threshold ?? 0) > 0
  return (
    <p className="mb-4 text-quiet">
      {isGoverned
        ? t('Others vote on it first. Only what makes decisions stricter takes effect at once.')
        : t(
            'It decides from the next order on. All administrators, and the people who vote under it, get a mail about it.',
          )}
    </p>
  )
}

type VersionProps = { title: string; draft: Draft; vocabulary: Vocabulary }

function Version({ title, draft, vocabulary }: VersionProps) {
  const settings = [
    draft.enabled ? t('in force') : t('switched off'),
    ...(draft.effect === 'requireApproval' && draft.allowInitiatorApproval ? [t('who orders may vote, too')] : []),
    ...(draft.effect === 'requireApproval' && draft.adminBypass ? [t('no votes for orders of administrators')] : []),
    ...(draft.effect === 'block' && draft.blockReason !== ''
      ? [t('tells: “{reason}”', { reason: draft.blockReason })]
      : []),
  ]
  return (
    <div className="rounded-md border border-line p-3">
      <dt className="text-[0.8125rem] text-quiet">{title}</dt>
      <dd>
        <p className="font-medium">{draft.name}</p>
        <p>{sentenceOf(draft, vocabulary.names)}</p>
        <p className="text-quiet">{settings.join(' · ')}</p>
      </dd>
    </div>
  )
}

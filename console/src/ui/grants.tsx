import { useState } from 'react'
import { t } from '../lib/language.ts'
import { formatDay } from '../lib/time.ts'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import { Combobox } from './combobox.tsx'
import { CheckField } from './field.tsx'
import { Problem } from './problem.tsx'

export type Grant = { id: string; name: string; isGroup: boolean; canTransfer: boolean; createdAt: string }
export type Subject = { type: 'user' | 'group'; id: string; name: string }

type GrantListProps = { grants: readonly Grant[]; revoke: ((grant: Grant) => void) | null; busy: boolean }

/** The people with whom something is shared, and their rights. */
export function GrantList({ grants, revoke, busy }: GrantListProps) {
  return (
    <ul className="mb-4 grid gap-2">
      {grants.map((grant) => (
        <li key={grant.id} className="flex flex-wrap items-center justify-between gap-2 border-b border-line pb-2">
          <span className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{grant.name}</span>
            <span className="text-quiet">{grant.isGroup ? t('group') : t('person or service')}</span>
            <Badge tone={grant.canTransfer ? 'warn' : 'neutral'}>
              {grant.canTransfer ? t('sees and sends') : t('sees')}
            </Badge>
            <span className="text-[0.8125rem] text-quiet">{t('since {day}', { day: formatDay(grant.createdAt) })}</span>
          </span>
          {revoke !== null && (
            <Button look="danger" busy={busy} onClick={() => revoke(grant)}>
              {t('Stop sharing')}
              <span className="sr-only">{grant.name}</span>
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

type ShareFormProps = {
  subjects: readonly Subject[]
  search: (text: string) => void
  searching: boolean
  share: (subject: Subject, canTransfer: boolean) => Promise<unknown>
  busy: boolean
  error: unknown
}

/** Shares something with a member or a group. */
export function ShareForm({ subjects, search, searching, share, busy, error }: ShareFormProps) {
  const [text, setText] = useState('')
  const [subject, setSubject] = useState<Subject | null>(null)
  const [canTransfer, setCanTransfer] = useState(false)
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault()
        if (subject === null || busy) return
        await share(subject, canTransfer)
        setText('')
        setSubject(null)
        setCanTransfer(false)
        search('')
      }}
    >
      <Problem error={error} />
      <Combobox
        label={t('Share with')}
        placeholder={t('Name of a member or a group')}
        text={text}
        onText={(typed) => {
          setText(typed)
          setSubject(null)
          search(typed.trim())
        }}
        options={subjects}
        optionKey={({ type, id }) => `${type} ${id}`}
        busy={searching}
        nothing={t('Nobody in this vault matches.')}
        onChoose={(chosen) => {
          setSubject(chosen)
          setText(chosen.name)
        }}
        draw={({ name, type }) => (
          <span className="flex justify-between gap-3">
            <span>{name}</span>
            {type === 'group' && <span className="text-quiet">{t('group')}</span>}
          </span>
        )}
      />
      <CheckField
        label={t('May also send from it')}
        hint={t('Policies still decide on every transfer.')}
        checked={canTransfer}
        onChange={({ target }) => setCanTransfer(target.checked)}
      />
      <Button
        type="submit"
        look="primary"
        busy={busy}
        disabledBecause={subject === null ? t('Choose a member or a group first.') : null}
      >
        {t('Share')}
      </Button>
    </form>
  )
}

import type { Counterparty, CounterpartyGroup } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { kindWords } from '../../lib/counterparty-kinds.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Problem } from '../../ui/problem.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { counterpartySearchQuery } from './queries.ts'
import { useBookChange } from './write.ts'

/** Adds a counterparty to a group. */
export function AddMember({ code, group }: { code: string; group: CounterpartyGroup }) {
  const [text, setText] = useState('')
  const [chosen, choose] = useState<Counterparty | null>(null)
  const found = useQuery(counterpartySearchQuery(code, useDebounced(chosen === null ? text.trim() : '')))
  const add = useBookChange(
    code,
    ({ id }: Counterparty, options) =>
      vaultOf(code).counterpartyGroups.addMember(group.id, { counterpartyId: id }, options),
    {
      done: t('{name} is in the group', { name: chosen?.name ?? '' }),
      after: () => {
        setText('')
        choose(null)
      },
    },
  )
  if (add.waiting !== null) return <WaitsForApproval code={code} requestId={add.waiting.id} />
  return (
    <form
      className="max-w-xl"
      onSubmit={(event) => {
        event.preventDefault()
        if (chosen !== null) add.mutate(chosen)
      }}
    >
      <Problem error={add.error} />
      <Combobox
        label={t('Add a member')}
        placeholder={t('Name from the address book')}
        text={text}
        onText={(typed) => {
          setText(typed)
          choose(null)
        }}
        options={found.data ?? []}
        optionKey={({ id }) => id}
        busy={found.isPending}
        nothing={t('Nobody of the address book fits.')}
        onChoose={(counterparty) => {
          choose(counterparty)
          setText(counterparty.name)
        }}
        draw={({ name, kind }) => (
          <span className="flex justify-between gap-3">
            <span>{name}</span>
            <span className="text-quiet">{kindWords()[kind]}</span>
          </span>
        )}
      />
      <Button
        type="submit"
        look="primary"
        busy={add.isPending}
        disabledBecause={chosen === null ? t('Choose first whom.') : null}
      >
        {t('Add to the group')}
      </Button>
    </form>
  )
}

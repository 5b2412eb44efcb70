import type { Governance } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { groupsQuery, useIsAdmin } from '../people/queries.ts'
import { governanceQuery, withheldQuery } from './queries.ts'

/** The approvals that changes of the rules require. */
export function GovernanceSettings({ code }: { code: string }) {
  const query = useQuery(governanceQuery(code))
  return (
    <>
      <Card title={t('Who must agree')}>
        <DetailState query={query}>
          {query.data !== undefined && (
            <Settings key={JSON.stringify(query.data)} code={code} governance={query.data} />
          )}
        </DetailState>
      </Card>
      <Withheld code={code} />
    </>
  )
}

type Values = { threshold: string; approverGroupId: string; loosening: string; tightening: string }

function Settings({ code, governance }: { code: string; governance: Governance }) {
  const isAdmin = useIsAdmin(code)
  const groups = useQuery(groupsQuery(code))
  const { register, handleSubmit } = useForm<Values>({
    defaultValues: {
      threshold: String(governance.threshold),
      approverGroupId: governance.approverGroupId ?? '',
      loosening: String(governance.looseningDelayHours),
      tightening: String(governance.tighteningDelayHours),
    },
  })
  const write = useWrite<Values>({
    renews: ['governance', code],
    said: t('The governance is changed'),
    write: ({ threshold, approverGroupId, loosening, tightening }) =>
      vaultOf(code).governance.update({
        threshold: Number(threshold),
        approverGroupId: approverGroupId === '' ? null : approverGroupId,
        looseningDelayHours: Number(loosening),
        tighteningDelayHours: Number(tightening),
      }),
  })
  const choices = (groups.data ?? []).filter(({ isSystem }) => !isSystem)
  return (
    <form onSubmit={handleSubmit((values) => write.mutate(values))}>
      <fieldset disabled={!isAdmin} className="grid gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('People who must agree, besides the author')}
          hint={t('0: every administrator changes the rules alone.')}
          type="number"
          min={0}
          max={100}
          required
          {...register('threshold')}
        />
        <SelectField label={t('They are of the group')} {...register('approverGroupId')}>
          <option value="">{t('Administrators')}</option>
          {choices.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('Hours before what may permit more takes effect')}
          type="number"
          min={0}
          max={720}
          required
          {...register('loosening')}
        />
        <TextField
          label={t('Hours before a change set that is only stricter takes effect')}
          hint={t('What one administrator makes stricter takes effect at once.')}
          type="number"
          min={0}
          max={720}
          required
          {...register('tightening')}
        />
      </fieldset>
      <WriteFailed write={write} />
      {isAdmin && (
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      )}
    </form>
  )
}

/** Tokens that the platform has enabled and the vault has not accepted. */
function Withheld({ code }: { code: string }) {
  const { data } = useQuery(withheldQuery(code))
  const isAdmin = useIsAdmin(code)
  const accept = useWrite<string>({
    renews: ['governance', code],
    said: t('The token is accepted'),
    write: (id) => vaultOf(code).withheldTokens.acceptToken(id),
  })
  if (data === undefined || data.items.length === 0) return null
  return (
    <Card title={t('Tokens to accept')}>
      <p className="mb-3 text-quiet">{t('The platform enabled them; this vault does not pay with them yet.')}</p>
      <WriteFailed write={accept} />
      <ul className="grid gap-2">
        {data.items.map(({ tokenId, code: token, network }) => (
          <li key={tokenId} className="flex items-center justify-between gap-3">
            <span>{`${token} (${network})`}</span>
            {isAdmin && <Button onClick={() => accept.mutate(tokenId)}>{t('Accept {token}', { token })}</Button>}
          </li>
        ))}
      </ul>
    </Card>
  )
}

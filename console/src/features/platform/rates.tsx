import type { TokenRate } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { formatAmount } from '../../lib/amounts.ts'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Empty, Failed, ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { HeldRates } from './held-rates.tsx'
import { ratesQuery, tokensQuery } from './queries.ts'

const ValueChart = lazy(() => import('../../ui/charts/value-chart.tsx'))

/** The rates of tokens: the rates that wait for a decision, and all rates of one token. */
export function Rates({ tokenId, onToken }: { tokenId: string; onToken: (tokenId: string) => void }) {
  const tokens = useInfiniteQuery(tokensQuery('')).data?.pages.flatMap(({ items }) => items) ?? []
  const token = tokens.find(({ id }) => id === tokenId)
  return (
    <>
      <HeldRates />
      <div className="max-w-sm">
        <SelectField label={t('Token')} value={tokenId} onChange={({ target }) => onToken(target.value)}>
          <option value="">{t('Choose')}</option>
          {tokens.map(({ id, symbol, network }) => (
            <option key={id} value={id}>{`${symbol} · ${network}`}</option>
          ))}
        </SelectField>
      </div>
      {tokenId === '' ? (
        <Empty>
          <p>{t('Choose a token to see its rates and to record one.')}</p>
        </Empty>
      ) : (
        <>
          <RateHistory key={tokenId} tokenId={tokenId} name={token?.symbol ?? ''} />
          <RecordRate key={`new ${tokenId}`} tokenId={tokenId} name={token?.symbol ?? ''} />
        </>
      )}
    </>
  )
}

function RateHistory({ tokenId, name }: { tokenId: string; name: string }) {
  const query = useInfiniteQuery(ratesQuery(tokenId))
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const columns: Column<TokenRate>[] = [
    { id: 'at', header: t('As of'), cell: ({ asOf }) => formatTime(asOf) },
    {
      id: 'rate',
      header: t('USD'),
      align: 'end',
      cell: ({ usdRate }) => <span className="figures">{formatAmount(usdRate)}</span>,
    },
    { id: 'source', header: t('Source'), cell: ({ source }) => source },
    { id: 'recorded', header: t('Recorded'), cell: ({ createdAt }) => formatTime(createdAt) },
  ]
  return (
    <ListState
      query={query}
      isEmpty={rows.length === 0}
      empty={<p>{t('No rate yet: values in USD of this token are unknown. Record one below.')}</p>}
    >
      <Card title={t('Rates of {name}', { name })}>
        {rows.length > 1 && (
          <div className="mb-3 h-56" aria-hidden="true">
            <Suspense fallback={null}>
              <ValueChart
                name={name}
                points={rows.toReversed().map(({ asOf, usdRate }) => ({ label: formatTime(asOf), value: usdRate }))}
              />
            </Suspense>
          </div>
        )}
        <DataTable
          caption={t('Rates of {name}', { name })}
          columns={columns}
          rows={rows}
          rowKey={({ asOf, createdAt }) => `${asOf} ${createdAt}`}
          more={query}
        />
      </Card>
    </ListState>
  )
}

type Draft = { usdRate: string; asOf: string; source: string }

function RecordRate({ tokenId, name }: { tokenId: string; name: string }) {
  const client = useQueryClient()
  const [draft, setDraft] = useState<Draft>({ usdRate: '', asOf: '', source: '' })
  const record = useMutation({
    mutationFn: () => {
      const asOf = draft.asOf === '' ? new Date() : new Date(draft.asOf)
      const body = { usdRate: draft.usdRate.trim(), asOf: asOf.toISOString(), source: draft.source.trim() }
      return strongroom.tokens.recordRate(tokenId, body)
    },
    onSuccess: ({ pendingApproval }) => {
      void client.invalidateQueries({ queryKey: ['tokens', tokenId] })
      void client.invalidateQueries({ queryKey: ['held-rates'] })
      announce(
        pendingApproval === null ? t('The rate is recorded.') : t('The rate is held back and waits for a decision.'),
      )
      setDraft({ usdRate: '', asOf: '', source: draft.source })
    },
  })
  const errors = errorsOfFields(record.error, ['usdRate', 'asOf', 'source'])
  const set = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed })
  const isWhole = /^\d+(\.\d+)?$/.test(draft.usdRate.trim()) && draft.source.trim() !== ''
  return (
    <Card title={t('Record a rate of {name}', { name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isWhole) record.mutate()
        }}
      >
        <div className="grid gap-x-4 sm:grid-cols-3">
          <TextField
            label={t('USD for one')}
            inputMode="decimal"
            hint={t('With a point: 3000.50')}
            value={draft.usdRate}
            error={errors.usdRate ?? null}
            onChange={({ target }) => set({ usdRate: target.value })}
          />
          <TextField
            label={t('As of')}
            type="datetime-local"
            hint={t('Empty for now')}
            value={draft.asOf}
            error={errors.asOf ?? null}
            onChange={({ target }) => set({ asOf: target.value })}
          />
          <TextField
            label={t('Source')}
            hint={t('Where it comes from')}
            value={draft.source}
            error={errors.source ?? null}
            onChange={({ target }) => set({ source: target.value })}
          />
        </div>
        {record.isError && Object.keys(errors).length === 0 && (
          <div className="mb-4">
            <Failed error={record.error} retry={() => record.mutate()} />
          </div>
        )}
        <Button
          type="submit"
          look="primary"
          busy={record.isPending}
          disabledBecause={isWhole ? null : t('Fill in the rate and its source first.')}
        >
          {t('Record')}
        </Button>
      </form>
    </Card>
  )
}

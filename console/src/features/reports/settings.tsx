import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { useViewer } from '../../lib/viewer.ts'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { intervalIn, isTaken, type SearchName, type SettingsProps } from './parameters.ts'
import { addDays, type Period, periods } from './period.ts'
import { memberOptions } from './queries.ts'
import { Subject } from './subject.tsx'
import { isActivity, reportTitle, reportTypes } from './types.ts'

/** The settings of a report: its type, its subject, its period and its filters. */
export function Settings({ code, type, search, change }: SettingsProps) {
  const navigate = useNavigate()
  return (
    <form className="[&>div]:mb-3" onSubmit={(event) => event.preventDefault()}>
      <SelectField
        label={t('Report')}
        value={type}
        onChange={({ target }) =>
          navigate({ to: '/v/$code/reports/$type', params: { code, type: target.value }, search: search as never })
        }
      >
        {reportTypes.map((reportType) => (
          <option key={reportType} value={reportType}>
            {reportTitle(reportType)}
          </option>
        ))}
      </SelectField>
      <Subject code={code} type={type} search={search} change={change} />
      <PeriodFields search={search} change={change} />
      <Scope code={code} type={type} search={search} change={change} />
      <Counting type={type} search={search} change={change} />
    </form>
  )
}

function periodWords(period: Period): string {
  const words: Record<Period, () => string> = {
    today: () => t('Today'),
    last7: () => t('Last 7 days'),
    last30: () => t('Last 30 days'),
    thisMonth: () => t('This month'),
    lastMonth: () => t('Last month'),
    thisQuarter: () => t('This quarter'),
    lastQuarter: () => t('Last quarter'),
    thisYear: () => t('This year'),
    lastYear: () => t('Last year'),
  }
  return words[period]()
}

/** The period: a preset, or from day to day, in a time zone. */
export function PeriodFields({ search, change }: Pick<SettingsProps, 'search' | 'change'>) {
  const timezone = search.timezone ?? zone
  const { from, to } = intervalIn(search, timezone)
  const isOwn = search.from !== undefined && search.until !== undefined
  const until = addDays(to, -1)
  return (
    <>
      <SelectField
        label={t('Period')}
        value={isOwn ? 'own' : (search.period ?? 'last30')}
        onChange={({ target }) =>
          target.value === 'own'
            ? change({ from, until, period: undefined })
            : change({ period: target.value, from: undefined, until: undefined })
        }
      >
        {periods.map((period) => (
          <option key={period} value={period}>
            {periodWords(period)}
          </option>
        ))}
        <option value="own">{t('From day to day')}</option>
      </SelectField>
      {isOwn && (
        <div className="grid grid-cols-2 gap-2">
          <TextField
            label={t('From')}
            type="date"
            value={from}
            max={until}
            onChange={({ target }) => target.value !== '' && change({ from: target.value })}
          />
          <TextField
            label={t('Until')}
            type="date"
            value={until}
            min={from}
            onChange={({ target }) => target.value !== '' && change({ until: target.value })}
          />
        </div>
      )}
      <SelectField
        label={t('Time zone')}
        value={timezone}
        onChange={({ target }) => change({ timezone: target.value === zone ? undefined : target.value })}
      >
        {[...new Set([zone, 'UTC', timezone, ...Intl.supportedValuesOf('timeZone')])].map((zoneName) => (
          <option key={zoneName} value={zoneName}>
            {zoneName.replaceAll('_', ' ')}
          </option>
        ))}
      </SelectField>
    </>
  )
}

function Scope({ code, type, search, change }: SettingsProps) {
  const { isAdmin, isAuditor } = useViewer(code)
  const readsAll = isAdmin || isAuditor
  const { data: members } = useQuery({ ...memberOptions(code), enabled: readsAll })
  return (
    <>
      {readsAll && isTaken(type, 'userId') && (
        <SelectField
          label={t('Whose operations')}
          value={search.userId ?? ''}
          onChange={({ target }) => change({ userId: target.value || undefined })}
        >
          <option value="">{t('The whole vault')}</option>
          {members?.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
      )}
      {!readsAll && (
        <CheckField
          label={t('Include operations that others share with me')}
          checked={search.includeShared === 'true'}
          onChange={({ target }) => change({ includeShared: target.checked ? 'true' : undefined })}
        />
      )}
      {isTaken(type, 'includeInternal') && (
        <CheckField
          label={t('Without movements within the vault')}
          checked={search.includeInternal === 'false'}
          onChange={({ target }) => change({ includeInternal: target.checked ? 'false' : undefined })}
        />
      )}
      {isActivity(type) && (
        <CheckField
          label={t('Also by owner of the addresses')}
          checked={search.breakdownBy === 'owner'}
          onChange={({ target }) => change({ breakdownBy: target.checked ? 'owner' : undefined })}
        />
      )}
    </>
  )
}

function Counting({ type, search, change }: Omit<SettingsProps, 'code'>) {
  const select = (name: SearchName, label: string, fallback: string, options: readonly [string, string][]) =>
    isTaken(type, name) && (
      <SelectField
        label={label}
        value={search[name] ?? fallback}
        onChange={({ target }) => change({ [name]: target.value === fallback ? undefined : target.value })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
    )
  return (
    <>
      {select('groupBy', t('Steps of the timeline'), 'day', [
        ['day', t('Days')],
        ['week', t('Weeks')],
        ['month', t('Months')],
      ])}
      {select('comparison', t('Compare with'), 'none', [
        ['none', t('Nothing')],
        ['previous_period', t('The period before')],
        ['previous_year', t('The same period of last year')],
      ])}
      {select('dateBasis', t('Date used for the period'), type === 'fees' ? 'feeBookedAt' : 'createdAt', [
        ['createdAt', t('Date of the order or arrival')],
        ['blockchainAt', t('Time of the block')],
        ['confirmedAt', t('Date of confirmation')],
        ['feeBookedAt', t('Date on which the network fee was booked')],
      ])}
      {select('counterpartyClassification', t('Counterparties'), 'current', [
        ['current', t('By the current address book')],
        ['historical', t('By the address book at that time')],
      ])}
    </>
  )
}

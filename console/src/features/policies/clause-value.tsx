import { t } from '../../lib/language.ts'
import { zone } from '../../lib/time.ts'
import { SetPicker, TextsPicker } from '../../ui/set-picker.tsx'
import { DecimalInput, slotClass } from './decimal-input.tsx'
import type { Vocabulary } from './queries.ts'
import { listOf, type ValueForm } from './selectors.ts'
import { dayWords, flagWords, optionWord, periodWord, perWords } from './words.ts'

type ClauseValueProps = {
  selectorType: string
  form: ValueForm
  label: string
  value: unknown
  unit: string
  vocabulary: Vocabulary
  onChange: (value: unknown) => void
}

type Bounds = { op: string; value?: string; min?: string; max?: string }

/** The slot for the value of a condition, by the form of its selector. */
export function ClauseValue({ selectorType, form, label, value, unit, vocabulary, onChange }: ClauseValueProps) {
  if (form.kind === 'comparison')
    return <Comparison label={label} value={value as Bounds} unit={unit} onChange={onChange} />
  if (form.kind === 'velocity') return <Velocity label={label} value={value as Limit} unit={unit} onChange={onChange} />
  if (form.kind === 'flag') return <Flag type={selectorType} label={label} value={value === true} onChange={onChange} />
  if (form.kind === 'window') return <Window value={value as TimeOfWeek} onChange={onChange} />
  if (form.kind === 'texts') {
    return <TextsPicker bare label={label} chosen={listOf<string>(value)} onChange={onChange} />
  }
  if (form.kind === 'variants') {
    const chosen = listOf<{ route: string; variant: string }>(value).map(({ route, variant }) => `${route}/${variant}`)
    return (
      <SetPicker
        bare
        label={label}
        options={vocabulary.choices.route_variant}
        chosen={chosen}
        onChange={(ids) =>
          onChange(ids.map((id) => ({ route: id.slice(0, id.indexOf('/')), variant: id.slice(id.indexOf('/') + 1) })))
        }
      />
    )
  }
  const options =
    form.kind === 'choice' ? form.options.map((id) => ({ id, name: optionWord(id) })) : vocabulary.choices[form.names]
  return <SetPicker bare label={label} options={options} chosen={listOf<string>(value)} onChange={onChange} />
}

type FlagProps = { type: string; label: string; value: boolean; onChange: (value: unknown) => void }

function Flag({ type, label, value, onChange }: FlagProps) {
  const { yes, no } = flagWords(type)
  return (
    <select
      aria-label={label}
      className={slotClass}
      value={String(value)}
      onChange={({ target }) => onChange(target.value === 'true')}
    >
      <option value="true">{yes}</option>
      <option value="false">{no}</option>
    </select>
  )
}

type Part<Value> = { label: string; value: Value; unit: string; onChange: (value: unknown) => void }

function Comparison({ label, value, unit, onChange }: Part<Bounds>) {
  if (value.op === 'between') {
    return (
      <span className="inline-flex flex-wrap items-center gap-2">
        <DecimalInput label={label} value={value.min ?? ''} onChange={(min) => onChange({ ...value, min })} />
        {t('and')}
        <DecimalInput
          label={label}
          value={value.max ?? ''}
          unit={unit}
          onChange={(max) => onChange({ ...value, max })}
        />
      </span>
    )
  }
  return (
    <DecimalInput
      label={label}
      value={value.value ?? ''}
      unit={unit}
      onChange={(bound) => onChange({ ...value, value: bound })}
    />
  )
}

/** Changes the operator and keeps the entered figure. */
export function withOperator(value: Bounds, op: string): Bounds {
  if (op === value.op) return value
  const { windowSeconds, per } = value as Bounds & { windowSeconds?: number; per?: string }
  const rest = windowSeconds === undefined ? {} : { windowSeconds, per }
  if (op === 'between') return { op, min: value.value ?? '', max: '' }
  return { op, value: value.value ?? value.min ?? '', ...rest }
}

type Limit = Bounds & { windowSeconds: number; per: string }

const periods = [3_600, 86_400, 604_800, 2_592_000]

function Velocity({ label, value, unit, onChange }: Part<Limit>) {
  const offered = periods.includes(value.windowSeconds) ? periods : [...periods, value.windowSeconds]
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <DecimalInput
        label={label}
        value={value.value ?? ''}
        unit={unit}
        onChange={(bound) => onChange({ ...value, value: bound })}
      />
      {t('within')}
      <select
        aria-label={t('Period')}
        className={slotClass}
        value={value.windowSeconds}
        onChange={({ target }) => onChange({ ...value, windowSeconds: Number(target.value) })}
      >
        {offered.map((seconds) => (
          <option key={seconds} value={seconds}>
            {periodWord(seconds)}
          </option>
        ))}
      </select>
      <select
        aria-label={t('Whose transfers count')}
        className={slotClass}
        value={value.per}
        onChange={({ target }) => onChange({ ...value, per: target.value })}
      >
        {Object.entries(perWords()).map(([per, word]) => (
          <option key={per} value={per}>
            {word}
          </option>
        ))}
      </select>
    </span>
  )
}

type TimeOfWeek = { timezone: string; days: string[]; from: string; to: string }

function Window({ value, onChange }: { value: TimeOfWeek; onChange: (value: unknown) => void }) {
  const words = dayWords()
  const zones = [...new Set([value.timezone, zone, ...Intl.supportedValuesOf('timeZone')])]
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">{t('Days')}</legend>
        {Object.entries(words).map(([day, word]) => (
          <label
            key={day}
            className="inline-flex min-h-9 cursor-pointer items-center gap-1 rounded-md border border-line px-2 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              className="accent-accent"
              checked={value.days.includes(day)}
              onChange={({ target }) => {
                const days = Object.keys(words).filter((other) =>
                  other === day ? target.checked : value.days.includes(other),
                )
                onChange({ ...value, days })
              }}
            />
            {word}
          </label>
        ))}
      </fieldset>
      {t('from')}
      <input
        type="time"
        aria-label={t('From')}
        className={slotClass}
        value={value.from}
        onChange={({ target }) => onChange({ ...value, from: target.value })}
      />
      {t('to')}
      <input
        type="time"
        aria-label={t('Until')}
        className={slotClass}
        value={value.to === '24:00' ? '00:00' : value.to}
        onChange={({ target }) => onChange({ ...value, to: target.value === '00:00' ? '24:00' : target.value })}
      />
      <select
        aria-label={t('Time zone')}
        className={slotClass}
        value={value.timezone}
        onChange={({ target }) => onChange({ ...value, timezone: target.value })}
      >
        {zones.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </span>
  )
}

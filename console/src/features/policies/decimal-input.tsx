import { useState } from 'react'
import { formatAmount, parseAmount } from '../../lib/amounts.ts'

type DecimalInputProps = {
  label: string
  value: string
  onChange: (value: string) => void
  unit?: string
  invalid?: boolean
  describedBy?: string | undefined
}

export const slotClass =
  'min-h-11 max-w-full rounded-md border border-quiet bg-paper px-2 text-ink md:min-h-9 aria-invalid:border-bad'

/**
 * An exact figure, typed as in the reader's language. Invalid text is passed on unchanged, and the service refuses it.
 */
export function DecimalInput({ label, value, onChange, unit = '', invalid, describedBy }: DecimalInputProps) {
  const [typed, setTyped] = useState('')
  // The typed text stays. A value that comes from elsewhere replaces it.
  const text = read(typed) === value ? typed : /^\d+(\.\d+)?$/.test(value) ? formatAmount(value) : value
  return (
    <span className="inline-flex items-center gap-2">
      <input
        aria-label={unit === '' ? label : `${label} (${unit})`}
        aria-invalid={invalid || undefined}
        aria-describedby={describedBy}
        inputMode="decimal"
        className={`${slotClass} figures w-36 text-right`}
        value={text}
        onChange={({ target }) => {
          setTyped(target.value)
          onChange(read(target.value))
        }}
      />
      {unit !== '' && <span className="text-quiet">{unit}</span>}
    </span>
  )
}

function read(text: string): string {
  return parseAmount(text, 18) ?? text.trim()
}

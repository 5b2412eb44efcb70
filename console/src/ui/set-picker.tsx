import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'

export type Option = { id: string; name: string }

type SetPickerProps = {
  label: string
  options: readonly Option[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  hint?: string | undefined
  error?: string | null | undefined
  /** True if the label is read by screen readers and not drawn, because the words around it say the same. */
  bare?: boolean
}

const controlClass =
  'min-h-11 rounded-md border border-quiet bg-paper px-2 text-ink md:min-h-9 aria-invalid:border-bad max-w-full'

/** A choice of several items: chosen items are chips that can be removed, and a list offers the others. */
export function SetPicker({ label, options, chosen, onChange, hint, error, bare = false }: SetPickerProps) {
  const id = useId()
  const nameOf = (value: string) => options.find((option) => option.id === value)?.name ?? value
  const left = options.filter((option) => !chosen.includes(option.id))
  return (
    <div className={bare ? 'min-w-0' : 'mb-4'}>
      <label htmlFor={id} className={bare ? 'sr-only' : 'mb-1 block font-medium'}>
        {label}
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <Chips chosen={chosen} nameOf={nameOf} onChange={onChange} />
        {left.length > 0 && (
          <select
            id={id}
            className={controlClass}
            value=""
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? `${id}-error` : hint ? `${id}-hint` : undefined}
            onChange={({ target }) => onChange([...chosen, target.value])}
          >
            <option value="" disabled>
              {chosen.length === 0 ? t('Choose') : t('Add another')}
            </option>
            {left.map((option) => (
              <option key={option.id} value={option.id}>
                {option.name}
              </option>
            ))}
          </select>
        )}
      </div>
      <Below id={id} hint={hint} error={error} />
    </div>
  )
}

/** Several typed words, where the vault has no list to choose from. */
export function TextsPicker({ label, chosen, onChange, bare = false }: Omit<SetPickerProps, 'options'>) {
  const id = useId()
  const [text, setText] = useState('')
  const add = () => {
    const word = text.trim()
    if (word !== '' && !chosen.includes(word)) onChange([...chosen, word])
    setText('')
  }
  return (
    <div className={bare ? 'min-w-0' : 'mb-4'}>
      <label htmlFor={id} className={bare ? 'sr-only' : 'mb-1 block font-medium'}>
        {label}
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <Chips chosen={chosen} nameOf={(value) => value} onChange={onChange} />
        <input
          id={id}
          className={controlClass}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            add()
          }}
        />
        <Button onClick={add}>{t('Add')}</Button>
      </div>
    </div>
  )
}

type ChipsProps = Pick<SetPickerProps, 'chosen' | 'onChange'> & { nameOf: (value: string) => string }

function Chips({ chosen, nameOf, onChange }: ChipsProps) {
  return chosen.map((value) => (
    <span
      key={value}
      className="inline-flex min-h-9 max-w-full items-center gap-1 rounded-full bg-accent-soft pl-3 font-medium [overflow-wrap:anywhere]"
    >
      {nameOf(value)}
      <button
        type="button"
        aria-label={t('Remove {name}', { name: nameOf(value) })}
        className="grid size-9 shrink-0 place-items-center text-quiet hover:text-bad"
        onClick={() => onChange(chosen.filter((other) => other !== value))}
      >
        <X size={14} aria-hidden />
      </button>
    </span>
  ))
}

function Below({ id, hint, error }: { id: string; hint: string | undefined; error: string | null | undefined }) {
  return (
    <>
      {hint !== undefined && (
        <div id={`${id}-hint`} className="mt-1 text-[0.8125rem] text-quiet">
          {hint}
        </div>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="mt-1 text-[0.8125rem] text-bad">
          {error}
        </p>
      )}
    </>
  )
}

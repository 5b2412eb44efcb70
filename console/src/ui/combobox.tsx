import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { t } from '../lib/language.ts'
import { inputClass } from './field.tsx'

type ComboboxProps<Option> = {
  label: string
  hint?: ReactNode
  error?: string | null | undefined
  placeholder?: string
  /** The text of the field. */
  text: string
  onText: (text: string) => void
  options: readonly Option[]
  optionKey: (option: Option) => string
  draw: (option: Option) => ReactNode
  onChoose: (option: Option) => void
  /** Shown when no option matches; null shows nothing. */
  nothing?: string | null
  busy?: boolean
}

/**
 * A field that offers matching options while the reader types. An option is chosen with the arrows and Enter, or with
 * the pointer. The field also takes free text, which the page checks.
 */
export function Combobox<Option>(props: ComboboxProps<Option>) {
  const { label, hint, error, text, options, optionKey, draw, busy = false, nothing = null } = props
  const id = useId()
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const choose = (option: Option) => {
    props.onChoose(option)
    setOpen(false)
    setActive(-1)
  }
  const shown = open && (options.length > 0 || (nothing !== null && !busy))
  const at = Math.min(active, options.length - 1)
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      setOpen(true)
      if (options.length > 0) setActive((at + move + options.length) % options.length)
    } else if (event.key === 'Enter' && shown && at >= 0) {
      event.preventDefault()
      choose(options[at]!)
    } else if (event.key === 'Escape' && open) {
      event.preventDefault()
      setOpen(false)
    }
  }
  const described = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="relative mb-4">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <input
        id={id}
        role="combobox"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        className={inputClass}
        value={text}
        placeholder={props.placeholder}
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown && at >= 0 ? `${id}-${at}` : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={described === '' ? undefined : described}
        onChange={({ target }) => {
          props.onText(target.value)
          setOpen(true)
          setActive(-1)
        }}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <Offer id={id} shown={shown}>
        {options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard chooses in the field, which keeps the focus.
          <div
            key={optionKey(option)}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={`cursor-pointer rounded-md px-3 py-2 ${index === at ? 'bg-accent-soft' : 'hover:bg-ground'}`}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(option)}
          >
            {draw(option)}
          </div>
        ))}
        {options.length === 0 && nothing !== null && <div className="px-3 py-2 text-quiet">{nothing}</div>}
      </Offer>
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
      <span role="status" className="sr-only">
        {shown ? t('{count, plural, one {# suggestion} other {# suggestions}}', { count: options.length }) : ''}
      </span>
    </div>
  )
}

type OfferProps = { id: string; shown: boolean; children: ReactNode }

function Offer({ id, shown, children }: OfferProps) {
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label={t('Suggestions')}
      hidden={!shown}
      className="absolute inset-x-0 z-30 mt-1 max-h-80 overflow-y-auto rounded-md border border-line bg-paper p-1 shadow-lg"
    >
      {children}
    </div>
  )
}

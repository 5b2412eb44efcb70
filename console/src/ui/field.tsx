import { type ComponentProps, type ReactNode, useId } from 'react'

export const inputClass =
  'w-full min-h-11 rounded-md border border-quiet bg-paper px-3 py-2 text-ink md:min-h-9 md:py-1.5 ' +
  'aria-invalid:border-bad placeholder:text-quiet'

type Common = { label: string; hint?: ReactNode; error?: string | null | undefined }

/** A labelled field. Screen readers read the hint and the fault with it. */
function Labelled({
  label,
  hint,
  error,
  children,
}: Common & { children: (ids: { id: string; describedBy?: string }) => ReactNode }) {
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="mb-4">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, ...(described === '' ? {} : { describedBy: described }) })}
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
    </div>
  )
}

export function TextField({ label, hint, error, ...rest }: Common & ComponentProps<'input'>) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <input
          id={id}
          className={inputClass}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy}
          {...rest}
        />
      )}
    </Labelled>
  )
}

export function TextArea({ label, hint, error, ...rest }: Common & ComponentProps<'textarea'>) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          rows={3}
          className={inputClass}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy}
          {...rest}
        />
      )}
    </Labelled>
  )
}

export function SelectField({ label, hint, error, children, ...rest }: Common & ComponentProps<'select'>) {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <select
          id={id}
          className={inputClass}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy}
          {...rest}
        >
          {children}
        </select>
      )}
    </Labelled>
  )
}

export function CheckField({ label, hint, ...rest }: { label: string; hint?: ReactNode } & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className="mb-3 flex items-start gap-3">
      <input
        id={id}
        type="checkbox"
        className="mt-1 size-4 accent-accent"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <div id={`${id}-hint`} className="text-[0.8125rem] text-quiet">
            {hint}
          </div>
        )}
      </div>
    </div>
  )
}

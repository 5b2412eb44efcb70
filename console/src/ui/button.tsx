import type { ComponentProps, ReactNode } from 'react'

type Look = 'primary' | 'plain' | 'danger' | 'quiet'

const looks: Record<Look, string> = {
  primary: 'bg-accent text-on-accent border-accent hover:brightness-110',
  plain: 'bg-paper text-ink border-line hover:border-quiet',
  danger: 'bg-paper text-bad border-bad hover:bg-bad-soft',
  quiet: 'border-transparent text-accent hover:bg-accent-soft',
}

const shape =
  'inline-flex min-h-11 items-center justify-center gap-2 rounded-md border px-4 font-medium md:min-h-9 md:px-3 ' +
  'aria-disabled:cursor-not-allowed aria-disabled:opacity-55'

/** Returns the class of a link that looks like a button. */
export function buttonClass(look: Look = 'plain'): string {
  return `${shape} ${looks[look]}`
}

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> & {
  look?: Look
  /** The reason why the action is not possible now. The button stays reachable by keyboard, and shows the reason. */
  disabledBecause?: string | null | undefined
  busy?: boolean
  icon?: ReactNode
}

/**
 * A button. An action that the reader may never take has no button. An action that is not possible now has a button
 * with the reason.
 */
export function Button({
  look = 'plain',
  disabledBecause,
  busy,
  icon,
  children,
  onClick,
  className,
  ...rest
}: ButtonProps) {
  const off = busy === true || (disabledBecause !== null && disabledBecause !== undefined)
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonClass(look)} ${className ?? ''}`}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      title={disabledBecause ?? rest.title}
      onClick={(event) => {
        if (off) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {icon}
      {children}
    </button>
  )
}

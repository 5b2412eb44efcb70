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

/** The class of a link that looks like a button. */
export function buttonClass(look: Look = 'plain'): string {
  return `${shape} ${looks[look]}`
}

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> & {
  look?: Look
  /** Why this cannot be done now. The button stays reachable by keyboard, and says why. */
  disabledBecause?: string | null | undefined
  busy?: boolean
  icon?: ReactNode
}

/** A button. What one may never do is not drawn at all; what one may not do now is drawn with the reason. */
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

import { Ban, Check, CircleAlert, Clock, type LucideIcon, Minus } from 'lucide-react'

export type Tone = 'good' | 'warn' | 'bad' | 'neutral' | 'waiting'

const looks: Record<Tone, { className: string; Icon: LucideIcon }> = {
  good: { className: 'bg-good-soft text-good', Icon: Check },
  warn: { className: 'bg-warn-soft text-warn', Icon: CircleAlert },
  bad: { className: 'bg-bad-soft text-bad', Icon: Ban },
  waiting: { className: 'bg-accent-soft text-accent', Icon: Clock },
  neutral: { className: 'bg-ground text-quiet', Icon: Minus },
}

/** A state in one word, with its icon. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  const { className, Icon } = looks[tone]
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-[0.8125rem] font-medium whitespace-nowrap ${className}`}
    >
      <Icon size={13} aria-hidden />
      {children}
    </span>
  )
}

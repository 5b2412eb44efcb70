export type Tone = 'good' | 'warn' | 'bad' | 'neutral' | 'waiting'

const looks: Record<Tone, string> = {
  good: 'icon-check bg-good-soft text-good',
  warn: 'icon-alert bg-warn-soft text-warn',
  bad: 'icon-ban bg-bad-soft text-bad',
  waiting: 'icon-clock bg-accent-soft text-accent',
  neutral: 'icon-minus bg-ground text-quiet',
}

/** A state in one word, with an icon. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span
      className={`icon inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-[0.8125rem] font-medium whitespace-nowrap ${looks[tone]}`}
    >
      {children}
    </span>
  )
}

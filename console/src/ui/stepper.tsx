import { Ban, Check, Circle, CircleDot, type LucideIcon, Minus } from 'lucide-react'
import { t } from '../lib/language.ts'
import { formatTime, formatTimeInFull } from '../lib/time.ts'
import { Ago } from './ago.tsx'

type StepperStep = {
  title: string
  state: 'done' | 'current' | 'failed' | 'skipped' | 'ahead'
  detail: string | null
  at: string | null
  isRecent?: boolean
}

const looks: Record<StepperStep['state'], { Icon: LucideIcon; className: string }> = {
  done: { Icon: Check, className: 'bg-good-soft text-good' },
  current: { Icon: CircleDot, className: 'bg-accent-soft text-accent' },
  failed: { Icon: Ban, className: 'bg-bad-soft text-bad' },
  skipped: { Icon: Minus, className: 'bg-ground text-quiet' },
  ahead: { Icon: Circle, className: 'bg-ground text-quiet' },
}

/** The steps of a long process, and its present step. On a phone the steps stand below each other. */
export function Stepper({ label, steps }: { label: string; steps: readonly StepperStep[] }) {
  return (
    <ol aria-label={label} className="flex flex-col gap-4 md:flex-row md:gap-2">
      {steps.map(({ title, state, detail, at, isRecent }) => {
        const { Icon, className } = looks[state]
        return (
          <li
            key={title}
            aria-current={state === 'current' ? 'step' : undefined}
            className="flex min-w-0 flex-1 gap-3 md:flex-col md:gap-2"
          >
            <span className="flex items-center gap-2 max-md:self-start">
              <span className={`grid size-7 shrink-0 place-items-center rounded-full ${className}`}>
                <Icon size={15} aria-hidden />
              </span>
              <span aria-hidden className="hidden h-px flex-1 bg-line md:block" />
            </span>
            <span className="min-w-0">
              <span className={`block font-medium ${state === 'ahead' || state === 'skipped' ? 'text-quiet' : ''}`}>
                {title}
                <span className="sr-only">: {stateWords(state)}</span>
              </span>
              {detail !== null && (
                <span className={`block text-[0.8125rem] ${state === 'failed' ? 'text-bad' : 'text-quiet'}`}>
                  {detail}
                </span>
              )}
              {at !== null && (
                <time className="block text-[0.8125rem] text-quiet" dateTime={at} title={formatTimeInFull(at)}>
                  {isRecent ? <Ago at={at} /> : formatTime(at)}
                </time>
              )}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function stateWords(state: StepperStep['state']): string {
  if (state === 'done') return t('done')
  if (state === 'current') return t('in progress')
  if (state === 'failed') return t('ended here')
  return state === 'skipped' ? t('left out') : t('still to come')
}

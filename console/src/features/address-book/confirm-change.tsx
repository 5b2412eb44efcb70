import type { ApprovalRequest, Outcome } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { WaitsForApproval } from '../../ui/waits.tsx'
import { useBookChange } from './write.ts'

type Props = {
  code: string
  text: string
  label: string
  done: string
  change: (options: { idempotencyKey: string }) => Promise<Outcome<unknown, ApprovalRequest>>
  close: () => void
}

/** Asks for confirmation before something is removed. */
export function ConfirmChange({ code, text, label, done, change, close }: Props) {
  const run = useBookChange(code, (_: undefined, options) => change(options), { done, after: close })
  if (run.waiting !== null) return <WaitsForApproval code={code} requestId={run.waiting.id} />
  return (
    <>
      <Problem error={run.error} />
      <p className="mb-4">{text}</p>
      <div className="flex gap-2">
        <Button look="danger" busy={run.isPending} onClick={() => run.mutate(undefined)}>
          {label}
        </Button>
        <Button onClick={close}>{t('Back')}</Button>
      </div>
    </>
  )
}

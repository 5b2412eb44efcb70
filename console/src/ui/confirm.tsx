import type { ReactNode } from 'react'
import { t } from '../lib/language.ts'
import { Button } from './button.tsx'
import { Sheet } from './sheet.tsx'
import { type Write, WriteFailed } from './use-write.tsx'

type ConfirmProps = {
  title: string
  verb: string
  open: boolean
  onClose: () => void
  write: Write<void, unknown>
  danger?: boolean
  children: ReactNode
}

/** Asks for confirmation before an action that cannot be undone, or that others notice. */
export function Confirm({ title, verb, open, onClose, write, danger = true, children }: ConfirmProps) {
  return (
    <Sheet title={title} open={open} onClose={onClose}>
      <div className="mb-4">{children}</div>
      <WriteFailed write={write} />
      <div className="flex gap-2">
        <Button look={danger ? 'danger' : 'primary'} busy={write.isPending} onClick={() => write.mutate()}>
          {verb}
        </Button>
        <Button onClick={onClose}>{t('Back')}</Button>
      </div>
    </Sheet>
  )
}

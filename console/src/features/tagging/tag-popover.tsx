import { t } from '../../lib/language.ts'
import { Popover } from '../../ui/popover.tsx'
import { CategoryEditor } from './category-editor.tsx'
import type { Operation } from './queries.ts'

type TagPopoverProps = { operation: Operation; anchor: HTMLElement | null; onClose: () => void }

export default function TagPopover({ operation, anchor, onClose }: TagPopoverProps) {
  return (
    <Popover title={t('Category')} anchor={anchor} open onClose={onClose}>
      <CategoryEditor operation={operation} onDone={onClose} />
    </Popover>
  )
}

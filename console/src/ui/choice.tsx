import { X } from 'lucide-react'
import { t } from '../lib/language.ts'

/** An active filter, with a button that removes it. */
export function Chip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <li className="inline-flex items-center gap-1 rounded-full bg-accent-soft py-0.5 pr-1 pl-3">
      <span className="[overflow-wrap:anywhere]">{text}</span>
      <button
        type="button"
        className="grid size-7 place-items-center rounded-full text-quiet hover:text-ink max-md:size-9"
        aria-label={t('Remove the filter {name}', { name: text })}
        onClick={onRemove}
      >
        <X size={14} aria-hidden />
      </button>
    </li>
  )
}

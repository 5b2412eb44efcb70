import { Maximize2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useHotkeys } from 'react-hotkeys-hook'
import { t } from '../lib/language.ts'
import { WithinPage } from './page.tsx'

type BesideListProps = {
  list: ReactNode
  /** What was opened from the list; `href` leads to the page of its own that shows the same. */
  opened: { detail: ReactNode; href: string } | null
  onClose: () => void
}

/** What was opened from a list, beside it: where the screen is wide enough, the list keeps its place. Escape closes it. */
export function BesideList({ list, opened, onClose }: BesideListProps) {
  const isOpen = opened !== null
  return (
    <div
      {...(isOpen && { 'data-beside': true })}
      className={isOpen ? 'grid grid-cols-[minmax(0,5fr)_minmax(0,4fr)] items-start gap-x-6' : ''}
    >
      <div>{list}</div>
      {isOpen && <Opened {...opened} onClose={onClose} />}
    </div>
  )
}

function Opened({ detail, href, onClose }: { detail: ReactNode; href: string; onClose: () => void }) {
  useHotkeys('escape', () => document.querySelector('dialog[open], :popover-open') === null && onClose())
  return (
    <section aria-label={t('Details')} className="sticky top-0 -my-6 h-dvh overflow-y-auto py-6">
      <div className="mb-2 flex justify-end gap-1">
        <a
          href={href}
          aria-label={t('Open as a page')}
          title={t('Open as a page')}
          className="grid size-9 place-items-center rounded-md text-quiet hover:text-ink"
        >
          <Maximize2 size={18} aria-hidden />
        </a>
        <button
          type="button"
          aria-label={t('Close the details')}
          title={t('Close the details')}
          className="grid size-9 place-items-center rounded-md text-quiet hover:text-ink"
          onClick={onClose}
        >
          <X size={20} aria-hidden />
        </button>
      </div>
      <WithinPage>{detail}</WithinPage>
    </section>
  )
}

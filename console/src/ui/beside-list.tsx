import { Link } from '@tanstack/react-router'
import { Maximize2, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useKeys } from '../lib/hotkeys.ts'
import { t } from '../lib/language.ts'
import { IsWithinPage } from './within-page.ts'

type BesideListProps = {
  list: ReactNode
  /** The opened details. `href` leads to the separate page of the same object. */
  opened: { detail: ReactNode; href: string } | null
  onClose: () => void
}

/**
 * Details beside the list from which they were opened. On a wide screen the list stays visible. Escape closes the
 * details.
 */
export function BesideList({ list, opened, onClose }: BesideListProps) {
  const isOpen = opened !== null
  return (
    <div
      {...(isOpen && { 'data-beside': true })}
      className={isOpen ? 'grid grid-cols-[minmax(0,5fr)_minmax(0,4fr)] items-start gap-x-6' : ''}
    >
      <div>{list}</div>
      {isOpen && <Opened key={opened.href} {...opened} onClose={onClose} />}
    </div>
  )
}

const buttonLook = 'grid size-9 place-items-center rounded-md text-quiet hover:text-ink'

function Opened({ detail, href, onClose }: { detail: ReactNode; href: string; onClose: () => void }) {
  const section = useRef<HTMLElement>(null)
  useKeys('escape', onClose, {}, [onClose])
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    section.current?.focus({ preventScroll: true })
    // The focus returns to the row, unless the reader has moved it elsewhere.
    return () => {
      if (document.activeElement === document.body && opener?.isConnected) opener.focus({ preventScroll: true })
    }
  }, [])
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label={t('Details')}
      className="sticky top-0 -my-6 h-dvh overflow-y-auto py-6 outline-none"
    >
      <div className="mb-2 flex justify-end gap-1">
        <Link to={href} aria-label={t('Open as a page')} title={t('Open as a page')} className={buttonLook}>
          <Maximize2 size={18} aria-hidden />
        </Link>
        <button
          type="button"
          aria-label={t('Close the details')}
          title={t('Close the details')}
          className={buttonLook}
          onClick={onClose}
        >
          <X size={20} aria-hidden />
        </button>
      </div>
      <IsWithinPage value={true}>{detail}</IsWithinPage>
    </section>
  )
}

import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '../lib/language.ts'

/** The frame of pages that belong to no vault, with a link back and links to the other such pages. */
export function Frame({ isPlatformAdmin, children }: { isPlatformAdmin: boolean; children: ReactNode }) {
  const link = 'inline-flex min-h-11 items-center gap-2 rounded-md px-3 md:min-h-9'
  const looks = {
    inactiveProps: { className: 'text-quiet hover:text-ink' },
    activeProps: { className: 'bg-accent-soft font-medium', 'aria-current': 'page' as const },
  }
  return (
    <>
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-paper focus:p-3">
        {t('Skip to the content')}
      </a>
      <header className="border-b border-line bg-paper">
        <nav aria-label={t('Main pages')} className="mx-auto flex max-w-6xl flex-wrap items-center gap-1 p-2">
          <Link to="/" className={`${link} mr-auto font-semibold`}>
            <ArrowLeft size={18} aria-hidden />
            <img src="/assets/icon.svg" alt="" width="22" height="22" />
            {t('Your vaults')}
          </Link>
          <Link to="/me" className={link} {...looks}>
            {t('Me')}
          </Link>
          <a href="/docs" className={`${link} text-quiet hover:text-ink max-sm:hidden`}>
            {t('API reference')}
          </a>
          {isPlatformAdmin && (
            <Link to="/platform" className={link} {...looks}>
              {t('Platform')}
            </Link>
          )}
        </nav>
      </header>
      <main id="content" tabIndex={-1} className="mx-auto max-w-6xl p-4 pb-12 outline-none md:p-6">
        {children}
      </main>
    </>
  )
}

import { lazy, Suspense, useRef, useState } from 'react'
import { t } from '../../lib/language.ts'
import { CategoryName, type NamedCategory } from './category-name.tsx'
import type { Operation } from './queries.ts'

/** The popover loads when it is first opened, because a list does not need it before. */
const TagPopover = lazy(() => import('./tag-popover.tsx'))

/** The category of an operation as a chip, which opens its editor. The key `t` does the same. */
export function TagButton({ operation, category }: { operation: Operation; category: NamedCategory | null }) {
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const look = category === null ? 'icon icon-tag text-quiet' : ''
  return (
    <>
      <button
        ref={button}
        type="button"
        data-hotkey="t"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={`${t('Category')}: ${category?.name ?? t('Tag')}`}
        title={t('Category (t)')}
        className={`inline-flex min-h-9 items-center gap-1.5 rounded-full border border-line px-2.5 text-[0.8125rem] whitespace-nowrap hover:border-accent md:min-h-7 ${look}`}
        onClick={() => setOpen(true)}
      >
        {category === null ? t('Tag') : <CategoryName category={category} />}
      </button>
      {open && (
        <Suspense>
          <TagPopover operation={operation} anchor={button.current} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

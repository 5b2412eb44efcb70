import { useQuery } from '@tanstack/react-query'
import { Tag } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { t } from '../../lib/language.ts'
import { useViewer } from '../../lib/viewer.ts'
import { CategoryName } from './category-name.tsx'
import { categoriesQuery, type Operation } from './queries.ts'

/** The popover comes when it is opened for the first time: a list is there without it. */
const TagPopover = lazy(() => import('./tag-popover.tsx'))

/** The category of an operation as a chip, which opens what changes it. `t` on the keyboard does the same. */
export function TagButton({ operation, category }: { operation: Operation; category: string | null }) {
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const { data: categories = [] } = useQuery(categoriesQuery(operation.code))
  const { isAuditor } = useViewer(operation.code)
  const known = categories.find(({ key }) => key === category)
  const name = category !== null && <CategoryName category={known ?? { name: category, emoji: null, color: null }} />
  if (isAuditor) return name
  return (
    <>
      <button
        ref={button}
        type="button"
        data-hotkey="t"
        aria-haspopup="dialog"
        aria-expanded={open}
        title={t('Category (t)')}
        className="inline-flex min-h-9 items-center gap-1.5 rounded-full border border-line px-2.5 text-[0.8125rem] whitespace-nowrap hover:border-accent md:min-h-7"
        onClick={() => setOpen(true)}
      >
        <span className="sr-only">{t('Category')}: </span>
        {name || (
          <span className="inline-flex items-center gap-1.5 text-quiet">
            <Tag size={13} aria-hidden /> {t('Tag')}
          </span>
        )}
      </button>
      {open && (
        <Suspense>
          <TagPopover operation={operation} anchor={button.current} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { t } from '../lib/language.ts'

type SheetProps = { title: string; open: boolean; onClose: () => void; children: ReactNode; wide?: boolean }

/** A dialog of the browser. The focus stays inside, and Escape closes it. On a phone it rises from the bottom. */
export function Sheet({ title, open, onClose, children, wide = false }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    if (open && dialog.current?.open === false) dialog.current.showModal()
    if (!open && dialog.current?.open === true) dialog.current.close()
  }, [open])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      className={
        'm-0 mt-auto w-full max-w-none rounded-t-xl border border-line bg-paper p-5 backdrop:bg-black/50 ' +
        `max-h-[92dvh] overflow-y-auto sm:m-auto sm:rounded-xl ${wide ? 'sm:max-w-3xl' : 'sm:max-w-lg'}`
      }
    >
      {open && (
        <>
          <div className="mb-3 flex items-start justify-between gap-4">
            <h2 id={heading} className="text-lg">
              {title}
            </h2>
            <button
              type="button"
              aria-label={t('Close')}
              className="-m-2 grid size-11 place-items-center text-quiet"
              onClick={() => dialog.current?.close()}
            >
              <X size={20} aria-hidden />
            </button>
          </div>
          {children}
        </>
      )}
    </dialog>
  )
}

import { CSPProvider } from '@base-ui/react/csp-provider'
import { Popover as Parts } from '@base-ui/react/popover'
import type { ReactNode } from 'react'

type PopoverProps = {
  title: string
  /** What it stands beside; it gets the focus back. */
  anchor: HTMLElement | null
  open: boolean
  onClose: () => void
  children: ReactNode
}

/** A small dialog beside what opened it. Escape and a click outside close it. */
export function Popover({ title, anchor, open, onClose, children }: PopoverProps) {
  return (
    <CSPProvider disableStyleElements>
      <Parts.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
        <Parts.Portal>
          <Parts.Positioner
            anchor={anchor}
            side="bottom"
            align="end"
            sideOffset={6}
            collisionPadding={8}
            className="z-50"
          >
            <Parts.Popup
              finalFocus={() => anchor}
              className="max-h-[70dvh] w-80 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-paper p-4 shadow-xl outline-none"
            >
              <Parts.Title className="mb-3 text-base font-semibold">{title}</Parts.Title>
              {children}
            </Parts.Popup>
          </Parts.Positioner>
        </Parts.Portal>
      </Parts.Root>
    </CSPProvider>
  )
}

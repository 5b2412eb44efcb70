import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'

type PopoverProps = {
  title: string
  /** The element beside which the popover stands. It gets the focus back. */
  anchor: HTMLElement | null
  open: boolean
  onClose: () => void
  children: ReactNode
}

const gap = 6
const margin = 8

/** A small dialog beside the element that opened it, as a popover of the browser: Escape and a click outside close it. */
export function Popover(props: PopoverProps) {
  return props.open ? <Panel {...props} /> : null
}

function Panel({ title, anchor, onClose, children }: PopoverProps) {
  const panel = useRef<HTMLDivElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const element = panel.current!
    element.showPopover()
    if (anchor !== null) place(element, anchor)
    const first = element.querySelector<HTMLElement>('input, select, textarea, button, a[href]')
    ;(first ?? element).focus()
  }, [anchor])
  return (
    <div
      ref={panel}
      popover="auto"
      role="dialog"
      aria-labelledby={heading}
      tabIndex={-1}
      onToggle={({ newState }) => {
        if (newState !== 'closed') return
        onClose()
        anchor?.focus()
      }}
      className="fixed m-0 max-h-[70dvh] w-80 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-paper p-4 text-ink shadow-xl outline-none"
    >
      <h2 id={heading} className="mb-3 text-base font-semibold">
        {title}
      </h2>
      {children}
    </div>
  )
}

/**
 * Places the panel below the anchor with their ends aligned, or above it where there is more room, and always within
 * the window.
 */
function place(panel: HTMLElement, anchor: HTMLElement): void {
  const { top, bottom, right } = anchor.getBoundingClientRect()
  const { width, height } = panel.getBoundingClientRect()
  const left = Math.min(Math.max(margin, right - width), window.innerWidth - width - margin)
  const fitsBelow = bottom + gap + height + margin <= window.innerHeight
  const above = Math.max(margin, top - gap - height)
  panel.style.setProperty('left', `${left}px`)
  panel.style.setProperty('top', `${fitsBelow || top < height ? bottom + gap : above}px`)
}

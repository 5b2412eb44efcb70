import { type ReactNode, useEffect, useRef } from 'react'

export type Tab = { key: string; label: string }

type TabsProps = {
  label: string
  tabs: readonly Tab[]
  current: string
  onChoose: (key: string) => void
  children: ReactNode
}

/** The parts of a page, one at a time. The arrow keys move between them. */
export function Tabs({ label, tabs, current, onChoose, children }: TabsProps) {
  const list = useRef<HTMLDivElement>(null)
  // Scrolls to the chosen tab, which may be outside of the screen of a phone. Newer browsers return a promise, which an
  // effect must not return.
  useEffect(() => {
    void list.current!.querySelector(`[data-tab="${current}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const step = (by: number) => {
    const index = tabs.findIndex(({ key }) => key === current)
    const next = tabs[(index + by + tabs.length) % tabs.length]!
    onChoose(next.key)
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus()
  }
  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line"
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') step(1)
          if (key === 'ArrowLeft') step(-1)
        }}
      >
        {tabs.map(({ key, label: text }) => (
          <button
            key={key}
            type="button"
            role="tab"
            data-tab={key}
            id={`tab-${key}`}
            aria-controls="tab-panel"
            aria-selected={key === current}
            tabIndex={key === current ? 0 : -1}
            className={
              'min-h-11 border-b-2 px-3 whitespace-nowrap md:min-h-10 ' +
              (key === current ? 'border-accent font-medium' : 'border-transparent text-quiet hover:text-ink')
            }
            onClick={() => onChoose(key)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`}>
        {children}
      </div>
    </>
  )
}

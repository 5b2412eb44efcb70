import { type ReactNode, useContext } from 'react'
import { HasTitle, IsWithinPage } from './within-page.ts'

/** A long word breaks: beside the buttons of a phone there is little room. */
const titleClass = 'min-w-0 hyphens-auto [overflow-wrap:anywhere]'

/** A page with a title, actions and content. The browser's tab shows the same title. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const isWithin = useContext(IsWithinPage)
  return (
    <>
      {!isWithin && <title>{`${title} · Strongroom`}</title>}
      <header className="mb-4 flex flex-wrap items-center justify-between gap-3">
        {isWithin ? <h2 className={`text-lg ${titleClass}`}>{title}</h2> : <h1 className={titleClass}>{title}</h1>}
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      <HasTitle value={true}>{children}</HasTitle>
    </>
  )
}

/** Two columns on a wide page, one below the other on a narrow page. */
export function TwoColumns({ main, side }: { main: ReactNode; side: ReactNode }) {
  return (
    <div className="@container">
      <div className="grid items-start gap-x-4 @3xl:grid-cols-[3fr_2fr]">
        <div className="min-w-0">{main}</div>
        <div className="min-w-0">{side}</div>
      </div>
    </div>
  )
}

/** A card: a part of a page on its own background. */
export function Card({ title, actions, children }: { title?: string; actions?: ReactNode; children: ReactNode }) {
  const Heading = useContext(IsWithinPage) ? 'h3' : 'h2'
  return (
    <section className="mb-4 rounded-lg border border-line bg-paper p-4">
      {(title !== undefined || actions !== undefined) && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          {title !== undefined && <Heading>{title}</Heading>}
          {actions}
        </div>
      )}
      {children}
    </section>
  )
}

export type Fact = readonly [name: string, value: ReactNode]

/** Names and values. Facts that are null are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  return (
    <dl className="grid grid-cols-[6.5rem_1fr] gap-x-4 gap-y-2 sm:grid-cols-[minmax(8rem,max-content)_1fr] sm:gap-x-6">
      {known.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-quiet">{name}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere] [&_.figures_*]:whitespace-normal">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

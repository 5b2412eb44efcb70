import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { DetailState, NotFound } from '../../ui/list-states.tsx'
import { Finder } from './finder.tsx'
import { OperationView } from './operation-view.tsx'
import { GroupView, Overview, Reasons } from './overview.tsx'
import { groupQuery, indexQuery, vaultsQuery } from './queries.ts'
import type { Index } from './types.ts'

/** The public reference of the API. `path` is the part below /docs: empty, a group, or a group and an operation. */
export function ReferencePage({ path }: { path: string }) {
  const [slug = '', id] = path.split('/').filter(Boolean)
  const query = useQuery(indexQuery)
  // Loaded together with the index, and not after it.
  useQuery({ ...groupQuery(slug), enabled: id !== undefined })
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[18rem_minmax(0,1fr)]">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-paper focus:p-3">
        {t('Skip to the content')}
      </a>
      <header className="border-line bg-paper max-lg:sticky max-lg:top-0 max-lg:z-40 max-lg:border-b lg:border-r">
        <div className="p-3 lg:sticky lg:top-0 lg:h-dvh lg:overflow-y-auto">
          <div className="mb-2 flex flex-wrap items-center justify-between gap-x-3">
            <a href="/" className="flex min-h-9 items-center gap-2 font-semibold">
              <img src="/assets/icon.svg" alt={t('To the start')} width="24" height="24" /> Strongroom
            </a>
            <a href="/docs" className="flex min-h-9 items-center text-quiet hover:text-ink">
              {t('API reference')}
            </a>
          </div>
          {query.data !== undefined && <Finder index={query.data} slug={slug} id={id} />}
        </div>
      </header>
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[100rem] min-w-0 p-4 pb-16 outline-none md:p-8">
        <DetailState query={query}>
          {query.data !== undefined && <Content index={query.data} slug={slug} id={id} />}
        </DetailState>
      </main>
    </div>
  )
}

function Content({ index, slug, id }: { index: Index; slug: string; id: string | undefined }) {
  if (slug === '') return <Overview index={index} />
  if (slug === 'errors') return <Reasons index={index} />
  const group = index.groups.find((candidate) => candidate.slug === slug)
  if (group === undefined) return <NotFound />
  if (id === undefined) return <GroupView group={group} />
  const isListed = group.operations.some((operation) => operation.id === id)
  return isListed ? <OneOperation index={index} slug={slug} id={id} /> : <NotFound />
}

function OneOperation({ index, slug, id }: { index: Index; slug: string; id: string }) {
  const query = useQuery(groupQuery(slug))
  const vaults = useQuery(vaultsQuery)
  if (query.data === undefined || vaults.isPending) return <DetailState query={query}>{null}</DetailState>
  return (
    <OperationView
      key={id}
      group={index.groups.find((candidate) => candidate.slug === slug)!}
      operation={query.data.operations[id]!}
      components={query.data.components}
      reasons={index.reasons}
      vaultCode={vaults.data?.[0] ?? null}
    />
  )
}

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { List } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { moveByArrows } from '../../lib/arrow-keys.ts'
import { useKeys } from '../../lib/hotkeys.ts'
import { t } from '../../lib/language.ts'
import { inputClass } from '../../ui/field.tsx'
import { searchQuery } from './queries.ts'
import { type Hit, search } from './search.ts'
import type { Group, Index } from './types.ts'
import { VerbMark } from './words.tsx'

type FinderProps = { index: Index; slug: string | undefined; id: string | undefined }

/** The navigation to an operation: a search, and below it all groups, of which the current group is open. */
export function Finder({ index, slug, id }: FinderProps) {
  const [phrase, setPhrase] = useState('')
  const [isUsed, use] = useState(false)
  const [open, setOpen] = useState(false)
  const { data: words = null } = useQuery({ ...searchQuery, enabled: isUsed })
  const root = useRef<HTMLElement>(null)
  const input = useRef<HTMLInputElement>(null)
  useKeys('mod+k', () => input.current?.focus(), { preventDefault: true, enableOnFormTags: true })
  useKeys(['/', 'shift+/'], () => input.current?.focus(), { preventDefault: true, useKey: true })
  // Another page closes the navigation.
  useEffect(() => {
    setPhrase('')
    setOpen(false)
    root.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest' })
  }, [slug, id])
  const links = () => root.current!.querySelectorAll('a')
  const hits = search(index, words, phrase)
  const isSearching = phrase.trim() !== ''
  const clear = () => {
    setPhrase('')
    input.current?.focus()
  }
  return (
    <search
      ref={root}
      onKeyDown={(event) => {
        if (event.key === 'Escape') clear()
        else if (event.key === 'Enter' && event.target === input.current) links()[0]?.click()
        else moveByArrows(event, [input.current!, ...links()])
      }}
    >
      <div className="flex gap-2">
        <input
          ref={input}
          type="search"
          className={inputClass}
          aria-label={t('Search the reference')}
          aria-keyshortcuts="Control+K Meta+K /"
          placeholder={t('Operation, path, field or reason')}
          value={phrase}
          onFocus={() => use(true)}
          onChange={({ target }) => setPhrase(target.value)}
        />
        <button
          type="button"
          aria-label={t('All operations')}
          aria-expanded={open}
          className="grid size-11 shrink-0 place-items-center rounded-md border border-line lg:hidden"
          onClick={() => setOpen(!open)}
        >
          <List size={18} aria-hidden />
        </button>
      </div>
      <p role="status" className="sr-only">
        {isSearching && t('{count, plural, one {# operation} other {# operations}}', { count: hits.length })}
      </p>
      {isSearching ? (
        <Hits hits={hits} isWhole={words !== null} />
      ) : (
        <nav
          aria-label={t('All operations')}
          className={`mt-3 max-lg:max-h-[70dvh] max-lg:overflow-y-auto ${open ? '' : 'max-lg:hidden'}`}
        >
          {index.groups.map((group) => (
            <GroupLinks key={group.slug} group={group} isOpen={group.slug === slug} id={id} />
          ))}
          <ReferenceLink to="errors" isCurrent={slug === 'errors'}>
            {t('Reasons of refusals')}
          </ReferenceLink>
        </nav>
      )}
    </search>
  )
}

function GroupLinks({ group, isOpen, id }: { group: Group; isOpen: boolean; id: string | undefined }) {
  return (
    <>
      <ReferenceLink to={group.slug} isCurrent={isOpen && id === undefined} isStrong={isOpen}>
        <span lang="en">{group.name}</span>
      </ReferenceLink>
      {isOpen && (
        <ul className="mb-2 ml-3 border-l border-line pl-1">
          {group.operations.map((operation) => (
            <li key={operation.id}>
              <ReferenceLink to={`${group.slug}/${operation.id}`} isCurrent={operation.id === id}>
                <span lang="en">{operation.summary}</span>
              </ReferenceLink>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

type ReferenceLinkProps = { to: string; isCurrent: boolean; isStrong?: boolean; children: ReactNode }

function ReferenceLink({ to, isCurrent, isStrong = false, children }: ReferenceLinkProps) {
  return (
    <Link
      to="/docs/$"
      params={{ _splat: to }}
      aria-current={isCurrent ? 'page' : undefined}
      className={
        'flex min-h-11 items-center rounded-md px-3 py-1 lg:min-h-8 ' +
        (isCurrent ? 'bg-accent-soft font-medium' : `hover:bg-ground ${isStrong ? 'font-medium' : 'text-quiet'}`)
      }
    >
      {children}
    </Link>
  )
}

/** The hits of a search. While the search data still loads, an empty list does not mean that there are no hits. */
function Hits({ hits, isWhole }: { hits: readonly Hit[]; isWhole: boolean }) {
  if (hits.length === 0) {
    return <p className="mt-4 px-1 text-quiet">{isWhole ? t('Nothing matches.') : t('Loading')}</p>
  }
  return (
    <ul aria-label={t('Found')} className="mt-3 max-lg:max-h-[70dvh] max-lg:overflow-y-auto">
      {hits.map(({ operation: { id, verb, path, summary }, group, because }) => (
        <li key={id}>
          <Link
            to="/docs/$"
            params={{ _splat: `${group.slug}/${id}` }}
            className="block rounded-md px-3 py-2 hover:bg-ground"
          >
            <span className="block" lang="en">
              {summary}
            </span>
            <span className="flex gap-2 text-[0.8125rem]">
              <VerbMark verb={verb} />
              <span className="code text-quiet [overflow-wrap:anywhere]">{path.replace('/api/v1', '')}</span>
            </span>
            {because !== null && <span className="code block text-warn [overflow-wrap:anywhere]">{because}</span>}
          </Link>
        </li>
      ))}
    </ul>
  )
}

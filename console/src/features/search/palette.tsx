import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { moveByArrows } from '../../lib/arrow-keys.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { kindWords, placeOf } from './places.ts'
import { longestSearch, searchQuery, shortestSearch } from './queries.ts'

type PaletteProps = {
  code: string
  /** The pages that the reader may open; `to` is the path below /v/{code}. */
  pages: readonly { to: string; label: string }[]
  onClose: () => void
}

/** Finds a page, or an object of the vault by its name, address, hash or id, and opens it. */
export default function Palette({ code, pages, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const typed = text.trim()
  const settled = useDebounced(typed, 200)
  const input = useRef<HTMLInputElement>(null)
  const results = useRef<HTMLDivElement>(null)
  // Runs after the dialog has opened, which gives the focus to its first button.
  useEffect(() => input.current!.focus(), [])
  const query = useQuery(searchQuery(code, settled))
  const words = typed.toLowerCase().split(/\s+/)
  const shownPages = pages.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
  const isSearched = typed.length >= shortestSearch
  const found = isSearched && settled === typed ? (query.data?.items ?? []) : []
  const isLooking = isSearched && (settled !== typed || query.isPending)
  const count = shownPages.length + found.length
  const kinds = [...new Set(found.map(({ kind }) => kind))]
  const links = () => [...(results.current?.querySelectorAll('a') ?? [])]
  // The arrow keys move from the field through the results and back. Typing always goes to the field.
  const onKeyDown = (event: KeyboardEvent) => moveByArrows(event, [input.current!, ...links()])
  return (
    <Sheet title={t('Go to')} open onClose={onClose}>
      <form
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isLooking) links()[0]?.click()
        }}
      >
        <TextField
          ref={input}
          label={t('A page, a name, an address, a hash or an id')}
          hint={t('Arrow keys choose, Enter opens.')}
          type="search"
          autoComplete="off"
          spellCheck={false}
          maxLength={longestSearch}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <div ref={results} aria-busy={isLooking}>
          {shownPages.length > 0 && (
            <Group title={t('Pages')}>
              {shownPages.map(({ to, label }) => (
                <Result key={to} path={`/v/${code}${to}`} title={label} onClose={onClose} />
              ))}
            </Group>
          )}
          {kinds.map((kind) => (
            <Group key={kind} title={kindWords()[kind]}>
              {found
                .filter((item) => item.kind === kind)
                .map((item) => {
                  const { path, search } = placeOf(item)
                  const { id, title, subtitle } = item
                  return <Result key={id} path={`/v/${code}${path}`} {...{ search, title, subtitle, onClose }} />
                })}
            </Group>
          ))}
        </div>
      </form>
      {isSearched && query.isError && <Failed error={query.error} retry={() => query.refetch()} />}
      <p role="status" className={count === 0 || isLooking ? 'text-quiet' : 'sr-only'}>
        {isLooking ? t('Searching …') : foundWords(count)}
      </p>
    </Sheet>
  )
}

function foundWords(count: number): string {
  return count === 0
    ? t('No page or object of this vault that you may see matches.')
    : t('{count, plural, one {# result} other {# results}}', { count })
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mb-3">
      <h3 className="mb-1 text-[0.8125rem] font-medium text-quiet">{title}</h3>
      <ul>{children}</ul>
    </section>
  )
}

type ResultProps = {
  path: string
  search?: { folder: string } | undefined
  title: string
  subtitle?: string | null
  onClose: () => void
}

function Result({ path, search, title, subtitle = null, onClose }: ResultProps) {
  return (
    <li>
      <Link
        to={path as '/'}
        {...(search === undefined ? {} : { search: search as never })}
        onClick={onClose}
        className="block min-h-11 rounded-md px-3 py-2 [overflow-wrap:anywhere] hover:bg-ground focus:bg-accent-soft md:min-h-9"
      >
        {title}
        {subtitle !== null && <span className="block text-[0.8125rem] text-quiet">{subtitle}</span>}
      </Link>
    </li>
  )
}

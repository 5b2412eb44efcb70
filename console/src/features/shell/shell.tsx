import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { LogOut, Menu, Search } from 'lucide-react'
import { type ComponentType, type ReactNode, Suspense, useEffect, useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { useKeys } from '../../lib/hotkeys.ts'
import { t } from '../../lib/language.ts'
import { followChanges } from '../../lib/live.ts'
import { useMedia } from '../../lib/media.ts'
import { nameOf, sessionQuery } from '../../lib/session.ts'
import { useViewer } from '../../lib/viewer.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { inboxCountQuery } from '../approvals/queries.ts'
import { type NavigationItem, navigation } from './navigation.ts'

type ShellProps = {
  code: string
  /** The search for pages and objects of the vault, loaded when it is first opened. */
  Palette: ComponentType<{ code: string; pages: readonly NavigationItem[]; onClose: () => void }>
  /** The list of keyboard shortcuts, loaded when it is first opened. */
  Keys: ComponentType<{ pages: readonly NavigationItem[]; onClose: () => void }>
  children: ReactNode
}

/** The frame of all pages of a vault: the switcher of vaults, the pages, the search and the reader. */
export function Shell({ code, Palette, Keys, children }: ShellProps) {
  const [searching, search] = useState(false)
  const [showsKeys, showKeys] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const isWide = useMedia('(min-width: 48rem)')
  const viewer = useViewer(code)
  const items = navigation().filter(({ visible }) => visible?.(viewer) ?? true)
  useNavigationKeys(code, items)
  useSearchKeys(() => search(true))
  useKeys(['?', 'shift+?'], () => showKeys(true), { useKey: true })
  const client = useQueryClient()
  useEffect(() => followChanges(client), [client])
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[15rem_1fr]">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-paper focus:p-3">
        {t('Skip to the content')}
      </a>
      {isWide && (
        <header className="border-r border-line bg-paper">
          <div className="sticky top-0 flex h-dvh flex-col overflow-y-auto p-3">
            <Brand />
            <VaultSwitcher code={code} />
            <SearchButton onClick={() => search(true)} />
            <nav aria-label={t('Pages')} className="grid gap-0.5">
              {items.map((item) => (
                <NavigationLink key={item.to} code={code} item={item} />
              ))}
            </nav>
            <div className="mt-auto pt-4">
              {session !== undefined && <SignedIn name={nameOf(session.user)} image={session.user.image} />}
            </div>
          </div>
        </header>
      )}
      <div className="min-w-0">
        <main
          id="content"
          tabIndex={-1}
          className="mx-auto max-w-6xl p-4 pb-28 has-data-beside:max-w-[100rem] outline-none md:p-6"
        >
          {children}
        </main>
      </div>
      {!isWide && (
        <PhoneBar
          {...{ code, items }}
          name={session === undefined ? '' : nameOf(session.user)}
          image={session?.user.image}
          onSearch={() => search(true)}
        />
      )}
      {searching && (
        <Suspense fallback={null}>
          <Palette code={code} pages={items} onClose={() => search(false)} />
        </Suspense>
      )}
      {showsKeys && (
        <Suspense fallback={null}>
          <Keys pages={items} onClose={() => showKeys(false)} />
        </Suspense>
      )}
    </div>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <button
      type="button"
      aria-keyshortcuts="Control+K Meta+K /"
      className="mb-3 flex min-h-11 w-full items-center gap-3 rounded-md border border-line px-3 text-quiet hover:text-ink md:min-h-9"
      onClick={onClick}
    >
      <Search size={18} aria-hidden />
      {t('Search')}
      <kbd className="code ml-auto text-[0.8125rem] max-md:hidden">/</kbd>
    </button>
  )
}

function Brand() {
  return (
    <Link to="/" className="mb-3 flex items-center gap-2 p-2 font-semibold">
      <img src="/assets/icon.svg" alt="" width="24" height="24" /> Strongroom
    </Link>
  )
}

function VaultSwitcher({ code }: { code: string }) {
  const { data: session } = useQuery(sessionQuery)
  const navigate = useNavigate()
  const vaults = session?.vaults ?? [{ code, name: code, logoUri: null }]
  const current = vaults.find((vault) => vault.code === code)
  return (
    <div className="mb-3 flex items-center gap-2">
      <Avatar name={current?.name ?? code} image={current?.logoUri} />
      <select
        aria-label={t('Vault')}
        className="min-h-10 w-full min-w-0 rounded-md border border-line bg-paper px-2"
        value={code}
        onChange={({ target }) => navigate({ to: '/v/$code', params: { code: target.value } })}
      >
        {vaults.map((vault) => (
          <option key={vault.code} value={vault.code}>
            {vault.name}
          </option>
        ))}
      </select>
    </div>
  )
}

/** The number of items that wait for the reader's vote, beside the link to them. */
function Waiting({ to }: { to: string }) {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    // The content of the page loads first.
    const timer = setTimeout(() => setLater(true), 2_000)
    return () => clearTimeout(timer)
  }, [])
  const { data } = useQuery({ ...inboxCountQuery, enabled: isLater && to === '/approvals' })
  if (data === undefined || data.waiting === 0 || to !== '/approvals') return null
  return (
    <span className="figures ml-auto rounded-full bg-accent px-2 text-[0.8125rem] font-medium text-on-accent">
      {data.waitingCapped ? `${data.waiting}+` : data.waiting}
      <span className="sr-only"> {t('waiting')}</span>
    </span>
  )
}

function NavigationLink({ code, item: { to, label, Icon, hotkey } }: { code: string; item: NavigationItem }) {
  return (
    <Link
      to={`/v/${code}${to}` as '/'}
      title={hotkey && `g ${hotkey}`}
      activeOptions={{ exact: to === '' }}
      className="flex min-h-11 items-center gap-3 rounded-md px-3 md:min-h-9"
      inactiveProps={{ className: 'text-quiet hover:bg-ground hover:text-ink' }}
      activeProps={{ className: 'bg-accent-soft font-medium', 'aria-current': 'page' }}
    >
      <Icon size={18} aria-hidden />
      {label}
      <Waiting to={to} />
    </Link>
  )
}

function SignedIn({ name, image }: { name: string; image?: string | null }) {
  return (
    <div className="flex items-center justify-between gap-2 border-t border-line pt-3">
      <Link to="/me" className="flex min-w-0 flex-1 items-center gap-2 px-2 py-2 text-quiet hover:text-ink">
        <Avatar name={name} image={image} />
        <span className="truncate">{name}</span>
      </Link>
      <button
        type="button"
        aria-label={t('Sign out')}
        title={t('Sign out')}
        className="grid size-10 place-items-center text-quiet hover:text-ink"
        onClick={async () => {
          await strongroom.auth.signOut()
          window.location.assign('/sign-in')
        }}
      >
        <LogOut size={18} aria-hidden />
      </button>
    </div>
  )
}

type PhoneBarProps = {
  code: string
  items: NavigationItem[]
  name: string
  image: string | null | undefined
  onSearch: () => void
}

/** The bar on a phone: four pages within reach of the thumb, and "More" with all others. */
function PhoneBar({ code, items, name, image, onSearch }: PhoneBarProps) {
  const [open, setOpen] = useState(false)
  return (
    <nav aria-label={t('Main pages')} className="fixed inset-x-0 bottom-0 z-40 flex border-t border-line bg-paper">
      {items
        .filter(({ phone }) => phone)
        .map(({ to, label, Icon }) => (
          <Link
            key={to}
            to={`/v/${code}${to}` as '/'}
            activeOptions={{ exact: to === '' }}
            className="relative grid min-h-14 flex-1 justify-items-center gap-0.5 py-2 text-xs"
            inactiveProps={{ className: 'text-quiet' }}
            activeProps={{ className: 'text-accent font-medium', 'aria-current': 'page' }}
          >
            <Icon size={20} aria-hidden />
            {label}
            <span className="absolute top-1 left-1/2 ms-2">
              <Waiting to={to} />
            </span>
          </Link>
        ))}
      <button
        type="button"
        className="grid min-h-14 flex-1 justify-items-center gap-0.5 py-2 text-xs text-quiet"
        onClick={() => setOpen(true)}
      >
        <Menu size={20} aria-hidden />
        {t('More')}
      </button>
      <Sheet title={t('All pages')} open={open} onClose={() => setOpen(false)}>
        <VaultSwitcher code={code} />
        <SearchButton
          onClick={() => {
            setOpen(false)
            onSearch()
          }}
        />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a link that was followed closes the sheet. */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard follows the links, and their click arrives here. */}
        <div className="grid gap-1" onClick={() => setOpen(false)}>
          {items.map((item) => (
            <NavigationLink key={item.to} code={code} item={item} />
          ))}
        </div>
        <SignedIn name={name} image={image} />
      </Sheet>
    </nav>
  )
}

/** Opens a page by `g` and the letter of the page, and the page Send by `n`. */
function useNavigationKeys(code: string, items: NavigationItem[]): void {
  const navigate = useNavigate()
  const maySend = items.some(({ to }) => to === '/send')
  useKeys('n', () => void navigate({ to: '/v/$code/send', params: { code } }), { enabled: maySend }, [code, maySend])
  const keyed = items.filter(({ hotkey }) => hotkey !== undefined)
  useKeys(
    keyed.map(({ hotkey }) => `g>${hotkey}`),
    (_event, { keys }) => {
      const item = keyed.find(({ hotkey }) => hotkey === keys?.at(-1))
      if (item !== undefined) void navigate({ to: `/v/${code}${item.to}` as '/' })
    },
    {},
    [code, items.length],
  )
}

/** Opens the search by Ctrl+K or ⌘+K anywhere, and by `/` outside of fields, on any keyboard layout. */
function useSearchKeys(open: () => void): void {
  useKeys('mod+k', open, { preventDefault: true, enableOnFormTags: true })
  useKeys(['/', 'shift+/'], open, { preventDefault: true, useKey: true })
}

import { Link } from '@tanstack/react-router'
import { t } from '../../lib/language.ts'
import { ReasonList } from './answers.tsx'
import { CodeBlock } from './code-block.tsx'
import type { Group, Index } from './types.ts'
import { Path, VerbMark, Words } from './words.tsx'

/** The first page: how to begin, and the groups of operations. */
export function Overview({ index: { title, version, about, groups } }: { index: Index }) {
  const { origin } = window.location
  return (
    <>
      <title>{`${t('API reference')} · Strongroom`}</title>
      <h1>{t('API reference')}</h1>
      <p className="mt-1 mb-4 text-quiet">
        {title} {version} · {t('OpenAPI 3.1')}:{' '}
        <a className="text-accent underline" href="/openapi.json">
          {'openapi.json'}
        </a>
      </p>
      <p lang="en" className="mb-6 max-w-prose">
        <Words text={about} />
      </p>
      <div className="mb-6 max-w-3xl">
        <h2 className="mb-2">{t('The first call')}</h2>
        <p className="mb-3 text-quiet">
          {t('A program sends a service token, which an administrator of the vault makes on the page of its people.')}
        </p>
        <CodeBlock
          title={t('Command')}
          text={`curl '${origin}/api/v1/vaults' \\\n  -H "Authorization: Bearer $STRONGROOM_TOKEN"`}
        />
      </div>
      <h2 className="mb-3">{t('What there is')}</h2>
      <ul className="grid gap-3 sm:grid-cols-2 2xl:grid-cols-3">
        {groups.map(({ slug, name, about: text, operations }) => (
          <li key={slug}>
            <Link
              to="/docs/$"
              params={{ _splat: slug }}
              className="block h-full rounded-lg border border-line bg-paper p-4 hover:border-accent"
            >
              <span className="flex items-baseline justify-between gap-3 font-semibold">
                <span lang="en">{name}</span>
                <span className="figures text-[0.8125rem] font-normal text-quiet">{operations.length}</span>
              </span>
              <span lang="en" className="mt-1 block text-quiet">
                {text}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

/** All operations of a group. */
export function GroupView({ group: { slug, name, about, operations } }: { group: Group }) {
  return (
    <>
      <title>{`${name} · Strongroom`}</title>
      <h1 lang="en">{name}</h1>
      <p lang="en" className="mt-1 mb-6 text-quiet">
        {about}
      </p>
      <ul className="divide-y divide-line rounded-lg border border-line bg-paper">
        {operations.map(({ id, verb, path, summary }) => (
          <li key={id}>
            <Link
              to="/docs/$"
              params={{ _splat: `${slug}/${id}` }}
              className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-3 hover:bg-accent-soft/40"
            >
              <VerbMark verb={verb} wide />
              <span lang="en" className="font-medium">
                {summary}
              </span>
              <span className="text-[0.8125rem] text-quiet sm:ml-auto">
                <Path path={path} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Every reason of a refusal. */
export function Reasons({ index: { reasons } }: { index: Index }) {
  return (
    <>
      <title>{`${t('Reasons of refusals')} · Strongroom`}</title>
      <h1>{t('Reasons of refusals')}</h1>
      <p className="mt-1 mb-4 max-w-prose text-quiet">
        {t('Programs act on the reason, people read the message. The list is closed: a new reason is a new contract.')}
      </p>
      <div className="rounded-lg border border-line bg-paper px-4">
        <ReasonList reasons={reasons} />
      </div>
    </>
  )
}

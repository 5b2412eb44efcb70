import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link } from '@tanstack/react-router'
import { addressQuery } from '../features/addresses/queries.ts'
import { SendForm } from '../features/send/send-form.tsx'
import { nameOfAddress } from '../features/send/source-field.tsx'
import { t } from '../lib/language.ts'
import { buttonClass } from '../ui/button.tsx'
import { DetailState } from '../ui/list-states.tsx'
import { Page } from '../ui/page.tsx'

type Search = { from?: string; to?: string }

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

export const Route = createFileRoute('/v/$code/send')({
  validateSearch: (search: Record<string, unknown>): Search => ({
    ...(textOf(search.from) === '' ? {} : { from: textOf(search.from) }),
    ...(textOf(search.to) === '' ? {} : { to: textOf(search.to) }),
  }),
  component: Send,
})

function Send() {
  const { code } = Route.useParams()
  const { from, to } = Route.useSearch()
  const source = useQuery({ ...addressQuery(code, from ?? ''), enabled: from !== undefined })
  const start = { recipientText: to ?? '' }
  return (
    <Page
      title={t('Send')}
      actions={
        <Link to="/v/$code/payouts/new" params={{ code }} className={buttonClass()}>
          {t('Send many')}
        </Link>
      }
    >
      {from === undefined ? (
        <SendForm key={code} code={code} start={start} />
      ) : (
        <DetailState query={source}>
          {source.data && (
            <SendForm
              key={`${code} ${from}`}
              code={code}
              start={{ ...start, source: source.data, sourceText: nameOfAddress(source.data) }}
            />
          )}
        </DetailState>
      )}
    </Page>
  )
}

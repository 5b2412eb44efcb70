import { useQuery } from '@tanstack/react-query'
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router'
import { FileUp, Plus, Users } from 'lucide-react'
import { useState } from 'react'
import { CounterpartyForm } from '../features/address-book/counterparty-form.tsx'
import { CounterpartyList } from '../features/address-book/counterparty-list.tsx'
import type { CounterpartyFilter } from '../features/address-book/queries.ts'
import { type Kind, kinds } from '../lib/counterparty-kinds.ts'
import { t } from '../lib/language.ts'
import { membershipQuery } from '../lib/membership.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Sheet } from '../ui/sheet.tsx'

export const Route = createFileRoute('/v/$code/address-book/')({
  validateSearch: ({ search, kind, archived }: Record<string, unknown>): CounterpartyFilter => ({
    ...(typeof search === 'string' ? { search } : {}),
    ...(kinds.includes(kind as Kind) ? { kind: kind as Kind } : {}),
    ...(archived === true ? { archived } : {}),
  }),
  component: AddressBook,
})

function AddressBook() {
  const { code } = Route.useParams()
  const filter = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const may = useQuery(membershipQuery(code)).data?.may
  const [adding, add] = useState(false)
  const mayAdd = may?.counterparty_create !== 'deny'
  return (
    <Page
      title={t('Address book')}
      actions={
        <>
          <Link to="/v/$code/address-book/groups" params={{ code }} className={buttonClass()}>
            <Users size={16} aria-hidden /> {t('Groups')}
          </Link>
          {mayAdd && (
            <>
              <Link to="/v/$code/address-book/import" params={{ code }} className={buttonClass()}>
                <FileUp size={16} aria-hidden /> {t('Import')}
              </Link>
              <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => add(true)}>
                {t('Add somebody')}
              </Button>
            </>
          )}
        </>
      }
    >
      <CounterpartyList code={code} filter={filter} change={(search) => void navigate({ search, replace: true })} />
      <Sheet title={t('Add somebody')} open={adding} onClose={() => add(false)}>
        <CounterpartyForm
          code={code}
          counterparty={null}
          done={(id) => void navigate({ to: '/v/$code/address-book/$id', params: { code, id } })}
        />
      </Sheet>
    </Page>
  )
}

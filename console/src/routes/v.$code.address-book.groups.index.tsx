import { useQuery } from '@tanstack/react-query'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { GroupForm } from '../features/address-book/group-form.tsx'
import { GroupList } from '../features/address-book/group-list.tsx'
import { t } from '../lib/language.ts'
import { membershipQuery } from '../lib/membership.ts'
import { Button } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Sheet } from '../ui/sheet.tsx'

export const Route = createFileRoute('/v/$code/address-book/groups/')({
  validateSearch: ({ archived }: Record<string, unknown>): { archived?: true } =>
    archived === true ? { archived } : {},
  component: Groups,
})

function Groups() {
  const { code } = Route.useParams()
  const { archived } = Route.useSearch()
  const navigate = useNavigate({ from: Route.fullPath })
  const may = useQuery(membershipQuery(code)).data?.may
  const [adding, add] = useState(false)
  return (
    <Page
      title={t('Groups of the address book')}
      actions={
        may?.counterparty_group_create !== 'deny' && (
          <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => add(true)}>
            {t('New group')}
          </Button>
        )
      }
    >
      <GroupList
        code={code}
        archived={archived === true}
        change={(on) => void navigate({ search: on ? { archived: true } : {}, replace: true })}
      />
      <Sheet title={t('New group')} open={adding} onClose={() => add(false)}>
        <GroupForm
          code={code}
          group={null}
          done={(id) => void navigate({ to: '/v/$code/address-book/groups/$id', params: { code, id } })}
        />
      </Sheet>
    </Page>
  )
}

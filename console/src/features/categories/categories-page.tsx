import type { OperationCategory } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { CategoryForm } from './category-form.tsx'
import { appliesToWords, approvalScopeWords } from './category-words.ts'
import { categoriesQuery } from './queries.ts'

/** The operation categories of the vault. */
export function CategoriesPage({ code }: { code: string }) {
  const isAdmin = useIsAdmin(code)
  const navigate = useNavigate()
  const categories = useQuery(categoriesQuery(code))
  const [creating, create] = useState(false)
  const columns = useMemo(() => columnsOf(code), [code])
  const actions = isAdmin ? (
    <Button look="primary" icon={<Plus size={16} aria-hidden />} onClick={() => create(true)}>
      {t('New category')}
    </Button>
  ) : undefined
  return (
    <Page title={t('Categories')} actions={actions}>
      <Card>
        <ListState
          query={categories}
          isEmpty={categories.data?.length === 0}
          empty={
            <p>
              {t(
                'There is no category yet. A category describes the subject of an operation, with fields that you define.',
              )}
            </p>
          }
        >
          <DataTable caption={t('Categories')} columns={columns} rows={categories.data ?? []} rowKey={({ id }) => id} />
        </ListState>
      </Card>
      <Sheet wide open={creating} title={t('New category')} onClose={() => create(false)}>
        <CategoryForm
          {...{ code, isAdmin }}
          onDone={(made) =>
            void (made === null
              ? navigate({ to: '/v/$code/categories', params: { code } })
              : navigate({ to: '/v/$code/categories/$id', params: { code, id: made.id } }))
          }
        />
      </Sheet>
    </Page>
  )
}

function columnsOf(code: string): Column<OperationCategory>[] {
  return [
    {
      id: 'name',
      header: t('Name'),
      cell: ({ id, name, emoji, description, archived }) => (
        <div>
          <Link
            to="/v/$code/categories/$id"
            params={{ code, id }}
            className="font-medium text-accent underline-offset-2 hover:underline"
          >
            {emoji === null ? name : `${emoji} ${name}`}
          </Link>{' '}
          {archived && <Badge tone="neutral">{t('Archived')}</Badge>}
          {description !== null && <span className="block text-quiet">{description}</span>}
        </div>
      ),
    },
    { id: 'key', header: t('Key'), cell: ({ key }) => <span className="code">{key}</span> },
    { id: 'for', header: t('For'), cell: ({ appliesTo }) => appliesToWords()[appliesTo] },
    {
      id: 'fields',
      header: t('Fields'),
      align: 'end',
      cell: ({ fields }) => <span className="figures">{fields.filter(({ archived }) => !archived).length}</span>,
    },
    { id: 'votes', header: t('Votes'), cell: ({ approvalScope }) => approvalScopeWords()[approvalScope] },
  ]
}

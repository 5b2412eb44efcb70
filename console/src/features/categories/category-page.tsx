import type { OperationCategory } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatTime } from '../../lib/time.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { DetailState } from '../../ui/list-states.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { useIsAdmin } from '../people/queries.ts'
import { CategoryForm } from './category-form.tsx'
import { Approvers, Grants } from './category-rights.tsx'
import { appliesToWords, approvalScopeWords, scopeWords } from './category-words.ts'
import { FieldList } from './field-list.tsx'
import { categoryQuery } from './queries.ts'

/** The page of a category: its rules, its fields, and the rights on it. */
export function CategoryPage({ code, id }: { code: string; id: string }) {
  const isAdmin = useIsAdmin(code)
  const query = useQuery(categoryQuery(code, id))
  const category = query.data
  // Readers who are not administrators see only their own grants, so any edit right here is theirs.
  const mayEdit = isAdmin || (category?.grants.some(({ canEdit }) => canEdit) ?? false)
  const title = category === undefined ? t('Category') : `${category.emoji ?? ''} ${category.name}`.trim()
  return (
    <Page
      title={title}
      actions={mayEdit && category !== undefined && <CategoryActions {...{ code, category, isAdmin }} />}
    >
      <DetailState query={query}>
        {category !== undefined && (
          <>
            <Rules category={category} />
            <FieldList {...{ code, category }} mayEdit={mayEdit && !category.archived} />
            {!category.archived && (
              <>
                <Grants key={`grants ${category.version}`} {...{ code, category, isAdmin }} />
                {category.approvalScope !== 'none' && (
                  <Approvers key={`approvers ${category.version}`} {...{ code, category, isAdmin }} />
                )}
              </>
            )}
          </>
        )}
      </DetailState>
    </Page>
  )
}

function Rules({ category }: { category: OperationCategory }) {
  const scopes = scopeWords()
  const { approvalScope, approvalThreshold } = category
  return (
    <Card title={t('What it is for')}>
      {category.description !== null && <p className="mb-3">{category.description}</p>}
      <Facts
        facts={[
          [t('State'), category.archived ? <Badge tone="neutral">{t('Archived')}</Badge> : null],
          [
            t('Key'),
            <span key="key" className="code">
              {category.key}
            </span>,
          ],
          [t('For'), appliesToWords()[category.appliesTo]],
          [t('Who sees the values'), scopes[category.viewScope]],
          [t('Who assigns it'), scopes[category.assignScope]],
          [t('Who edits it'), scopes[category.editScope]],
          [
            t('Votes'),
            approvalScope === 'none'
              ? approvalScopeWords().none
              : t('{scope}: {count} must agree', {
                  scope: approvalScopeWords()[approvalScope],
                  count: approvalThreshold,
                }),
          ],
          [t('Changed'), formatTime(category.updatedAt)],
        ]}
      />
    </Card>
  )
}

function CategoryActions({ code, category, isAdmin }: { code: string; category: OperationCategory; isAdmin: boolean }) {
  const [editing, edit] = useState(false)
  const { archived } = category
  const archiving = useWrite({
    renews: ['categories', code],
    said: archived ? t('The category is back') : t('The category is archived'),
    write: () => vaultOf(code).operationCategories.update(category.id, { archived: !archived }),
  })
  return (
    <>
      {!archived && <Button onClick={() => edit(true)}>{t('Edit')}</Button>}
      <Button
        busy={archiving.isPending}
        disabledBecause={category.isSystem ? t('A built-in category cannot be archived.') : null}
        onClick={() => archiving.mutate()}
      >
        {archived ? t('Bring back') : t('Archive')}
      </Button>
      <WriteFailed write={archiving} />
      <Sheet wide open={editing} title={t('Edit {name}', { name: category.name })} onClose={() => edit(false)}>
        <CategoryForm {...{ code, category, isAdmin }} onDone={() => edit(false)} />
      </Sheet>
    </>
  )
}

import type { CounterpartyGroup } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, Pencil } from 'lucide-react'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { kindWords } from '../../lib/counterparty-kinds.ts'
import { t } from '../../lib/language.ts'
import { membershipQuery } from '../../lib/membership.ts'
import { Button } from '../../ui/button.tsx'
import { ListState } from '../../ui/list-states.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { BookImage } from './book-image.tsx'
import { ConfirmChange } from './confirm-change.tsx'
import { GroupForm } from './group-form.tsx'
import { AddMember } from './group-member.tsx'
import { counterpartyGroupMembersQuery } from './queries.ts'

type Shown = 'edit' | 'archive' | { id: string; name: string } | null

/** A group of counterparties and its members. */
export function GroupDetail({ code, group }: { code: string; group: CounterpartyGroup }) {
  const may = useQuery(membershipQuery(code)).data?.may
  const [shown, show] = useState<Shown>(null)
  const close = () => show(null)
  const isArchived = group.archivedAt !== null
  const removing = typeof shown === 'object' && shown !== null ? shown : null
  return (
    <Page
      title={group.name}
      actions={
        !isArchived && (
          <>
            {may?.counterparty_group_update !== 'deny' && (
              <Button icon={<Pencil size={16} aria-hidden />} onClick={() => show('edit')}>
                {t('Edit')}
              </Button>
            )}
            {may?.counterparty_group_archive !== 'deny' && (
              <Button look="danger" icon={<Archive size={16} aria-hidden />} onClick={() => show('archive')}>
                {t('Archive')}
              </Button>
            )}
          </>
        )
      }
    >
      {group.description !== null && <p className="mb-4 text-quiet">{group.description}</p>}
      <Card title={t('Members')}>
        <Members
          code={code}
          group={group}
          remove={!isArchived && may?.counterparty_group_remove !== 'deny' ? show : null}
        />
        {!isArchived && may?.counterparty_group_add !== 'deny' && <AddMember code={code} group={group} />}
      </Card>
      <Sheet title={t('Edit {name}', { name: group.name })} open={shown === 'edit'} onClose={close}>
        <BookImage
          code={code}
          of={group}
          replace={(image) => vaultOf(code).counterpartyGroups.replaceImage(group.id, image)}
          remove={() => vaultOf(code).counterpartyGroups.deleteImage(group.id)}
        />
        <GroupForm code={code} group={group} done={close} />
      </Sheet>
      <Sheet title={t('Archive {name}?', { name: group.name })} open={shown === 'archive'} onClose={close}>
        <ConfirmChange
          code={code}
          text={t('Policies that name the group then match nobody. This cannot be undone.')}
          label={t('Archive')}
          done={t('{name} is archived', { name: group.name })}
          change={(options) => vaultOf(code).counterpartyGroups.archive(group.id, options)}
          close={close}
        />
      </Sheet>
      <Sheet title={t('Take out of the group?')} open={removing !== null} onClose={close}>
        {removing !== null && (
          <ConfirmChange
            code={code}
            text={t('{name} stays in the address book.', { name: removing.name })}
            label={t('Take out')}
            done={t('{name} is out of the group', { name: removing.name })}
            change={(options) => vaultOf(code).counterpartyGroups.removeMember(group.id, removing.id, options)}
            close={close}
          />
        )}
      </Sheet>
    </Page>
  )
}

type MembersProps = {
  code: string
  group: CounterpartyGroup
  remove: ((member: { id: string; name: string }) => void) | null
}

function Members({ code, group, remove }: MembersProps) {
  const query = useInfiniteQuery(counterpartyGroupMembersQuery(code, group.id))
  const members = query.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <ListState query={query} isEmpty={members.length === 0} empty={<p>{t('Nobody is in this group yet.')}</p>} rows={2}>
      <ul className="mb-4 grid gap-2">
        {members.map(({ counterparty }) => (
          <li key={counterparty.id} className="flex items-center justify-between gap-2 border-b border-line pb-2">
            <span>
              <Link
                to={`/v/${code}/address-book/${counterparty.id}` as '/'}
                className="font-medium text-accent hover:underline"
              >
                {counterparty.name}
              </Link>{' '}
              <span className="text-quiet">{kindWords()[counterparty.kind]}</span>
            </span>
            {remove !== null && (
              <Button onClick={() => remove(counterparty)}>
                {t('Take out')}
                <span className="sr-only">{counterparty.name}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button busy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          {t('Load more')}
        </Button>
      )}
    </ListState>
  )
}

import type { Counterparty, CounterpartyAddress } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, Pencil, Plus, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { kindWords } from '../../lib/counterparty-kinds.ts'
import { t } from '../../lib/language.ts'
import { membershipQuery } from '../../lib/membership.ts'
import { formatTime } from '../../lib/time.ts'
import { Address } from '../../ui/address.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { AddAddress } from './add-address.tsx'
import { BookImage } from './book-image.tsx'
import { ConfirmChange } from './confirm-change.tsx'
import { CounterpartyForm } from './counterparty-form.tsx'

type Shown = 'edit' | 'add' | 'archive' | CounterpartyAddress | null

/** The page of a counterparty. */
export function CounterpartyDetail({ code, counterparty }: { code: string; counterparty: Counterparty }) {
  const may = useQuery(membershipQuery(code)).data?.may
  const [shown, show] = useState<Shown>(null)
  const close = () => show(null)
  const isArchived = counterparty.archivedAt !== null
  const mayChange = !isArchived && may?.counterparty_update !== 'deny'
  return (
    <Page
      title={counterparty.name}
      actions={
        <>
          {mayChange && (
            <Button icon={<Pencil size={16} aria-hidden />} onClick={() => show('edit')}>
              {t('Edit')}
            </Button>
          )}
          {!isArchived && may?.counterparty_archive !== 'deny' && (
            <Button look="danger" icon={<Archive size={16} aria-hidden />} onClick={() => show('archive')}>
              {t('Archive')}
            </Button>
          )}
        </>
      }
    >
      <About code={code} counterparty={counterparty} />
      <Card
        title={t('Addresses')}
        actions={
          mayChange && (
            <Button icon={<Plus size={16} aria-hidden />} onClick={() => show('add')}>
              {t('Add an address')}
            </Button>
          )
        }
      >
        {counterparty.addresses.length === 0 && <p className="text-quiet">{t('none yet')}</p>}
        <ul className="grid gap-3">
          {counterparty.addresses.map((entry) => (
            <AddressRow
              key={entry.id}
              code={code}
              entry={entry}
              isArchived={isArchived}
              remove={mayChange ? () => show(entry) : null}
            />
          ))}
        </ul>
      </Card>
      <Sheet title={t('Edit {name}', { name: counterparty.name })} open={shown === 'edit'} onClose={close}>
        <BookImage
          code={code}
          of={counterparty}
          replace={(image) => vaultOf(code).counterparties.replaceImage(counterparty.id, image)}
          remove={() => vaultOf(code).counterparties.deleteImage(counterparty.id)}
        />
        <CounterpartyForm code={code} counterparty={counterparty} done={close} />
      </Sheet>
      <Sheet title={t('Add an address')} open={shown === 'add'} onClose={close}>
        <AddAddress code={code} counterparty={counterparty} done={close} />
      </Sheet>
      <Sheet title={t('Archive {name}?', { name: counterparty.name })} open={shown === 'archive'} onClose={close}>
        <ConfirmChange
          code={code}
          text={t(
            'It can no longer be paid by name, and its addresses are unknown to the policies. This cannot be undone.',
          )}
          label={t('Archive')}
          done={t('{name} is archived', { name: counterparty.name })}
          change={(options) => vaultOf(code).counterparties.archive(counterparty.id, options)}
          close={close}
        />
      </Sheet>
      <Sheet title={t('Remove this address?')} open={typeof shown === 'object' && shown !== null} onClose={close}>
        {typeof shown === 'object' && shown !== null && (
          <>
            <p className="mb-3">
              <Address address={shown.address} name={shown.label} />
            </p>
            <ConfirmChange
              code={code}
              text={t('Policies then treat it as an unknown address.')}
              label={t('Remove the address')}
              done={t('The address is removed')}
              change={(options) => vaultOf(code).counterparties.removeAddress(counterparty.id, shown.id, options)}
              close={close}
            />
          </>
        )}
      </Sheet>
    </Page>
  )
}

function About({ code, counterparty }: { code: string; counterparty: Counterparty }) {
  const { kind, description, groups, createdAt, archivedAt } = counterparty
  return (
    <Card title={t('About it')}>
      <div className="mb-3">
        <Avatar name={counterparty.name} image={counterparty.avatarUri} size="large" />
      </div>
      <Facts
        facts={[
          [t('Kind'), kindWords()[kind]],
          [t('Description'), description],
          [
            t('Groups'),
            groups.length > 0 && (
              <span key="groups" className="flex flex-wrap gap-x-3">
                {groups.map(({ id, name }) => (
                  <Link key={id} to={`/v/${code}/address-book/groups/${id}` as '/'} className="text-accent underline">
                    {name}
                  </Link>
                ))}
              </span>
            ),
          ],
          [t('Created'), formatTime(createdAt)],
          [
            t('State'),
            archivedAt !== null && (
              <Badge key="archived" tone="neutral">
                {t('archived')}
              </Badge>
            ),
          ],
        ]}
      />
    </Card>
  )
}

type RowProps = { code: string; entry: CounterpartyAddress; isArchived: boolean; remove: (() => void) | null }

function AddressRow({ code, entry: { address, label, network }, isArchived, remove }: RowProps) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 border-b border-line pb-3 last:border-0 last:pb-0">
      <span className="grid gap-0.5">
        <Address address={address} name={label} copy />
        <span className="text-[0.8125rem] text-quiet">{network}</span>
      </span>
      <span className="flex gap-2">
        {!isArchived && (
          <Link to="/v/$code/send" params={{ code }} search={{ to: address }} className={buttonClass()}>
            <Send size={16} aria-hidden /> {t('Send')}
          </Link>
        )}
        {remove !== null && (
          <Button look="danger" icon={<Trash2 size={16} aria-hidden />} onClick={remove}>
            {t('Remove')}
          </Button>
        )}
      </span>
    </li>
  )
}

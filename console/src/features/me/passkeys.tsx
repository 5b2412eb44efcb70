import type { Passkey } from '@strongroom/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { strongroom } from '../../lib/api.ts'
import { hasPasskeys, isDeclined, makePasskey, signFor } from '../../lib/authenticator.ts'
import { deviceOf } from '../../lib/device.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { sha256 } from '../../lib/hashes.ts'
import { t } from '../../lib/language.ts'
import { formatRecent, formatTime } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { TextField } from '../../ui/field.tsx'
import { Fingerprint } from '../../ui/fingerprint.tsx'
import { Failed, ListState } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { passkeysQuery } from './queries.ts'

/**
 * The passkeys with which the reader signs in (instead of a mailed link), and confirms actions that would widen their
 * rights.
 */
export function Passkeys() {
  const client = useQueryClient()
  const query = useInfiniteQuery(passkeysQuery)
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  const remove = useMutation({
    mutationFn: async (id: string) => {
      // This request always needs a confirmation, so the page confirms it before the service could refuse it.
      const bodyHash = await sha256('{}')
      const request = { method: 'DELETE' as const, path: `/api/v1/users/me/passkeys/${id}`, bodyHash }
      const prepared = await strongroom.me.prepareConfirmation(request)
      const passkeyAssertion = await signFor({ purpose: 'confirm', ...request }, prepared)
      await strongroom.me.removePasskey(id, { passkeyAssertion })
    },
    onSuccess: () => announce(t('The passkey is removed.')),
    onError: sayDeclined,
    onSettled: () => client.invalidateQueries({ queryKey: passkeysQuery.queryKey }),
  })
  const columns: Column<Passkey>[] = [
    { id: 'name', header: t('Name'), cell: ({ name }) => name },
    {
      id: 'kind',
      header: t('Stored'),
      cell: ({ isSynced }) => (isSynced ? t('On several devices') : t('On one device')),
    },
    {
      id: 'used',
      header: t('Last used'),
      cell: ({ lastUsedAt, waitsFor }) =>
        waitsFor !== null ? (
          <Link
            to="/v/$code/approvals/request/$id"
            params={{ code: waitsFor.vaultCode, id: waitsFor.approvalRequestId }}
          >
            {t('Waits for a second person')}
          </Link>
        ) : lastUsedAt === null ? (
          t('Never')
        ) : (
          formatRecent(lastUsedAt)
        ),
    },
    { id: 'since', header: t('Added'), cell: ({ createdAt }) => formatTime(createdAt) },
    // People compare this fingerprint with the authority of the wallet service before they trust the key
    // (docs/security/ceremony.md).
    {
      id: 'fingerprint',
      header: t('Fingerprint of the key'),
      cell: ({ fingerprint }) => <Fingerprint hash={fingerprint} />,
    },
    {
      id: 'remove',
      header: t('Actions'),
      cell: ({ id, name, waitsFor }) =>
        waitsFor === null && (
          <Button
            look="quiet"
            busy={remove.isPending}
            aria-label={t('Remove the passkey {name}', { name })}
            onClick={() => remove.mutate(id)}
          >
            {t('Remove')}
          </Button>
        ),
    },
  ]
  return (
    <Card title={t('Sign-in keys')}>
      <p className="mb-4 text-quiet">
        {t(
          'Passkeys in a phone, a computer or a security key. They sign you in, and confirm actions that only you may take. The wallet service names the signing keys with which people move funds. Make signing keys on its own page.',
        )}
      </p>
      {remove.isError && !isDeclined(remove.error) && <Failed error={remove.error} retry={() => remove.reset()} />}
      <ListState query={query} isEmpty={rows.length === 0} empty={<p>{t('You have no passkey yet.')}</p>}>
        <DataTable caption={t('Sign-in keys')} columns={columns} rows={rows} rowKey={({ id }) => id} more={query} />
      </ListState>
      {hasPasskeys() ? <AddPasskey /> : <p>{t('This browser cannot use passkeys on this page.')}</p>}
    </Card>
  )
}

function AddPasskey() {
  const client = useQueryClient()
  const { register, handleSubmit, reset } = useForm({ defaultValues: { name: deviceOf(navigator.userAgent) ?? '' } })
  const add = useMutation({
    mutationFn: async ({ name }: { name: string }) => {
      const { creation, confirmation } = await strongroom.me.preparePasskey()
      // An existing passkey confirms the new passkey. The new passkey is made only afterwards, so that a refusal leaves
      // no unused passkey behind.
      const confirmed =
        confirmation === null ? {} : { confirmation: await signFor({ purpose: 'add-passkey' }, confirmation) }
      return strongroom.me.addPasskey({ name: name.trim(), credential: await makePasskey(creation), ...confirmed })
    },
    onSuccess: ({ value }) => {
      reset()
      announce(
        value === null
          ? t('The passkey waits until an administrator has compared its fingerprint.')
          : t('The passkey is added. Next time, sign in with it.'),
      )
    },
    onError: sayDeclined,
    onSettled: () => client.invalidateQueries({ queryKey: passkeysQuery.queryKey }),
  })
  const errors = errorsOfFields(add.error, ['name'])
  return (
    <form className="mt-4" onSubmit={handleSubmit((values) => add.mutate(values))}>
      <TextField label={t('Name of the new passkey')} error={errors.name ?? null} {...register('name')} />
      {add.isError && errors.name === undefined && !isDeclined(add.error) && (
        <Failed error={add.error} retry={() => add.reset()} />
      )}
      <Button type="submit" busy={add.isPending}>
        {t('Add a passkey')}
      </Button>
    </form>
  )
}

function sayDeclined(error: unknown): void {
  if (isDeclined(error)) announce(t('No passkey was used, and nothing has changed.'))
}

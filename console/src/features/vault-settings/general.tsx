import type { UpdateVaultBody, Vault } from '@strongroom/sdk'
import { useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { ImageField } from '../../ui/image-field.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { isSameOrigin } from './structure.ts'

type Part = { code: string; vault: Vault }

/** The name of the vault. */
export function General({ code, vault }: Part) {
  const { register, handleSubmit } = useForm({
    defaultValues: { name: vault.name, description: vault.description ?? '' },
  })
  const write = useWrite<{ name: string; description: string }>({
    renews: ['vault', code],
    said: t('The vault is changed'),
    write: ({ name, description }) =>
      vaultOf(code).update({ name, description: description.trim() === '' ? null : description }),
  })
  return (
    <Card title={t('Name')}>
      <ImageField
        name={vault.name}
        image={vault.logoUri}
        replace={(image) => vaultOf(code).replaceImage(image)}
        remove={() => vaultOf(code).deleteImage()}
        renews={[['vault', code], ['session']]}
      />
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <TextField
          label={t('Name of the vault')}
          required
          maxLength={200}
          error={write.fields.get('name')}
          {...register('name')}
        />
        <TextArea
          label={t('Description')}
          maxLength={2_000}
          error={write.fields.get('description')}
          {...register('description')}
        />
        <WriteFailed write={write} shown={['name', 'description']} />
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      </form>
    </Card>
  )
}

type WalletValues = { url: string; secret: string; webhookSecret: string; noSecret: boolean; rate: number }

const walletFields = ['walletServiceUrl', 'walletServiceSecret', 'walletWebhookSecret', 'walletQuestionsPerSecond']
const nothingNew = { secret: '', webhookSecret: '', noSecret: false }

/** The wallet service, which receives the orders. Secrets can be written and never read. */
export function WalletService({ code, vault }: Part) {
  const { register, handleSubmit, watch, reset } = useForm<WalletValues>({
    defaultValues: { ...nothingNew, url: vault.walletServiceUrl, rate: vault.walletQuestionsPerSecond },
  })
  const write = useWrite<WalletValues>({
    renews: ['vault', code],
    said: t('The wallet service is changed'),
    onDone: (_answer, { url, rate }) => reset({ ...nothingNew, url, rate }),
    write: (values) => vaultOf(code).update(walletBodyOf(vault, values)),
  })
  const moves = !isSameOrigin(vault.walletServiceUrl, watch('url'))
  const { fields } = write
  return (
    <Card title={t('Wallet service')}>
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <TextField
          label={t('Address of the service')}
          type="url"
          required
          maxLength={2_048}
          error={fields.get('walletServiceUrl')}
          {...register('url')}
        />
        {moves && (
          <p role="status" className="mb-4 rounded-md bg-warn-soft p-3 text-warn">
            {t(
              'This is another service: enter its secret, or say that it has none. The old secret is never sent to it.',
            )}
          </p>
        )}
        <TextField
          label={t('Secret of the service')}
          hint={t(
            'Strongroom authenticates to the service with this secret. It is never shown. Leave empty to keep the stored secret.',
          )}
          type="password"
          autoComplete="new-password"
          maxLength={512}
          required={moves && !watch('noSecret')}
          disabled={watch('noSecret')}
          error={fields.get('walletServiceSecret')}
          {...register('secret')}
        />
        <label className="mb-4 flex items-center gap-3">
          <input type="checkbox" className="size-4 accent-accent" {...register('noSecret')} />
          {t('The service needs no secret')}
        </label>
        <TextField
          label={t('Secret of its messages')}
          hint={t('The service signs its messages with this secret. Leave empty to keep the stored secret.')}
          type="password"
          autoComplete="new-password"
          maxLength={1_024}
          error={fields.get('walletWebhookSecret')}
          {...register('webhookSecret')}
        />
        <TextField
          label={t('Requests per second, at most')}
          hint={t('The limit for the requests of each node about single transfers.')}
          type="number"
          min={1}
          max={1_000}
          required
          error={fields.get('walletQuestionsPerSecond')}
          {...register('rate', { valueAsNumber: true })}
        />
        <p className="mb-3 text-quiet">
          {t(
            'A new service or secret is first tested with the addresses of this vault. It is refused if an address differs, or while transfers are in flight.',
          )}
        </p>
        <WriteFailed write={write} shown={walletFields} />
        <p className="mb-3 text-quiet">{t('All administrators get a mail about the change.')}</p>
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      </form>
    </Card>
  )
}

/** Returns the body for the API. A secret that was left empty stays, and is sent only if a new secret was entered. */
function walletBodyOf(
  before: Pick<Vault, 'walletServiceUrl' | 'walletQuestionsPerSecond'>,
  { url, secret, webhookSecret, noSecret, rate }: WalletValues,
): UpdateVaultBody {
  return {
    ...(rate === before.walletQuestionsPerSecond ? {} : { walletQuestionsPerSecond: rate }),
    ...(url === before.walletServiceUrl ? {} : { walletServiceUrl: url }),
    ...(noSecret ? { walletServiceSecret: null } : secret === '' ? {} : { walletServiceSecret: secret }),
    ...(webhookSecret === '' ? {} : { walletWebhookSecret: webhookSecret }),
  }
}

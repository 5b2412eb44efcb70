import type { Route, Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type UseFormRegister, useForm } from 'react-hook-form'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { tokensQuery } from './queries.ts'
import { pathFormOf } from './structure.ts'

type Variant = Route['variants'][number]
type Asked = { route: Route; variant?: Variant }

/** The structure of a locked vault: values can be added, renamed and switched, and never removed. */
export function LockedStructure({ code, vault, isAdmin }: { code: string; vault: Vault; isAdmin: boolean }) {
  const [action, setAction] = useState<Asked | null>(null)
  const routes = vault.routes.toSorted((a, b) => a.order - b.order)
  return (
    <Card title={t('Structure')}>
      <p className="code mb-3 text-quiet [overflow-wrap:anywhere]">{pathFormOf([{ code: 'network' }, ...routes])}</p>
      <section className="border-t border-line py-3">
        <h3 className="font-medium">{t('Networks')}</h3>
        <ul>
          {vault.networks.map(({ id, name, coinType, addressCheck }) => (
            // The words of the badge are wider than a phone.
            <li key={id} className="flex flex-wrap items-center gap-2 py-1 [&>.icon]:whitespace-normal">
              {name} <span className="code text-quiet">{coinType}</span>
              {addressCheck === 'derived' ? (
                <Badge tone="good">{t('New addresses are derived from pinned keys')}</Badge>
              ) : (
                <Badge tone="neutral">{t('New addresses are accepted as the wallet service answers them')}</Badge>
              )}
            </li>
          ))}
        </ul>
      </section>
      {routes.map((route) => (
        <section key={route.id} className="border-t border-line py-3">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h3 className="font-medium">
              {route.name} <span className="code font-normal text-quiet">{route.code}</span>
            </h3>
            {isAdmin && !route.dynamic && (
              <Button
                aria-label={t('Add a value to {name}', { name: route.name })}
                onClick={() => setAction({ route })}
              >
                {t('Add a value')}
              </Button>
            )}
          </div>
          {route.dynamic ? (
            <p className="text-quiet">{t('The index of the address, which counts automatically.')}</p>
          ) : (
            <Values route={route} edit={isAdmin ? (variant) => setAction({ route, variant }) : null} />
          )}
        </section>
      ))}
      {action !== null && <VariantForm code={code} asked={action} close={() => setAction(null)} />}
    </Card>
  )
}

function Values({ route, edit }: { route: Route; edit: ((variant: Variant) => void) | null }) {
  return (
    <ul>
      {route.variants.map((variant) => (
        <li key={variant.id} className="flex flex-wrap items-center justify-between gap-2 py-1">
          <span className="flex flex-wrap items-center gap-2">
            {variant.name}
            <span className="code text-quiet">
              {variant.code} = {variant.pathId}
            </span>
            {!variant.enabled && <Badge tone="neutral">{t('Switched off')}</Badge>}
          </span>
          {edit !== null && (
            <Button look="quiet" aria-label={t('Edit {name}', { name: variant.name })} onClick={() => edit(variant)}>
              {t('Edit')}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

type VariantValues = { id: number; code: string; name: string; enabled: boolean; token: string }

function VariantForm({ code, asked: { route, variant }, close }: { code: string; asked: Asked; close: () => void }) {
  const idempotencyKey = useRef(crypto.randomUUID())
  const tokens = useQuery(tokensQuery)
  const codes = [...new Set(tokens.data?.map((token) => token.code) ?? [])].toSorted()
  const first = tokens.data?.find(({ id }) => id === variant?.tokenId)?.code ?? ''
  const { register, handleSubmit } = useForm<VariantValues>({
    values: {
      id: variant?.pathId ?? Math.max(0, ...route.variants.map(({ pathId }) => pathId)) + 1,
      ...{ code: variant?.code ?? '', name: variant?.name ?? '', enabled: variant?.enabled ?? true, token: first },
    },
    resetOptions: { keepDirtyValues: true },
  })
  const write = useWrite<VariantValues>({
    renews: ['vault', code],
    said: variant === undefined ? t('The value is added') : t('The value is changed'),
    onDone: close,
    write: ({ id, code: short, name, enabled, token }) => {
      const { routes, variants } = vaultOf(code)
      const change = { name, enabled, token: token === '' ? null : token }
      if (variant !== undefined) return variants.update(variant.id, change)
      return routes.addVariant(route.id, { id, code: short, ...change }, { idempotencyKey: idempotencyKey.current })
    },
  })
  return (
    <Sheet
      open
      title={
        variant === undefined
          ? t('Add a value to {name}', { name: route.name })
          : t('Edit {name}', { name: variant.name })
      }
      onClose={close}
    >
      <form onSubmit={handleSubmit((values) => write.mutate(values))}>
        <TextField label={t('Name')} required maxLength={200} error={write.fields.get('name')} {...register('name')} />
        {variant === undefined && <FixedParts register={register} errors={write.fields} />}
        <SelectField label={t('First token of new addresses')} error={write.fields.get('token')} {...register('token')}>
          <option value="">{t('none')}</option>
          {codes.map((tokenCode) => (
            <option key={tokenCode}>{tokenCode}</option>
          ))}
        </SelectField>
        <CheckField label={t('New addresses may use it')} {...register('enabled')} />
        <WriteFailed write={write} shown={['name', 'id', 'code', 'token']} />
        <Button type="submit" look="primary" busy={write.isPending}>
          {t('Save')}
        </Button>
      </form>
    </Sheet>
  )
}

type FixedPartsProps = { register: UseFormRegister<VariantValues>; errors: ReadonlyMap<string, string> }

/** The parts that never change, because derivation paths are made of them. */
function FixedParts({ register, errors }: FixedPartsProps) {
  return (
    <div className="grid gap-x-4 sm:grid-cols-2">
      <TextField
        label={t('Short name')}
        hint={t('It never changes.')}
        required
        pattern="[A-Za-z0-9][A-Za-z0-9_.\-]{0,62}"
        error={errors.get('code')}
        {...register('code')}
      />
      <TextField
        label={t('Number in the path')}
        hint={t('It never changes.')}
        type="number"
        min={0}
        max={2_147_483_647}
        required
        error={errors.get('id')}
        {...register('id', { valueAsNumber: true })}
      />
    </div>
  )
}

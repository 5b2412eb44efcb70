import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { useWrite, WriteFailed } from '../../ui/use-write.tsx'
import { tokensQuery } from './queries.ts'
import {
  bodyOfStructure,
  draftOfStructure,
  faultOfStructure,
  pathFormOf,
  type RouteDraft,
  type StructureFault,
  type VariantDraft,
} from './structure.ts'

type DraftProps = { code: string; vault: Vault }

/** The structure of a draft vault. It is replaced as a whole, until it is locked for good. */
export function DraftStructure({ code, vault }: DraftProps) {
  const tokens = useQuery(tokensQuery)
  if (tokens.data === undefined) return <Skeleton rows={4} />
  const codes = new Map(tokens.data.map((token) => [token.id, token.code]))
  return <Editor {...{ code, vault }} initial={draftOfStructure(vault, (id) => codes.get(id) ?? null)} />
}

function Editor({ code, initial }: DraftProps & { initial: RouteDraft[] }) {
  const [routes, setRoutes] = useState(initial)
  const [locking, lock] = useState(false)
  const isChanged = JSON.stringify(routes) !== JSON.stringify(initial)
  const fault = faultOfStructure(routes)
  const set = (index: number, change: Partial<RouteDraft>) =>
    setRoutes(routes.map((route, at) => (at === index ? { ...route, ...change } : route)))
  const saving = useWrite({
    renews: ['vault', code],
    said: t('The structure is saved'),
    write: () => vaultOf(code).routes.replace(bodyOfStructure(routes)),
  })
  const locked = useWrite({
    renews: ['vault', code],
    said: t('The vault is locked'),
    onDone: () => lock(false),
    write: () => vaultOf(code).lock(),
  })
  return (
    <Card title={t('Structure')}>
      <p className="mb-2">{t('This vault is a draft. Addresses can be created once its structure is locked.')}</p>
      <p className="code mb-4 text-quiet [overflow-wrap:anywhere]">{pathFormOf(routes)}</p>
      {routes.map((route, index) => (
        <RouteFields
          key={index}
          route={route}
          isNetwork={index === 0}
          onChange={(change) => set(index, change)}
          onRemove={() => setRoutes(routes.filter((_, at) => at !== index))}
        />
      ))}
      <div className="mb-4">
        <Button onClick={() => setRoutes([...routes, { code: '', name: '', dynamic: false, variants: [] }])}>
          {t('Add a segment')}
        </Button>
      </div>
      <WriteFailed write={saving} />
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          busy={saving.isPending}
          disabledBecause={fault !== null ? faultWords(fault) : isChanged ? null : t('Nothing was changed.')}
          onClick={() => saving.mutate()}
        >
          {t('Save the structure')}
        </Button>
        <Button disabledBecause={isChanged ? t('Save the structure first.') : null} onClick={() => lock(true)}>
          {t('Lock the structure')}
        </Button>
      </div>
      {fault !== null && <p className="mt-2 text-warn">{faultWords(fault)}</p>}
      <Confirm
        open={locking}
        title={t('Lock the structure for good?')}
        verb={t('Lock')}
        onClose={() => lock(false)}
        write={locked}
      >
        <p className="code mb-2 [overflow-wrap:anywhere]">{pathFormOf(routes)}</p>
        <p>
          {t(
            'Segments can then no longer be changed, because addresses are derived from them. Values can still be added. A vault cannot be unlocked.',
          )}
        </p>
      </Confirm>
    </Card>
  )
}

function faultWords(fault: StructureFault): string {
  return {
    needs_network: t('The structure needs at least one network.'),
    two_dynamic: t('Only one segment can be the index of the address.'),
    same_code: t('Two segments have the same short name.'),
    same_value: t('Two values of a segment have the same number or short name.'),
    incomplete: t('Fill in names, short names and numbers.'),
  }[fault]
}

type RouteFieldsProps = {
  route: RouteDraft
  isNetwork: boolean
  onChange: (change: Partial<RouteDraft>) => void
  onRemove: () => void
}

function RouteFields({ route, isNetwork, onChange, onRemove }: RouteFieldsProps) {
  const set = (index: number, change: Partial<VariantDraft>) =>
    onChange({ variants: route.variants.map((variant, at) => (at === index ? { ...variant, ...change } : variant)) })
  const add = () =>
    onChange({
      variants: [...route.variants, { id: '', code: '', name: '', enabled: true, token: '', description: null }],
    })
  return (
    <fieldset className="mb-4 rounded-md border border-line p-3">
      <legend className="px-1 font-medium">{route.name === '' ? t('New segment') : route.name}</legend>
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField label={t('Name')} value={route.name} onChange={({ target }) => onChange({ name: target.value })} />
        <TextField
          label={t('Short name')}
          value={route.code}
          disabled={isNetwork}
          onChange={({ target }) => onChange({ code: target.value })}
        />
      </div>
      {!isNetwork && (
        <CheckField
          label={t('The index of the address')}
          hint={t('The index counts automatically, and has no list of values.')}
          checked={route.dynamic}
          onChange={({ target }) => onChange({ dynamic: target.checked, ...(target.checked ? { variants: [] } : {}) })}
        />
      )}
      {route.variants.map((variant, index) => (
        <div key={index} className="grid items-end gap-x-3 sm:grid-cols-[7rem_1fr_1fr_auto]">
          <TextField
            label={isNetwork ? t('Coin type') : t('Number')}
            inputMode="numeric"
            value={variant.id}
            onChange={({ target }) => set(index, { id: target.value })}
          />
          <TextField
            label={t('Short name')}
            value={variant.code}
            onChange={({ target }) => set(index, { code: target.value })}
          />
          <TextField
            label={t('Name')}
            value={variant.name}
            onChange={({ target }) => set(index, { name: target.value })}
          />
          <Button
            className="mb-4"
            aria-label={t('Remove {name}', { name: variant.name })}
            onClick={() => onChange({ variants: route.variants.filter((_, at) => at !== index) })}
          >
            {t('Remove')}
          </Button>
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        {!route.dynamic && <Button onClick={add}>{isNetwork ? t('Add a network') : t('Add a value')}</Button>}
        {!isNetwork && (
          <Button look="danger" onClick={onRemove}>
            {t('Remove the segment')}
          </Button>
        )}
      </div>
    </fieldset>
  )
}

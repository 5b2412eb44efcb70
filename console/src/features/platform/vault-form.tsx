import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { strongroom } from '../../lib/api.ts'
import { errorsOfFields } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, TextArea, TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'
import { networksQuery } from './queries.ts'
import { codeOf, type Division, type DivisionFault, faultOfDivision, isCode, structureOf } from './structure.ts'

type Draft = { name: string; code: string; description: string; url: string; secret: string; webhookSecret: string }
const nothing: Draft = { name: '', code: '', description: '', url: '', secret: '', webhookSecret: '' }

/** Creates a vault. A new vault is a draft: its structure can change until it is locked. */
export function VaultForm() {
  const [draft, setDraft] = useState(nothing)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [divisions, setDivisions] = useState<readonly Division[]>([])
  const networks = useInfiniteQuery(networksQuery).data?.pages.flatMap(({ items }) => items) ?? []
  const client = useQueryClient()
  const navigate = useNavigate()
  const code = draft.code === '' ? codeOf(draft.name) : draft.code
  const create = useMutation({
    mutationFn: () => {
      const { name, description, url, secret, webhookSecret } = draft
      const vault = {
        code,
        name: name.trim(),
        description: description.trim() || null,
        walletServiceUrl: url.trim(),
        walletServiceSecret: secret || null,
        walletWebhookSecret: webhookSecret || null,
      }
      const used = networks.filter(({ id }) => chosen.includes(id))
      return strongroom.vaults.create({ vault, routes: structureOf(used, divisions) })
    },
    onSuccess: async (vault) => {
      await client.invalidateQueries({ queryKey: ['session'] })
      void client.invalidateQueries({ queryKey: ['vaults'] })
      announce(t('{name} is created.', { name: vault.name }))
      await navigate({ to: '/v/$code', params: { code: vault.code } })
    },
  })
  const errors = errorsOfFields(create.error, [
    'code',
    'name',
    'description',
    'walletServiceUrl',
    'walletServiceSecret',
    'walletWebhookSecret',
  ])
  const faulty = divisions.some((division, index) => faultOfDivision(division, divisions.toSpliced(index, 1)) !== null)
  const missing = missingOf(draft, code, chosen, faulty)
  const text = (name: keyof Draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (missing === null) create.mutate()
      }}
    >
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField label={t('Name')} error={errors.name ?? null} {...text('name')} />
        <TextField
          label={t('Code')}
          hint={t('It stands in addresses of pages and never changes.')}
          error={errors.code ?? null}
          {...text('code')}
          placeholder={codeOf(draft.name)}
        />
      </div>
      <TextArea label={t('Description')} error={errors.description ?? null} {...text('description')} />
      <TextField
        label={t('Address of the wallet service')}
        hint={t('The service that holds the keys: it begins with https:// or http://')}
        type="url"
        error={errors.walletServiceUrl ?? null}
        {...text('url')}
      />
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TextField
          label={t('Secret of the wallet service')}
          hint={t('Written once and never shown.')}
          type="password"
          autoComplete="new-password"
          error={errors.walletServiceSecret ?? null}
          {...text('secret')}
        />
        <TextField
          label={t('Secret of its events')}
          hint={t('Empty for the one of the installation.')}
          type="password"
          autoComplete="new-password"
          error={errors.walletWebhookSecret ?? null}
          {...text('webhookSecret')}
        />
      </div>
      <fieldset className="mb-4">
        <legend className="mb-2 font-medium">{t('Networks')}</legend>
        {networks.length === 0 && (
          <p className="text-quiet">{t('No network is registered. The API adds one with its first vault.')}</p>
        )}
        {networks.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            checked={chosen.includes(id)}
            onChange={({ target }) =>
              setChosen(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />
        ))}
      </fieldset>
      <Divisions divisions={divisions} onChange={setDivisions} />
      {create.isError && Object.keys(errors).length === 0 && (
        <div className="mb-4">
          <Failed error={create.error} retry={() => create.mutate()} />
        </div>
      )}
      <Button type="submit" look="primary" busy={create.isPending} disabledBecause={missing}>
        {t('Create the vault')}
      </Button>
      {missing !== null && <p className="mt-2 text-quiet">{missing}</p>}
    </form>
  )
}

function missingOf(draft: Draft, code: string, chosen: readonly string[], faulty: boolean): string | null {
  if (draft.name.trim() === '') return t('Give it a name first.')
  if (!isCode(code)) return t('A code has 2 to 63 small letters, digits and hyphens.')
  if (!/^https?:\/\/.+/.test(draft.url.trim())) return t('Enter the address of the wallet service first.')
  if (chosen.length === 0) return t('Choose at least one network.')
  return faulty ? t('Complete the divisions first.') : null
}

type DivisionsProps = { divisions: readonly Division[]; onChange: (divisions: readonly Division[]) => void }

/** The divisions of the addresses of the vault, such as by desk or by region. */
function Divisions({ divisions, onChange }: DivisionsProps) {
  const words: Record<DivisionFault, string> = {
    name: t('Write a name of at least two letters or digits.'),
    values: t('Write values of at least two letters or digits, with commas between several.'),
    twice: t('This name is taken.'),
  }
  return (
    <fieldset className="mb-4">
      <legend className="font-medium">{t('Divisions')}</legend>
      <p className="mb-2 text-quiet">
        {t(
          'Addresses can be divided, for example by desk: Operations, Payroll. Policies can tell them apart. Without one, addresses are only numbered.',
        )}
      </p>
      {divisions.map((division, index) => {
        const fault = faultOfDivision(division, divisions.toSpliced(index, 1))
        const set = (changed: Partial<Division>) => onChange(divisions.with(index, { ...division, ...changed }))
        const isTouched = division.name !== '' && division.values !== ''
        return (
          <div key={index} className="grid items-start gap-x-4 sm:grid-cols-[1fr_2fr_auto]">
            <TextField
              label={t('Division')}
              value={division.name}
              onChange={({ target }) => set({ name: target.value })}
            />
            <TextField
              label={t('Its values')}
              value={division.values}
              error={fault !== null && isTouched ? words[fault] : null}
              onChange={({ target }) => set({ values: target.value })}
            />
            <Button className="mb-4 sm:mt-7" onClick={() => onChange(divisions.toSpliced(index, 1))}>
              {t('Remove')}
            </Button>
          </div>
        )
      })}
      <Button
        look="quiet"
        icon={<Plus size={16} aria-hidden />}
        onClick={() => onChange([...divisions, { name: '', values: '' }])}
      >
        {t('Add a division')}
      </Button>
    </fieldset>
  )
}

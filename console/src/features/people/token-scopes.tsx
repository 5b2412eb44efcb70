import type { ServiceToken } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { CheckField } from '../../ui/field.tsx'

export type Scope = ServiceToken['scopes'][number]

/** Returns the name of each scope and what it permits, in the order of the contract. */
const words = (): Record<Scope, [name: string, meaning: string]> => ({
  read: [t('Reading'), t('Balances, addresses, transfers and previews')],
  operate: [t('Operating'), t('Orders, payouts, cancellations, holds and addresses')],
  vote: [t('Voting'), t('Approvals and rejections')],
  write: [t('Writing'), t('The address book')],
  report: [t('Reporting'), t('Reports, files, evidence and the audit log')],
  rules: [t('Changing the rules'), t('Policies, groups, members, grants, tokens and settings')],
})

const entries = () => Object.entries(words()) as [Scope, [name: string, meaning: string]][]

/** Returns the scopes of a token as a sentence for its row. */
export function scopesSentence(scopes: readonly Scope[]): string {
  const named = entries().filter(([scope]) => scopes.includes(scope))
  if (named.length === entries().length) return t('every scope')
  return t('may only: {scopes}', { scopes: named.map(([, [name]]) => name).join(', ') })
}

export function ScopeFields({ chosen, onChange }: { chosen: readonly Scope[]; onChange: (chosen: Scope[]) => void }) {
  const without = (scope: Scope) => chosen.filter((other) => other !== scope)
  return (
    <fieldset className="mb-4">
      <legend className="mb-1 font-medium">{t('What the token may be used for')}</legend>
      <p className="mb-2 text-[0.8125rem] text-quiet">
        {t('Its groups and policies decide as well. The choice cannot be changed later.')}
      </p>
      {entries().map(([scope, [name, meaning]]) => (
        <CheckField
          key={scope}
          label={name}
          hint={meaning}
          checked={chosen.includes(scope)}
          onChange={({ target }) => onChange(target.checked ? [...without(scope), scope] : without(scope))}
        />
      ))}
    </fieldset>
  )
}

import type { PolicyListItem } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { DecimalInput, slotClass } from './decimal-input.tsx'
import { FaultList } from './fault-list.tsx'
import { faultsOf } from './faults.ts'
import type { MatrixPolicy } from './matrix.ts'
import { PolicyMatrix } from './matrix-table.tsx'
import type { Vocabulary } from './queries.ts'
import { type GroupedPolicy, policiesOf, type Slot, type Slots, type Template, templates } from './templates.ts'
import { draftOf, type PolicyParts } from './terms.ts'
import { sentenceOf } from './words.ts'

type TemplateFormProps = { code: string; vocabulary: Vocabulary; policies: readonly PolicyListItem[] }

/** A template, its slots, and a preview of the policies that it creates. */
export function TemplateForm({ code, vocabulary, policies }: TemplateFormProps) {
  const allTemplates = templates()
  const [chosen, choose] = useState<Template['id']>('layers')
  const template = allTemplates.find(({ id }) => id === chosen)!
  const [slots, setSlots] = useState(firstSlots(vocabulary))
  const isFilled = template.asks.every((slot) => slots[slot] !== '')
  const taken = policies.map((policy) => policy.code)
  const made = isFilled ? policiesOf(chosen, slots, taken) : []
  const drafts = made.map((policy, index): MatrixPolicy => ({ ...partsOf(policy), id: `draft ${index}` }))
  const saving = useCreation(code, made)
  return (
    <>
      <Card title={t('Template')}>
        <fieldset className="grid gap-2 md:grid-cols-2">
          <legend className="sr-only">{t('Template')}</legend>
          {allTemplates.map(({ id, title, summary }) => (
            <label
              key={id}
              className="flex cursor-pointer gap-3 rounded-md border border-line p-3 has-checked:border-accent has-checked:bg-accent-soft"
            >
              <input
                type="radio"
                name="template"
                className="mt-1 accent-accent"
                checked={id === chosen}
                onChange={() => choose(id)}
              />
              <span>
                <span className="block font-medium">{title}</span>
                <span className="text-quiet">{summary}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <TemplateSlots {...{ template, slots, vocabulary }} onChange={(change) => setSlots({ ...slots, ...change })} />
      </Card>
      {isFilled && (
        <Card
          title={t('{count, plural, one {This policy is added} other {These # policies are added}}', {
            count: made.length,
          })}
        >
          <ul className="mb-4 grid gap-3">
            {made.map((policy, index) => (
              <li key={policy.code} className="rounded-md border border-line p-3">
                <p className="font-medium">{policy.name}</p>
                <p>{sentenceOf(draftOf(drafts[index]!), vocabulary.names)}</p>
                <div className="mt-2">
                  <FaultList faults={faultsOf(drafts[index]!, vocabulary.memberIds)} vocabulary={vocabulary} />
                </div>
              </li>
            ))}
          </ul>
          <h3 className="mb-2 font-medium">{t('All policies together')}</h3>
          <PolicyMatrix
            key={slots.token}
            policies={[...policies, ...drafts]}
            saved={policies}
            vocabulary={vocabulary}
            tokenFirst={slots.token}
          />
        </Card>
      )}
      {saving.isError && <Failed error={saving.error} retry={() => saving.mutate()} />}
      <Button
        look="primary"
        busy={saving.isPending}
        disabledBecause={isFilled ? null : t('Fill every slot of the template.')}
        onClick={() => saving.mutate()}
      >
        {t('Add these policies')}
      </Button>
    </>
  )
}

function partsOf({ groupId, ...policy }: GroupedPolicy): PolicyParts {
  return {
    ...{ approvalThreshold: 0, adminBypass: false, allowInitiatorApproval: false, enabled: true, blockReason: null },
    ...{ approvers: [], rules: [] },
    ...policy,
    groupId,
  }
}

function firstSlots({ groups, choices, everyoneId }: Vocabulary): Slots {
  const ofVault = groups.filter(({ isSystem }) => !isSystem)
  const compliance = ofVault.find(({ code }) => code.includes('compliance'))
  const treasury = ofVault.find((group) => group !== compliance)?.id ?? groups[0]?.id ?? ''
  return {
    ...{ groupId: treasury, approversId: treasury, secondApproversId: compliance?.id ?? treasury },
    ...{ everyoneId: everyoneId ?? '', token: choices.token[0]?.id ?? '', low: '', high: '' },
  }
}

/**
 * Creates the policies one after the other. After an error it can be repeated: an existing policy is answered and not
 * created again.
 */
function useCreation(code: string, made: readonly GroupedPolicy[]) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const keys = useRef(new Map<string, string>())
  return useMutation({
    mutationFn: async () => {
      for (const { groupId, ...body } of made) {
        const request = JSON.stringify([groupId, body])
        const idempotencyKey = keys.current.get(request) ?? crypto.randomUUID()
        keys.current.set(request, idempotencyKey)
        await vaultOf(code).policies.create(groupId, body, { idempotencyKey })
      }
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['policies', code] })
      announce(t('{count, plural, one {# policy is} other {# policies are}} saved', { count: made.length }))
      await navigate({ to: '/v/$code/policies', params: { code } })
    },
  })
}

type TemplateSlotsProps = {
  template: Template
  slots: Slots
  vocabulary: Vocabulary
  onChange: (change: Partial<Slots>) => void
}

function TemplateSlots({ template, slots, vocabulary, onChange }: TemplateSlotsProps) {
  const labels: Record<Slot, string> = {
    groupId: t('Who orders'),
    approversId: t('Who agrees'),
    secondApproversId: t('Who agrees to large payments, too'),
    everyoneId: t('Everyone'),
    token: t('Token'),
    low: t('Small is up to'),
    high: template.id === 'layers' ? t('Large is above') : t('At most'),
  }
  return (
    <div className="mt-4 flex flex-wrap gap-4">
      {template.asks.map((slot) => (
        <div key={slot}>
          <p aria-hidden className="mb-1 font-medium">
            {labels[slot]}
          </p>
          {slot === 'low' || slot === 'high' ? (
            <DecimalInput
              label={labels[slot]}
              value={slots[slot]}
              unit={slots.token}
              onChange={(amount) => onChange({ [slot]: amount })}
            />
          ) : (
            <select
              aria-label={labels[slot]}
              className={slotClass}
              value={slots[slot]}
              onChange={({ target }) => onChange({ [slot]: target.value })}
            >
              {(slot === 'token' ? vocabulary.choices.token : vocabulary.choices.policy_group).map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </div>
      ))}
    </div>
  )
}

import { t } from '../../lib/language.ts'
import { CheckField, TextField } from '../../ui/field.tsx'
import { SetPicker } from '../../ui/set-picker.tsx'
import { slotClass } from './decimal-input.tsx'
import type { Vocabulary } from './queries.ts'
import type { Draft, Effect } from './terms.ts'
import { effectWords } from './words.ts'

type ThenPartProps = {
  draft: Draft
  vocabulary: Vocabulary
  errors: ReadonlyMap<string, string>
  onChange: (change: Partial<Draft>) => void
}

/** The effect of the policy when its conditions are met. */
export function ThenPart({ draft, vocabulary, errors, onChange }: ThenPartProps) {
  const words = effectWords()
  return (
    <div className="border-t border-line py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="w-9 font-medium">{t('then')}</span>
        <select
          aria-label={t('Effect of the policy')}
          className={slotClass}
          value={draft.effect}
          onChange={({ target }) => {
            const effect = target.value as Effect
            onChange({
              effect,
              approvalThreshold: effect === 'requireApproval' ? Math.max(1, draft.approvalThreshold) : 0,
            })
          }}
        >
          {Object.entries(words).map(([effect, word]) => (
            <option key={effect} value={effect}>
              {word}
            </option>
          ))}
        </select>
        {draft.approvalThreshold > 0 && draft.effect === 'allow' && (
          <span className="text-quiet">{t('after votes, as below')}</span>
        )}
      </div>
      {(draft.effect === 'requireApproval' || (draft.effect === 'allow' && draft.approvalThreshold > 0)) && (
        <Votes {...{ draft, vocabulary, errors, onChange }} />
      )}
      {draft.effect === 'block' && (
        <div className="mt-3 md:ml-11">
          <TextField
            label={t('Message to the initiator')}
            value={draft.blockReason}
            maxLength={2_000}
            error={errors.get('blockReason')}
            onChange={({ target }) => onChange({ blockReason: target.value })}
          />
        </div>
      )}
    </div>
  )
}

function Votes({ draft, vocabulary, errors, onChange }: ThenPartProps) {
  const { policy_group: groups, member: members } = vocabulary.choices
  const options = [
    ...groups.map(({ id, name }) => ({ id: `group ${id}`, name: t('{name} (group)', { name }) })),
    ...members.map(({ id, name }) => ({ id: `user ${id}`, name })),
  ]
  return (
    <div className="mt-3 md:ml-11">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <input
          type="number"
          min={1}
          max={100}
          aria-label={t('Number of votes needed')}
          aria-invalid={errors.has('approvalThreshold') || undefined}
          className={`${slotClass} figures w-20`}
          value={draft.approvalThreshold}
          onChange={({ target }) => onChange({ approvalThreshold: Math.max(1, Math.floor(Number(target.value))) })}
        />
        {t('of')}
        <SetPicker
          bare
          label={t('Who may vote')}
          options={options}
          chosen={draft.approvers.map(({ kind, id }) => `${kind} ${id}`)}
          error={errors.get('approvalThreshold') ?? errors.get('approvers')}
          onChange={(chosen) =>
            onChange({
              approvers: chosen.map((key) => {
                const [kind, id] = key.split(' ') as ['user' | 'group', string]
                return draft.approvers.find((approver) => approver.kind === kind && approver.id === id) ?? { kind, id }
              }),
            })
          }
        />
        {draft.approvers.length === 0 && (
          <span className="text-quiet">
            {t('nobody chosen: all of {group}', { group: vocabulary.names('policy_group', draft.groupId) })}
          </span>
        )}
      </div>
      <GroupThresholds {...{ draft, vocabulary, onChange }} />
      <CheckField
        label={t('The initiator may vote, too')}
        checked={draft.allowInitiatorApproval}
        onChange={({ target }) => onChange({ allowInitiatorApproval: target.checked })}
      />
      <CheckField
        label={t('Orders of administrators need no votes of this policy')}
        hint={t('The record of each order shows the waiver.')}
        checked={draft.adminBypass}
        onChange={({ target }) => onChange({ adminBypass: target.checked })}
      />
    </div>
  )
}

/** The number of votes that each group must give. Shown if there are several approvers. */
function GroupThresholds({ draft, vocabulary, onChange }: Omit<ThenPartProps, 'errors'>) {
  const { approvers, approvalThreshold } = draft
  const groups = approvers.filter(({ kind }) => kind === 'group')
  if (approvers.length < 2 || groups.length === 0) return null
  const change = (id: string, count: number) => {
    const changed = approvers.map(({ threshold, ...approver }) => {
      const wanted = approver.kind === 'group' && approver.id === id ? count : (threshold ?? 0)
      return wanted > 0 ? { ...approver, threshold: wanted } : approver
    })
    const together = changed.reduce((sum, approver) => sum + ('threshold' in approver ? approver.threshold : 0), 0)
    onChange({ approvers: changed, approvalThreshold: Math.max(approvalThreshold, together) })
  }
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-quiet">
        {t('Votes that each group must give. A vote counts for one group only.')}
      </legend>
      {groups.map(({ id, threshold }) => (
        <label key={id} className="mr-4 inline-flex items-center gap-2">
          <input
            type="number"
            min={0}
            max={100}
            className={`${slotClass} figures w-20`}
            value={threshold ?? 0}
            onChange={({ target }) => change(id, Math.max(0, Math.floor(Number(target.value))))}
          />
          {t('of {group}', { group: vocabulary.names('policy_group', id) })}
        </label>
      ))}
    </fieldset>
  )
}

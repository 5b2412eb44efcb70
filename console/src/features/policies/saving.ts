import type { PolicyListItem } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { fieldErrors } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { announce } from '../../ui/toast.tsx'
import { putIntoDraft } from '../governance/queries.ts'
import type { RulesDraft } from './into.ts'
import type { bodyOf } from './terms.ts'

/** The destination of a policy: '' for a separate change, `new` for a new draft of the rules, or the id of a draft. */
export type Destination = { to: string; title: string }

type SavingProps = {
  code: string
  policy: PolicyListItem | undefined
  groupId: string
  body: ReturnType<typeof bodyOf>
  /** The draft from which the page was opened, and the edited change in it. */
  set: RulesDraft
  at: number | undefined
  close: () => void
}

export function useSaving({ code, policy, groupId, body, set, at, close }: SavingProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  // After a lost answer the same key is used again, so that the policy is created only once.
  const idempotencyKey = useRef(crypto.randomUUID())
  const { code: _, ...change } = body
  const saving = useMutation({
    mutationFn: async ({ to, title }: Destination): Promise<string | null> => {
      const { policies } = vaultOf(code)
      if (to !== '') {
        const drafted =
          policy === undefined
            ? { action: 'policy_create' as const, targetId: groupId, payload: { ...body } }
            : { action: 'policy_update' as const, targetId: policy.id, payload: { ...change } }
        const place = to === set?.id && at !== undefined ? { at, was: set.changes[at] } : {}
        return (await putIntoDraft(code, { to, title, change: drafted, ...place })).id
      }
      if (policy === undefined) await policies.create(groupId, body, { idempotencyKey: idempotencyKey.current })
      else await policies.update(policy.id, change)
      return null
    },
    onSuccess: async (draftId) => {
      await client.invalidateQueries({ queryKey: [draftId === null ? 'policies' : 'governance', code] })
      if (draftId !== null) {
        announce(t('The draft is saved'))
        await navigate({ to: '/v/$code/rules/$id', params: { code, id: draftId } })
        return
      }
      announce(policy === undefined ? t('The policy is saved') : t('The policy is changed'))
      await navigate({ to: '/v/$code/policies', params: { code } })
    },
    onError: () => {
      // A refused request had no effect. The corrected policy is another request.
      idempotencyKey.current = crypto.randomUUID()
      close()
    },
  })
  // In a draft, the fields of faults have the path of their change as a prefix.
  const errors = new Map(
    [...fieldErrors(saving.error)].map(([field, text]) => [field.replace(/^changes\.\d+\.payload\./, ''), text]),
  )
  return { saving, errors }
}

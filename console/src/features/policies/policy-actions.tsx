import type { PolicyListItem } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { announce } from '../../ui/toast.tsx'

type PolicyActionsProps = { code: string; policy: PolicyListItem; sentence: string; onDeleted?: () => void }

/** Switches a policy on or off, or deletes it, each after a confirmation that repeats the sentence. */
export function PolicyActions({ code, policy, sentence, onDeleted }: PolicyActionsProps) {
  const [action, setAction] = useState<'switch' | 'delete' | null>(null)
  const client = useQueryClient()
  const done = async (text: string) => {
    setAction(null)
    await client.invalidateQueries({ queryKey: ['policies', code] })
    announce(text)
  }
  const { policies } = vaultOf(code)
  const switching = useMutation({
    mutationFn: () => policies.update(policy.id, { enabled: !policy.enabled }),
    onSuccess: () => done(policy.enabled ? t('The policy is switched off') : t('The policy is in force')),
  })
  const deletion = useMutation({
    mutationFn: () => policies.delete(policy.id),
    onSuccess: async () => {
      onDeleted?.()
      await done(t('The policy is deleted'))
    },
  })
  const current = action === 'delete' ? deletion : switching
  const verb = action === 'delete' ? t('Delete') : policy.enabled ? t('Switch off') : t('Switch on')
  return (
    <>
      <Button onClick={() => setAction('switch')}>{policy.enabled ? t('Switch off') : t('Switch on')}</Button>
      <Button look="danger" onClick={() => setAction('delete')}>
        {t('Delete')}
      </Button>
      <Sheet open={action !== null} onClose={() => setAction(null)} title={`${verb}: ${policy.name}`}>
        <p className="mb-3">{sentence}</p>
        <p className="mb-4 text-quiet">
          {action === 'delete'
            ? t('Decisions that were made with it keep it as it was. It cannot be brought back.')
            : t('All administrators, and the people who vote under it, get a mail about it.')}
        </p>
        {current.isError && <Failed error={current.error} retry={() => current.mutate()} />}
        <div className="mt-3 flex gap-2">
          <Button
            look={action === 'delete' ? 'danger' : 'primary'}
            busy={current.isPending}
            onClick={() => current.mutate()}
          >
            {verb}
          </Button>
          <Button onClick={() => setAction(null)}>{t('Back')}</Button>
        </div>
      </Sheet>
    </>
  )
}

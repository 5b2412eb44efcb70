import { useMutation, useQueryClient } from '@tanstack/react-query'
import { vaultOf } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { announce } from '../../ui/toast.tsx'
import { type Operation, refreshOperation } from './queries.ts'

/** Adds the rate that an operation should have had, if it was recorded since. Reports use it; decisions stay. */
export function LateRate({ operation }: { operation: Operation }) {
  const client = useQueryClient()
  const { code, type, id } = operation
  const add = useMutation({
    mutationFn: () => vaultOf(code).operations.addRate(type, id),
    onSuccess: async () => {
      announce(t('The rate was added.'))
      await refreshOperation(client, operation)
    },
  })
  return (
    <>
      <Button
        look="quiet"
        busy={add.isPending}
        title={t('Looks for the rate of that time among those recorded since.')}
        onClick={() => add.mutate()}
      >
        {t('Add the rate of that time')}
      </Button>
      <Problem error={add.error} />
    </>
  )
}

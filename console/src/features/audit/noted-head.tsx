import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'
import { t } from '../../lib/language.ts'
import { formatDay } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import { preferencesQuery } from '../me/queries.ts'
import type { ChainSeal } from './chain.ts'
import { type Log, nameOfLog, notedHeadsOf } from './queries.ts'

/** Remembers the head that a person has noted down. The note itself belongs outside of the service. */
export function NotedHead({ log, seal: { hash, sequence } }: { log: Log; seal: ChainSeal }) {
  const client = useQueryClient()
  const { data: kept } = useQuery(preferencesQuery)
  const note = useMutation({
    mutationFn: () => {
      const notedHeads = { ...notedHeadsOf(kept), [nameOfLog(log)]: { hash, sequence, at: new Date().toISOString() } }
      // Other programs of the same person may keep preferences there, too.
      return strongroom.me.replacePreferences({ ...kept, notedHeads })
    },
    onSuccess: async (saved) => {
      client.setQueryData(preferencesQuery.queryKey, saved)
      await client.invalidateQueries({ queryKey: ['first-run'] })
    },
  })
  if (kept === undefined) return null
  const noted = notedHeadsOf(kept)[nameOfLog(log)]
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      {noted !== undefined && (
        <p className="text-quiet">
          {t('You noted the head of seal {sequence} down on {day}.', {
            sequence: noted.sequence,
            day: formatDay(noted.at),
          })}
        </p>
      )}
      {noted?.hash !== hash && (
        <Button busy={note.isPending} onClick={() => note.mutate()}>
          {t('I have noted the head down')}
        </Button>
      )}
      <Problem error={note.error} />
    </div>
  )
}

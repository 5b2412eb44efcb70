import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { strongroom } from '../../lib/api.ts'
import { chooseLanguage, type Language, languageNow, languages, t } from '../../lib/language.ts'
import { chooseTheme, type Theme } from '../../lib/theme.ts'
import { Button } from '../../ui/button.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { announce } from '../../ui/toast.tsx'
import { preferencesQuery } from './queries.ts'

/** Theme and language belong to a browser. The service can keep them for the other browsers of the reader. */
export function Kept({ theme }: { theme: Theme }) {
  const client = useQueryClient()
  const { data: kept } = useQuery(preferencesQuery)
  const save = useMutation({
    // Other programs of the same person may keep preferences there, too.
    mutationFn: () => strongroom.me.replacePreferences({ ...kept, theme, language: languageNow() }),
    onSuccess: (saved) => {
      client.setQueryData(preferencesQuery.queryKey, saved)
      announce(t('Kept for your other browsers.'))
    },
  })
  if (kept === undefined) return null
  const isKept = kept.theme === theme && kept.language === languageNow()
  const hasOther = !isKept && isTheme(kept.theme) && isLanguage(kept.language)
  return (
    <div className="mt-4 flex flex-wrap items-center gap-2">
      {isKept ? (
        <p className="text-quiet">{t('These are kept for your other browsers.')}</p>
      ) : (
        <Button busy={save.isPending} onClick={() => save.mutate()}>
          {t('Keep these for my other browsers')}
        </Button>
      )}
      {hasOther && (
        <Button
          onClick={() => {
            chooseTheme(kept.theme as Theme)
            chooseLanguage(kept.language as Language)
          }}
        >
          {t('Use the ones that I kept')}
        </Button>
      )}
      {save.isError && <Failed error={save.error} retry={() => save.mutate()} />}
    </div>
  )
}

function isTheme(value: unknown): boolean {
  return value === 'system' || value === 'light' || value === 'dark'
}

function isLanguage(value: unknown): boolean {
  return typeof value === 'string' && value in languages
}

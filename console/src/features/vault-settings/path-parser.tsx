import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { vaultOf } from '../../lib/api.ts'
import { fieldErrors } from '../../lib/forms.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failed } from '../../ui/list-states.tsx'
import { Card, type Fact, Facts } from '../../ui/page.tsx'

/** Reads a derivation path: its network, and the value of each segment. */
export function PathParser({ code, form }: { code: string; form: string }) {
  const [path, setPath] = useState('')
  const parsing = useMutation({ mutationFn: () => vaultOf(code).derivationPath.parse({ path: path.trim() }) })
  const fault = fieldErrors(parsing.error).get('path')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    parsing.mutate()
  }
  const { data } = parsing
  return (
    <Card title={t('Read a derivation path')}>
      <form onSubmit={submit} className="max-w-xl">
        <TextField
          label={t('Path')}
          hint={t('Format: {form}', { form })}
          required
          maxLength={512}
          spellCheck={false}
          value={path}
          error={fault}
          onChange={({ target }) => setPath(target.value)}
        />
        <Button type="submit" busy={parsing.isPending}>
          {t('Read')}
        </Button>
      </form>
      <div aria-live="polite" className="mt-4">
        {parsing.isError && fault === undefined && <Failed error={parsing.error} retry={() => parsing.mutate()} />}
        {data !== undefined && (
          <Facts
            facts={[
              [t('Network'), data.network.name] as Fact,
              ...data.segments.map(
                ({ route, pathId, variant }): Fact => [
                  route.name,
                  variant === null ? String(pathId) : `${variant.name} (${variant.code}, ${pathId})`,
                ],
              ),
            ]}
          />
        )}
      </div>
    </Card>
  )
}

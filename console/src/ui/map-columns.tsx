import { t } from '../lib/language.ts'
import type { useMappedFile } from '../lib/mapped-file.ts'
import { Button } from './button.tsx'
import { SelectField } from './field.tsx'
import { Card } from './page.tsx'

type Props<Field extends string> = {
  mapped: ReturnType<typeof useMappedFile<Field>>
  words: Record<Field, string>
  required: readonly Field[]
}

/** Lets a person choose the column of each field. Each column is shown with its first value. */
export function MapColumns<Field extends string>({ mapped, words, required }: Props<Field>) {
  const { file, setMapping, isComplete, accept, forget } = mapped
  if (file === null) return null
  const { lines, mapping } = file
  const [header = [], first = []] = lines
  return (
    <Card title={t('Columns of the file')}>
      <p className="mb-3 text-quiet">
        {t('Choose the column of each field. This browser remembers your choice for files with the same first line.')}
      </p>
      <div className="grid gap-x-4 sm:grid-cols-2 lg:grid-cols-3">
        {(Object.keys(words) as Field[]).map((field) => (
          <SelectField
            key={field}
            label={words[field]}
            value={mapping[field] ?? ''}
            error={required.includes(field) && mapping[field] === null ? t('Choose the column.') : null}
            onChange={({ target: { value } }) =>
              setMapping({ ...mapping, [field]: value === '' ? null : Number(value) })
            }
          >
            <option value="">{t('not in the file')}</option>
            {header.map((name, index) => (
              <option key={index} value={index}>
                {[name.trim() || t('Column {number}', { number: index + 1 }), first[index]?.trim().slice(0, 24)]
                  .filter(Boolean)
                  .join(': ')}
              </option>
            ))}
          </SelectField>
        ))}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button
          look="primary"
          onClick={accept}
          disabledBecause={isComplete(mapping) ? null : t('Choose the column of every required field.')}
        >
          {t('{count, plural, one {Read # row} other {Read # rows}}', { count: lines.length - 1 })}
        </Button>
        <Button look="quiet" onClick={forget}>
          {t('Another file')}
        </Button>
      </div>
    </Card>
  )
}

import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { t } from '../../lib/language.ts'
import { SelectField } from '../../ui/field.tsx'
import { structureQuery } from '../addresses/queries.ts'

type Props = { code: string; error: string | undefined } & ComponentProps<'select'>

/** A choice among the networks of the vault. It is drawn when they are known, so that the first network is chosen. */
export function NetworkField({ code, ...rest }: Props) {
  const networks = useQuery(structureQuery(code)).data?.networks
  if (networks === undefined) return null
  return (
    <SelectField label={t('Network')} {...rest}>
      {networks.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

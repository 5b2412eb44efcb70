import { t } from './language.ts'

export const kinds = ['company', 'individual', 'exchange', 'service', 'other'] as const
export type Kind = (typeof kinds)[number]

export function kindWords(): Record<Kind, string> {
  return {
    company: t('Company'),
    individual: t('Person'),
    exchange: t('Exchange'),
    service: t('Service'),
    other: t('Other'),
  }
}

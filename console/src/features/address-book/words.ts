import { t } from '../../lib/language.ts'
import type { Kind } from './kinds.ts'

export function kindWords(): Record<Kind, string> {
  return {
    company: t('Company'),
    individual: t('Person'),
    exchange: t('Exchange'),
    service: t('Service'),
    other: t('Other'),
  }
}

import type { Session } from '@strongroom/sdk'
import { t } from './language.ts'

/** Returns how a session began, in words. */
export function signInMethodOf({ method, provider }: Pick<Session, 'method' | 'provider'>): string {
  switch (method) {
    case 'magic_link':
      return t('By a mailed link')
    case 'code':
      return t('By a mailed code')
    case 'operator_link':
      return t('By a link of an operator')
    case 'invitation':
      return t('By an invitation')
    case 'passkey':
      return t('By a passkey')
    case 'provider':
      return t('By {provider}', { provider: provider?.name ?? '–' })
    case 'break_glass':
      return t('By passkey and link, in an emergency')
    case null:
      return t('Unknown')
  }
}

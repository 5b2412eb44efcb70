import type { UncreditedEvent } from '@strongroom/sdk'
import { t } from './language.ts'

/** Describes the reason why an event of the wallet service, or a deposit, is not in the books. */
export function uncreditedWords(reason: NonNullable<UncreditedEvent['reason']>): string {
  const words = {
    failed: t('The transaction failed on the chain.'),
    unconfirmed: t('The chain has not confirmed it yet.'),
    unknown_kind: t('The wallet service reported something that is no deposit.'),
    unknown_network: t('Its network is not registered here.'),
    unknown_token: t('Its token is not registered here: register it, and have the wallet service report again.'),
    disabled_token: t('Its token is switched off.'),
    amount_differs: t('An earlier report of the same transaction named another amount.'),
    orphaned: t('The chain has lost this deposit since.'),
    not_credited: t('The chain lost a deposit that was not in the books.'),
    orphan_differs: t('The chain is said to have lost this deposit, but with another amount than was credited.'),
    overflow: t('The balance would become larger than the books can hold.'),
  }
  return words[reason]
}

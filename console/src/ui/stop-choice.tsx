import { t } from '../lib/language.ts'
import { CheckField } from './field.tsx'

type StopChoiceProps = { isSigned: boolean; choose: (isSigned: boolean) => void }

/** The choice to sign a veto or a cancellation, with an explanation of the effect. */
export function StopChoice({ isSigned, choose }: StopChoiceProps) {
  return (
    <CheckField
      label={t('Sign it with a passkey')}
      checked={isSigned}
      onChange={({ target }) => choose(target.checked)}
      hint={
        isSigned
          ? t('Votes that were signed before end at the wallet service, too. Nothing takes that back.')
          : t(
              'Without a signature only this service stops it. Votes that were signed before stay valid at the wallet service until the order ends, and an attacker who takes over this service could still use them.',
            )
      }
    />
  )
}

import type { CheckedRecipient } from '@strongroom/sdk'
import { t } from '../../lib/language.ts'
import { Compared } from '../../ui/compared.tsx'
import { TextField } from '../../ui/field.tsx'

type Props = {
  address: string
  known: CheckedRecipient['lookAlikes']
  typedOut: string
  isTypedOut: boolean
  onTyped: (text: string) => void
}

/**
 * A new address that begins and ends like a known address. Both stand beside each other, and the new one must be entered again.
 */
export function LookAlike({ address, known, typedOut, isTypedOut, onTyped }: Props) {
  return (
    <div role="alert" className="mb-4 rounded-lg border-2 border-bad bg-bad-soft p-4">
      <p className="mb-2 font-semibold text-bad">{t('This address only looks like one that you know')}</p>
      <p className="mb-3">
        {t('Deceivers send tiny amounts from such addresses, so that people copy the wrong one. Compare every group:')}
      </p>
      <dl className="mb-3 grid gap-2">
        <Compared name={t('To be paid')} address={address} other={known[0]?.address} />
        {known.map((entry) => (
          <Compared key={entry.address} name={entry.name ?? t('Paid before')} address={entry.address} other={address} />
        ))}
      </dl>
      <TextField
        label={t('Enter the address again from where you have it, such as the invoice')}
        className="code min-h-11 w-full rounded-md border border-quiet bg-paper px-3 py-2"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        value={typedOut}
        onChange={({ target }) => onTyped(target.value)}
        hint={
          isTypedOut
            ? t('It is the same address.')
            : t('Not from the list of past payments: that is where deceivers put it.')
        }
      />
    </div>
  )
}

import { t } from '../../lib/language.ts'
import { Compared } from '../../ui/compared.tsx'
import { TextField } from '../../ui/field.tsx'
import type { KnownAddress } from './queries.ts'

type Props = {
  address: string
  known: readonly KnownAddress[]
  typedOut: string
  isTypedOut: boolean
  onTyped: (text: string) => void
}

/**
 * A new address that begins or ends like a known address. It is shown beside the known address, and must be typed out
 * by hand.
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
        {known.slice(0, 3).map((entry) => (
          <Compared key={entry.address} name={entry.name} address={entry.address} other={address} />
        ))}
      </dl>
      <TextField
        label={t('Type the whole address, to show that you have compared it')}
        className="code min-h-11 w-full rounded-md border border-quiet bg-paper px-3 py-2"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        value={typedOut}
        onChange={({ target }) => onTyped(target.value)}
        onPaste={(event) => event.preventDefault()}
        onDrop={(event) => event.preventDefault()}
        hint={isTypedOut ? t('It is the same address.') : t('It cannot be pasted here.')}
      />
    </div>
  )
}

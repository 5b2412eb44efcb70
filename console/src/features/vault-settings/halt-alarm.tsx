import { useQuery } from '@tanstack/react-query'
import { t } from '../../lib/language.ts'
import { vaultQuery } from './queries.ts'

/** A red alarm while the books of the vault and its wallet service differ. It stands on every page of the vault. */
export function HaltAlarm({ code }: { code: string }) {
  const halt = useQuery(vaultQuery(code)).data?.halt
  if (!halt) return null
  return (
    <p role="alert" className="mb-4 rounded-lg border border-bad p-4 text-bad">
      {halt.reason === 'books_behind'
        ? t(
            'This vault is halted: its wallet service has accepted orders or addresses that the books do not have. Nothing is paid and no address is made until the operator of the service has run the recovery.',
          )
        : t(
            'This vault is halted: its wallet service has lost orders or addresses that it had accepted. Nothing is paid and no address is made until the operator of the service has run the recovery.',
          )}
    </p>
  )
}

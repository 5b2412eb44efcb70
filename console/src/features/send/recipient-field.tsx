import type { CheckedRecipient } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useDebounced } from '../../lib/debounced.ts'
import { t } from '../../lib/language.ts'
import { Address } from '../../ui/address.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { type Draft, pastedAddress } from './draft.ts'
import { type KnownAddress, recipientSearchQuery } from './queries.ts'

type Props = {
  code: string
  draft: Draft
  check: CheckedRecipient | null
  change: (part: Partial<Draft>) => void
  error: string | null
}

/** The recipient: a counterparty, an address of the vault, or a pasted address. */
export function RecipientField({ code, draft, check, change, error }: Props) {
  const pasted = pastedAddress(draft)
  const wanted = draft.recipient === null && pasted === null ? draft.recipientText.trim() : ''
  const search = useDebounced(wanted)
  const found = useQuery(recipientSearchQuery(code, search))
  const network = draft.source?.network
  const options = (found.data ?? [])
    .filter((entry) => network === undefined || entry.network === network)
    .filter((entry) => entry.address !== draft.source?.address)
  return (
    <Combobox
      label={t('To')}
      placeholder={t('Name from the address book, or an address')}
      text={draft.recipientText}
      error={error}
      onText={(recipientText) => change({ recipientText, recipient: null, typedOut: '' })}
      options={pasted === null ? options : []}
      optionKey={({ address, counterpartyId }) => `${counterpartyId} ${address}`}
      busy={found.isPending || search !== wanted}
      nothing={pasted === null ? t('Nobody of the address book fits. You can paste a whole address.') : null}
      onChoose={(recipient) => change({ recipient, recipientText: recipient.name, typedOut: '' })}
      draw={(option) => <RecipientOption option={option} />}
      hint={<Recognised draft={draft} pasted={pasted} check={check} />}
    />
  )
}

function RecipientOption({ option }: { option: KnownAddress }) {
  return (
    <span className="grid gap-0.5">
      <span className="flex items-baseline justify-between gap-2">
        <span className="font-medium">{option.name}</span>
        <span className="text-[0.8125rem] text-quiet">
          {option.counterpartyId === null ? t('own address') : option.network}
        </span>
      </span>
      <Address address={option.address} />
    </span>
  )
}

/** The facts that are known about the recipient in the field. */
function Recognised(props: { draft: Draft; pasted: string | null; check: CheckedRecipient | null }): ReactNode {
  const { draft, pasted, check } = props
  const known = draft.recipient ?? check?.known ?? null
  const address = draft.recipient?.address ?? pasted
  if (known !== null && address !== null) {
    return (
      <span className="flex flex-wrap items-center gap-2">
        <Address address={address} name={draft.recipient === null ? known.name : null} />
        <Badge tone="good">{known.counterpartyId === null ? t('Own address') : t('In the address book')}</Badge>
      </span>
    )
  }
  if (pasted === null) return t('An address that you paste is compared with all that are known.')
  if (draft.source === null) return t('It is compared with all that are known as soon as you say who pays.')
  if (check === null) return t('The address is compared with all that are known …')
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Address address={pasted} />
      {check.fault !== null && <Badge tone="bad">{faultWord(check.fault)}</Badge>}
      {check.fault === null && check.lookAlikes.length === 0 && (
        <Badge tone="warn">{t('Not in the address book')}</Badge>
      )}
      {check.fault === null && !check.isFirstPayment && <Badge tone="neutral">{t('Paid before')}</Badge>}
    </span>
  )
}

const faultWord = (fault: NonNullable<CheckedRecipient['fault']>): string =>
  fault === 'wrong_checksum' ? t('a character is mistyped') : t('not an address')

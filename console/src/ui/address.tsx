import { t } from '../lib/language.ts'
import { CopyButton } from './copy-button.tsx'

/**
 * A whole address in groups of four, after its name. It is never shortened, because look-alikes differ in the middle.
 * Groups differ by colour only, so that no spaces are copied.
 */
export function Address({
  address,
  name,
  copy = false,
}: {
  address: string
  name?: string | null | undefined
  copy?: boolean
}) {
  const groups = address.startsWith('0x') ? 'grouped' : 'grouped [--head:0ch]'
  const text = <span className={`${groups} code [overflow-wrap:anywhere]`}>{address}</span>
  if (!copy && (name === null || name === undefined)) return text
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      {name !== null && name !== undefined && <span className="font-medium">{name}</span>}
      {/* The groups continue from line to line within their own block. */}
      <span className="min-w-0">{text}</span>
      {copy && <CopyButton text={address} label={t('Copy the address')} />}
    </span>
  )
}

/** Splits an address into groups. "0x" stays with the first group. */
export function groupsOfFour(address: string): string[] {
  const head = address.startsWith('0x') ? '0x' : ''
  const groups = address.slice(head.length).match(/.{1,4}/g) ?? []
  return [`${head}${groups[0] ?? ''}`, ...groups.slice(1)]
}

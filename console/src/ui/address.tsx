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
  const text = (
    <span className={`grouped ${widths[headOf(address).length]} code [overflow-wrap:anywhere]`}>{address}</span>
  )
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

/** Returns what all addresses of a kind begin with, which tells nothing about one of them. */
const headOf = (address: string): string => /^(0x|bc1|ltc1)/i.exec(address)?.[0] ?? ''

/** The width of a head, by its length. */
const widths: Record<number, string> = { 0: '[--head:0ch]', 2: '[--head:2ch]', 3: '[--head:3ch]', 4: '[--head:4ch]' }

/** Splits an address into groups. Its head stays with the first group. */
export function groupsOfFour(address: string): string[] {
  const head = headOf(address)
  const groups = address.slice(head.length).match(/.{1,4}/g) ?? []
  return [`${head}${groups[0] ?? ''}`, ...groups.slice(1)]
}

import type { ReactNode } from 'react'

export const parts = [
  'vaults',
  'people',
  'networks',
  'tokens',
  'rates',
  'sign-in',
  'directory',
  'changes',
  'events',
  'record',
  'health',
] as const
export type Part = (typeof parts)[number]
export type PlatformSearch = { part?: Part; tokenId?: string }
export type PlatformProps = {
  search: PlatformSearch
  change: (changed: PlatformSearch) => void
  /** The audit log of the platform. */
  record: ReactNode
}

import type { Member } from '../../../access/caller.ts'
import type { Db } from '../../../db/client.ts'
import type { Language } from '../documents/words.ts'
import type { Signer } from './manifest.ts'
import type { ArchivedAccount } from './queries.ts'
import type { MemberWriter } from './write-members.ts'

/** The type of an export that is an archive for an auditor. Every other export is a report. */
export const archiveType = 'auditor_archive'

/** The parameters of an archive. `from` and `to` are ISO 8601 in UTC; the period contains `from` and not `to`. */
export type ArchiveParameters = { from: string; to: string; timezone: string; language: Language }

export type ArchiveOrder = {
  id: string
  /** Reads the whole vault. */
  member: Member
  parameters: ArchiveParameters
  organisationName: string | null
  signer: Signer
  /** The ids of the keys that may have signed the seals. */
  trusted: ReadonlySet<string>
  now: Date
}

/** The content of an archive that is read from the vault before its first member is written. */
export type Plan = { accounts: ArchivedAccount[]; isPrinted: boolean; transferIds: string[] }

/** The parts that the members of an archive are made from. */
export type Making = { db: Db; order: ArchiveOrder; plan: Plan; writer: MemberWriter; onStep: () => void }

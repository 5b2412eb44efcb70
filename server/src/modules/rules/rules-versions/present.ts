import type { Static } from 'typebox'
import { differencesOf } from './difference.ts'
import { directionOf } from './direction.ts'
import type { RulesDifference, RulesVersion, RulesVersionListItem } from './schema.ts'
import type { FullVersionRow, VersionRow } from './versions.ts'

export function toVersionListItem(row: VersionRow): Static<typeof RulesVersionListItem> {
  const { number, authorId, author, changeSetId, direction } = row
  const createdAt = row.created_at.toISOString()
  return { number, hash: row.hash.toString('hex'), authorId, author, changeSetId, direction, createdAt }
}

export function toVersion(row: FullVersionRow): Static<typeof RulesVersion> {
  return { ...toVersionListItem(row), document: row.document }
}

export function toDifference(from: FullVersionRow, to: FullVersionRow): Static<typeof RulesDifference> {
  return {
    from: from.number,
    to: to.number,
    direction: directionOf(from.document, to.document),
    differences: differencesOf(from.document, to.document),
  }
}

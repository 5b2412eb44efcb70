import { canonicalJson } from '../../../lib/canonical-json.ts'

type Fields = Record<string, unknown>

/** The details of an update for its audit record: only the fields that differ, before and after. null: no field differs. */
export function changedFields(before: Fields, after: Fields): { before: Fields; after: Fields } | null {
  const names = Object.keys(after).filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]))
  if (names.length === 0) return null
  const pick = (fields: Fields) => Object.fromEntries(names.map((name) => [name, fields[name]]))
  return { before: pick(before), after: pick(after) }
}

import type { DirectoryCaller } from '../../../access/directory.ts'
import type { Http } from '../../../http/endpoints.ts'

/** The directory that sends a request, the time, and the version that it names in If-Match (null for any). */
export type ByDirectory = { directory: DirectoryCaller; now: Date; version: string | null }

export const versionOf = ({ request }: Http): string | null => request.headers['if-match'] ?? null

export const etagOf = (version: number): string => `W/"${version}"`

/** Compares an If-Match header with a version. Versions are compared as weak ones, as directories send them. */
export const isVersion = (header: string, version: number): boolean =>
  header.split(',').some((tag) => ['*', etagOf(version), etagOf(version).slice(2)].includes(tag.trim()))

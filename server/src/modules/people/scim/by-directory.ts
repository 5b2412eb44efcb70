import type { DirectoryCaller } from '../../../access/directory.ts'
import type { Http } from '../../../http/endpoints.ts'

/** The directory that sends a request, the time, and the header If-Match of the request (null without one). */
export type ByDirectory = { directory: DirectoryCaller; now: Date; version: string | null }

export const versionOf = ({ request }: Http): string | null => request.headers['if-match'] ?? null

export const etagOf = (version: number): string => `W/"${version}"`

/** Returns true if an If-Match header names a version. The comparison ignores the prefix `W/`, which some directories leave out. */
export const isVersion = (header: string, version: number): boolean =>
  header.split(',').some((tag) => ['*', etagOf(version), etagOf(version).slice(2)].includes(tag.trim()))

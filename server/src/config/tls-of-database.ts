import { isLoopback } from '../lib/loopback.ts'

/** The connection only to a server whose certificate this authority has signed for the name in the URL. */
export function trustOnly(databaseUrl: string, authorityFile: string): string {
  const url = new URL(databaseUrl)
  if (isOfThisMachine(url)) return databaseUrl
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', authorityFile)
  return url.href
}

/** Returns true if the connection goes to another machine, and is not encrypted. */
export function isPlainAndRemote(databaseUrl: string): boolean {
  const url = new URL(databaseUrl)
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl') ?? 'disable'
  return !isOfThisMachine(url) && ['disable', 'false', '0'].includes(mode)
}

/** A folder is the place of a socket. */
function isOfThisMachine({ hostname, searchParams }: URL): boolean {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host === '' || host.startsWith('/') || isLoopback(host)
}

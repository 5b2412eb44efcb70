import { urlsOfHosts, withParameters } from '../lib/database-hosts.ts'
import { isLoopback } from '../lib/loopback.ts'

/** Returns a URL whose connections to another machine demand a certificate of this authority for the name in the URL. */
export function trustOnly(databaseUrl: string, authorityFile: string): string {
  if (urlsOfHosts(databaseUrl).every(isOfThisMachine)) return databaseUrl
  return withParameters(databaseUrl, { sslmode: 'verify-full', sslrootcert: authorityFile })
}

/** Returns true if a connection goes to another machine and is not encrypted. */
export function isPlainAndRemote(databaseUrl: string): boolean {
  return urlsOfHosts(databaseUrl).some((single) => {
    const { searchParams } = new URL(single)
    const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable'
    return !isOfThisMachine(single) && ['disable', 'false', '0'].includes(mode)
  })
}

/** Returns true for a host on this machine. A host that begins with a slash is the folder of a socket. */
function isOfThisMachine(databaseUrl: string): boolean {
  const { hostname, searchParams } = new URL(databaseUrl)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host === '' || host.startsWith('/') || isLoopback(host)
}

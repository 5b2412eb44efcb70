import { isIP } from 'node:net'

/** Returns true if a host, as written in a URL or in a list of hosts, is this machine itself. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host.toLowerCase()) || (isIP(host) === 4 && host.startsWith('127.'))
}

import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, type Dispatcher } from 'undici'

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/** Errors of connections that were never made: nothing of the request can have reached anybody. */
const connectErrors = new WeakSet<Error>()

export function isConnectError(error: unknown): boolean {
  return error instanceof Error && connectErrors.has(error)
}

/**
 * A dispatcher that connects to public addresses only (threat 49). The check happens when connecting, on the very
 * addresses that are then used, so a name that resolves differently the second time gains nothing. `allowedHosts` are
 * what the operator exempts: `host` or `host:port`.
 */
export function createGuardedDispatcher({
  allowedHosts,
  connectTimeoutMilliseconds,
  resolve = (hostname) => dns.lookup(hostname, { all: true }),
}: {
  allowedHosts: string[]
  connectTimeoutMilliseconds: number
  resolve?: Resolve
}): Dispatcher {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const open = buildConnector({ timeout: connectTimeoutMilliseconds })
  const guarded = buildConnector({ timeout: connectTimeoutMilliseconds, lookup: lookupPublic(resolve) })
  return new Agent({
    connect: (options, callback) => {
      const report: buildConnector.Callback = (...[error, socket]) => {
        if (error !== null) {
          connectErrors.add(error)
          callback(error, null)
        } else callback(null, socket)
      }
      const port = options.port || (options.protocol === 'https:' ? '443' : '80')
      if (isAllowed(allowed, options.hostname, port)) return open(options, report)
      // A literal address is connected to without a look-up, so it is checked here.
      if (isIP(options.hostname) !== 0 && !isPublicAddress(options.hostname)) {
        return report(refusal(options.hostname), null)
      }
      guarded(options, report)
    },
  })
}

/** Whether the address is one of the public internet: not loopback, private, link-local, multicast, translated or reserved. */
export function isPublicAddress(address: string): boolean {
  // IPv4 inside IPv6 (mapped, 6to4, Teredo, NAT64) has ranges of its own, which are no unicast.
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unicast'
}

function isAllowed(allowed: Set<string>, hostname: string, port: string): boolean {
  const host = hostname.toLowerCase()
  return [host, `${host}:${port}`, `[${host}]`, `[${host}]:${port}`].some((name) => allowed.has(name))
}

/** One bad address among several refuses the name: which of them gets connected is not ours to say. */
function lookupPublic(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || addresses.some(({ address }) => !isPublicAddress(address))) {
          callback(refusal(hostname), '', 0)
        } else if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

function refusal(hostname: string): Error {
  return new Error(`${hostname} is no public address, and WALLET_ALLOWED_HOSTS does not list it`)
}

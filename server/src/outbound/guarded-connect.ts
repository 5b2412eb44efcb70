import { promises as dns, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { isLoopback } from '../lib/loopback.ts'

export type Resolve = (hostname: string) => Promise<LookupAddress[]>

/** The errors of connections that were never established, so that no part of the request was sent. */
const connectErrors = new WeakSet<Error>()

export function isConnectError(error: unknown): boolean {
  return error instanceof Error && connectErrors.has(error)
}

/** The errors of targets that are not public addresses and that the operator did not allow. A repetition does not help. */
const refusals = new WeakSet<Error>()

export function isForbiddenTarget(error: unknown): boolean {
  return error instanceof Error && refusals.has(error)
}

/**
 * Creates a dispatcher that connects to public addresses only (threat T49). The check happens at connect time, on the addresses
 * that are then used, so that a name that resolves differently the second time cannot bypass it. `allowedHosts` are the
 * exceptions of the operator: `host` or `host:port`.
 */
export function createGuardedDispatcher({
  allowedHosts,
  allowsLoopback = false,
  connectTimeoutMilliseconds,
  setting = 'WALLET_ALLOWED_HOSTS',
  resolve = (hostname) => dns.lookup(hostname, { all: true }),
}: {
  allowedHosts: string[]
  allowsLoopback?: boolean
  connectTimeoutMilliseconds: number
  /** The setting with which the operator names exceptions, for the error message. */
  setting?: string
  resolve?: Resolve
}): Dispatcher {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const open = buildConnector({ timeout: connectTimeoutMilliseconds })
  const guarded = buildConnector({ timeout: connectTimeoutMilliseconds, lookup: lookupPublic(resolve, setting) })
  return new Agent({
    connect: (options, callback) => {
      const report: buildConnector.Callback = (...[error, socket]) => {
        if (error !== null) {
          connectErrors.add(error)
          callback(error, null)
        } else callback(null, socket)
      }
      const port = options.port || (options.protocol === 'https:' ? '443' : '80')
      const isExempt = isAllowed(allowed, options.hostname, port) || (allowsLoopback && isLoopback(options.hostname))
      if (isExempt) return open(options, report)
      // A connection to a literal address has no look-up, so the address is checked here.
      if (isIP(options.hostname) !== 0 && !isPublicAddress(options.hostname)) {
        return report(refusal(options.hostname, setting), null)
      }
      guarded(options, report)
    },
  })
}

const dispatchers = new Map<string, Dispatcher>()

/**
 * Returns the dispatcher for a URL that the operator named. It may connect to the host of the URL even if its address is not public.
 * There is one pool of connections for each host and timeout.
 */
export function dispatcherTo(url: string, connectTimeoutMilliseconds: number): Dispatcher {
  const { host } = new URL(url)
  const key = `${host} ${connectTimeoutMilliseconds}`
  const known = dispatchers.get(key)
  if (known !== undefined) return known
  const dispatcher = createGuardedDispatcher({ allowedHosts: [host], connectTimeoutMilliseconds })
  dispatchers.set(key, dispatcher)
  return dispatcher
}

/** Ranges that are not public according to IANA (RFC 6890 and its registries), and ranges of IPv6 that embed IPv4. */
const reserved = new BlockList()
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]) {
  const [address, prefix] = network.split('/') as [string, string]
  reserved.addSubnet(address, Number(prefix), address.includes(':') ? 'ipv6' : 'ipv4')
}
/** The IPv6 range of public hosts; all other ranges have special purposes. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** Returns true for an address of the public internet: not loopback, private, link-local, multicast, translated or reserved. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !reserved.check(address, 'ipv4')
  return family === 6 && globalUnicast.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
}

function isAllowed(allowed: Set<string>, hostname: string, port: string): boolean {
  const host = hostname.toLowerCase()
  return [host, `${host}:${port}`, `[${host}]`, `[${host}]:${port}`].some((name) => allowed.has(name))
}

/** Returns a look-up that refuses a name if one of its addresses is forbidden, because the connection may use any of them. */
function lookupPublic(resolve: Resolve, setting: string): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined || addresses.some(({ address }) => !isPublicAddress(address))) {
          callback(refusal(hostname, setting), '', 0)
        } else if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, '', 0),
    )
  }
}

function refusal(hostname: string, setting: string): Error {
  const error = new Error(`${hostname} is not a public address, and ${setting} does not list it`)
  refusals.add(error)
  return error
}

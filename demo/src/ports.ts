import { createServer } from 'node:net'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

/** The parts whose ports cannot be configured, on the loopback address. */
type PartWithPort = 'chain' | 'wallet' | 'bitcoin' | 'litecoin' | 'company'
export type Ports = Record<Exclude<PartWithPort, 'company'>, number>

/** Returns the port of each part in the last run, replaced if it is not free. A wallet app thus keeps its URL of the chain. */
export async function choosePorts<Name extends PartWithPort>(
  dataDir: string,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  const path = join(dataDir, 'ports.json')
  const known = readJson<Partial<Record<PartWithPort, number>>>(path) ?? {}
  const chosen = await Promise.all(names.map(async (name) => [name, await chooseLoopbackPort(known[name])] as const))
  const ports = Object.fromEntries(chosen) as Record<Name, number>
  if (names.some((name) => ports[name] !== known[name])) writeJson(path, { ...known, ...ports })
  return ports
}

/**
 * Returns the port if this process can listen on it; for port 0, returns a free port. Throws EADDRINUSE and similar
 * errors.
 */
export function claimPort(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port))
    })
  })
}

async function chooseLoopbackPort(remembered = 0): Promise<number> {
  return await claimPort(remembered, '127.0.0.1').catch(() => claimPort(0, '127.0.0.1'))
}

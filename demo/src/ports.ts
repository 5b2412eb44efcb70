import { createServer } from 'node:net'
import { join } from 'node:path'
import { readJson, writeJson } from './data-files.ts'

/** Ports of the parts that cannot be configured, on the loopback address. */
type Ports = { chain: number; wallet: number }

/** Returns the ports of the last run, each replaced if it is not free. A wallet app thus keeps its URL of the chain. */
export async function choosePorts(dataDir: string): Promise<Ports> {
  const path = join(dataDir, 'ports.json')
  const known = readJson<Ports>(path)
  const [chain, wallet] = await Promise.all([known?.chain, known?.wallet].map(chooseLoopbackPort))
  const ports = { chain: chain!, wallet: wallet! }
  if (ports.chain !== known?.chain || ports.wallet !== known.wallet) writeJson(path, ports)
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

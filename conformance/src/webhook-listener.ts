import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bytesReadMax, silenceSeconds } from './limits.ts'
import { CouldNotRun } from './outcomes.ts'

/** The answer to a delivery: a status, no answer, a cut connection, or a redirect to another path. */
export type Reaction = number | 'silence' | 'reset' | 'redirect'

/** Returns the reaction to a delivery: `attempt` counts from 1, the time from the first delivery. */
export type Script = (attempt: number, elapsedMilliseconds: number) => Reaction

export type Delivery = {
  receivedAt: number
  headers: IncomingHttpHeaders
  body: string
  json: unknown
  reaction: Reaction
}

export type WebhookListener = {
  url: string
  /** Sets the answers to deposits for this address; without a script the answer is 200. */
  answer(address: string, script: Script): void
  /** Returns the deliveries for this address in the order of arrival. */
  deliveriesTo(address: string): readonly Delivery[]
  /** Deliveries that followed a redirect. */
  redirected(): number
  stop(): Promise<void>
}

const redirectTarget = '/moved'

/** Listens for deposits. @throws CouldNotRun when the port cannot be used */
export async function listenForWebhooks(host: string, port: number): Promise<WebhookListener> {
  const scripts = new Map<string, Script>()
  const received = new Map<string, Delivery[]>()
  const timers = new Set<NodeJS.Timeout>()
  let redirected = 0

  const server = createServer(async (incoming, response) => {
    const body = await readBody(incoming)
    if (incoming.url === redirectTarget) redirected += 1
    const json = parse(body)
    const address = recipientOf(json)
    const deliveries = received.get(address) ?? []
    received.set(address, deliveries)
    const receivedAt = Date.now()
    const elapsed = receivedAt - (deliveries[0]?.receivedAt ?? receivedAt)
    const reaction = scripts.get(address)?.(deliveries.length + 1, elapsed) ?? 200
    deliveries.push({ receivedAt, headers: incoming.headers, body, json, reaction })
    react(response, reaction, timers)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CouldNotRun(`The port ${port} of ${host} cannot be listened on: ${error.code ?? error.message}`)),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/webhooks/wallet`,
    answer: (recipient, script) => void scripts.set(recipient.toLowerCase(), script),
    deliveriesTo: (recipient) => received.get(recipient.toLowerCase()) ?? [],
    redirected: () => redirected,
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function react(response: ServerResponse, reaction: Reaction, timers: Set<NodeJS.Timeout>): void {
  if (reaction === 'reset') response.destroy()
  else if (reaction === 'redirect') response.writeHead(307, { location: redirectTarget }).end()
  else if (reaction === 'silence') {
    const timer = setTimeout(() => response.destroy(), silenceSeconds * 1000)
    timers.add(timer)
    response.once('close', () => clearTimeout(timer))
  } else {
    response.writeHead(reaction, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reaction < 300 ? { received: true } : { error: 'Conformance', code: reaction }))
  }
}

async function readBody(incoming: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of incoming) {
      bytes += chunk.length
      if (bytes <= bytesReadMax) chunks.push(chunk)
    }
  } catch {
    // The sender gave up; what arrived is not a delivery of anything.
    return ''
  }
  return Buffer.concat(chunks).toString('utf8')
}

function recipientOf(json: unknown): string {
  const tx = typeof json === 'object' && json !== null ? (json as { tx?: unknown }).tx : undefined
  const to = typeof tx === 'object' && tx !== null ? (tx as { toAddress?: unknown }).toAddress : undefined
  return typeof to === 'string' ? to.toLowerCase() : ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

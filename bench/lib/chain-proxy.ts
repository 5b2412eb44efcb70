import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Call = { id: number; method: string }

/** A proxy between a wallet service and its chain's node: counts calls, and notes when each transaction was sent. */
export type ChainProxy = {
  url: string
  /** Number of calls by method since the last `forget`. */
  calls: Record<string, number>
  forget(): void
  /** Milliseconds since the epoch, by the hash of the transaction. */
  sentAt: Map<string, number>
  stop(): Promise<void>
}

export async function startChainProxy(rpcUrl: string): Promise<ChainProxy> {
  const calls: Record<string, number> = {}
  const sentAt = new Map<string, number>()
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body })
    const text = await answer.text()
    note(JSON.parse(body), JSON.parse(text))
    response.writeHead(answer.status, headers).end(text)
  }
  const server = createServer((request, response) => {
    // The wallet service may end while a call is under way.
    pass(request, response).catch(() => response.destroy())
  })
  const note = (calledWith: Call | Call[], answeredWith: unknown) => {
    const answers = [answeredWith].flat() as { id: number; result?: string }[]
    for (const { id, method } of [calledWith].flat()) {
      calls[method] = (calls[method] ?? 0) + 1
      const result = answers.find((answer) => answer.id === id)?.result
      if (method === 'eth_sendRawTransaction' && result !== undefined && !sentAt.has(result))
        sentAt.set(result, Date.now())
    }
  }
  server.listen({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    forget() {
      for (const method of Object.keys(calls)) delete calls[method]
    },
    sentAt,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

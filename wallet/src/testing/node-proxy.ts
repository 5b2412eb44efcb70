import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fault = 'none' | 'down' | 'dropSend' | 'dropSendAnswer'
type Call = { id: number; method: string; params: string[] }
/**
 * `lacks`: methods that the node does not have. `asked`: the number of calls of each method, alone or in a batch. `requests`: the
 * number of requests. `l1Fee`: the fee for the network below that every receipt has, as on a rollup of the OP stack.
 */
type Control = {
  fault: Fault
  l1Fee: string | null
  lacks: string[]
  sent: string[]
  chainIdsAsked: number
  asked: Record<string, number>
  requests: number
}

/**
 * A proxy between the wallet and the node that cuts connections: all of them (`down`), or those of a broadcast, either before the
 * node receives the transaction (`dropSend`) or after it received it (`dropSendAnswer`).
 */
export async function startNodeProxy(rpcUrl: string) {
  const control: Control = { fault: 'none', l1Fee: null, lacks: [], sent: [], chainIdsAsked: 0, asked: {}, requests: 0 }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const calls = [JSON.parse(body) as Call | Call[]].flat()
    const sent = calls.filter(({ method }) => method === 'eth_sendRawTransaction')
    const isSend = sent.length > 0
    control.requests += 1
    for (const { method } of calls) control.asked[method] = (control.asked[method] ?? 0) + 1
    control.chainIdsAsked = control.asked.eth_chainId ?? 0
    control.sent.push(...sent.map(({ params }) => params[0]!))
    if (control.fault === 'down' || (isSend && control.fault === 'dropSend')) {
      request.socket.destroy()
      return
    }
    const [first] = calls
    if (first !== undefined && control.lacks.includes(first.method)) {
      const error = { code: -32601, message: 'the method does not exist' }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: first.id, error }))
      return
    }
    const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = withFee(await answer.text(), control.l1Fee)
    if (isSend && control.fault === 'dropSendAnswer') {
      request.socket.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    control,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Adds the fee to the receipts of an answer. Other answers have no field `effectiveGasPrice`. */
const withFee = (text: string, l1Fee: string | null) =>
  l1Fee === null ? text : text.replaceAll('"effectiveGasPrice":', `"l1Fee":"${l1Fee}","effectiveGasPrice":`)

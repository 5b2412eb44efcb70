import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fault = 'none' | 'down' | 'dropSend' | 'dropSendAnswer'
type Call = { id: number; method: string; params: string[] }
/**
 * `lacks`: methods that the node does not have. `asked`: how many calls of each method arrived, alone or in a batch; `requests`: in how
 * many requests. `l1Fee`: the fee for the network below it that each receipt names, as nodes of the OP stack do.
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
 * A proxy between the wallet and the node that cuts connections: all of them (`down`), those that broadcast before the
 * node receives the transaction (`dropSend`), or after it has (`dropSendAnswer`).
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

/** The receipts of an answer name another fee; other answers have no such field. */
const withFee = (text: string, l1Fee: string | null) =>
  l1Fee === null ? text : text.replaceAll('"effectiveGasPrice":', `"l1Fee":"${l1Fee}","effectiveGasPrice":`)

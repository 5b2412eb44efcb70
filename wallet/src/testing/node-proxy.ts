import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fault = 'none' | 'down' | 'dropSend' | 'dropSendAnswer'

/**
 * A proxy between the wallet and the node that cuts connections: all of them (`down`), those that broadcast before the
 * node receives the transaction (`dropSend`), or after it has (`dropSendAnswer`).
 */
export async function startNodeProxy(rpcUrl: string) {
  const control: { fault: Fault; sent: string[]; chainIdsAsked: number } = { fault: 'none', sent: [], chainIdsAsked: 0 }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const call = JSON.parse(body) as { method: string; params: string[] }
    const isSend = call.method === 'eth_sendRawTransaction'
    if (call.method === 'eth_chainId') control.chainIdsAsked += 1
    if (isSend) control.sent.push(call.params[0]!)
    if (control.fault === 'down' || (isSend && control.fault === 'dropSend')) {
      request.socket.destroy()
      return
    }
    const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await answer.text()
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

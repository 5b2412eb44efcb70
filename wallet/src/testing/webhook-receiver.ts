import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DepositEvent } from '../protocol.ts'

export const webhookSecret = 'a webhook secret for the tests'

type Received = { headers: IncomingHttpHeaders; body: string; event: DepositEvent }

/** An HTTP server that keeps what it accepts; it answers 500 to the next `failures` requests. */
export async function startWebhookReceiver() {
  const received: Received[] = []
  const control = { failures: 0, refused: 0 }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (control.failures > 0) {
      control.failures -= 1
      control.refused += 1
      response.writeHead(500).end()
      return
    }
    received.push({ headers: request.headers, body, event: JSON.parse(body) })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks/wallet`,
    received,
    control,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Verifies the signature as a receiver would, independently of the code under test. */
export function hasValidSignature({ headers, body }: Received): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = createHmac('sha256', webhookSecret).update(signed).digest()
  const [version, signature = ''] = String(headers['webhook-signature']).split(',')
  const received = Buffer.from(signature, 'base64')
  return version === 'v1' && received.length === expected.length && timingSafeEqual(received, expected)
}

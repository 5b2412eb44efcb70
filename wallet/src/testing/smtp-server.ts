import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail server that keeps what it receives; `refusals` are the codes with which it refuses the next mails. */
export async function startSmtpServer() {
  const mails: { to: string; source: string }[] = []
  const refusals: number[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const code = refusals.shift()
        if (code !== undefined) return done(Object.assign(new Error('not now'), { responseCode: code }))
        const source = Buffer.concat(chunks).toString('utf8').replaceAll('=\r\n', '')
        for (const { address } of session.envelope.rcptTo) mails.push({ to: address, source })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    refusals,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { parseMail, type ReceivedMail } from './outbox.ts'

export type SmtpServer = {
  url: string
  mails: (ReceivedMail & { recipients: string[] })[]
  /** The codes with which the next mails are refused. */
  refusals: number[]
  close(): Promise<void>
}

/** Starts a mail server that keeps the mails that it receives. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: SmtpServer['mails'] = []
  const refusals: number[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const refusal = refusals.shift()
        if (refusal !== undefined) return done(Object.assign(new Error('not now'), { responseCode: refusal }))
        const recipients = session.envelope.rcptTo.map((recipient) => recipient.address)
        mails.push({ ...parseMail(Buffer.concat(chunks).toString('utf8')), recipients })
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
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

import type { MailConfig } from './settings.ts'

export type Mail = { id: string; to: string; subject: string; text: string }
export type Mailer = {
  /** Resolves when the mail server has taken the mail. */
  send(mail: Mail): Promise<void>
}

const connectTimeoutMilliseconds = 10_000
const silenceTimeoutMilliseconds = 30_000

/** The library is loaded at the first mail. A mail that is sent again has the same Message-ID. */
export function createMailer({ smtpUrl, requiresTls, from }: MailConfig): Mailer {
  const open = async () =>
    (await import('nodemailer')).createTransport({
      url: smtpUrl,
      requireTLS: requiresTls,
      connectionTimeout: connectTimeoutMilliseconds,
      greetingTimeout: connectTimeoutMilliseconds,
      socketTimeout: silenceTimeoutMilliseconds,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  let opened: ReturnType<typeof open> | undefined
  return {
    async send({ id, to, subject, text }) {
      opened ??= open()
      const transport = await opened
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@strongroom-wallet>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    },
  }
}

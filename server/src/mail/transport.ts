import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'

export type Mail = {
  /** The id of the mail, from which its Message-ID is made. A mail that is sent again has the same id, so that a server can drop it. */
  id: string
  date: Date
  to: string
  subject: string
  text: string
  html: string
}

export type Mailer = { send(mail: Mail): Promise<void> }

const connectTimeoutMilliseconds = 10_000
/** The time is shorter than `mailLeaseMilliseconds`, after which another node sends the mail again. */
const silenceTimeoutMilliseconds = 30_000

/** Creates a mailer for SMTP_URL. Without it, in demo mode, each mail becomes a file in `DATA_DIR/outbox` whose name sorts by time. */
export function createMailer(config: Pick<Config, 'smtpUrl' | 'smtpRequiresTls' | 'mailFrom' | 'dataDir'>): Mailer {
  return config.smtpUrl === null
    ? createFileMailer(config.mailFrom, join(config.dataDir, 'outbox'))
    : createSmtpMailer(config.mailFrom, config.smtpUrl, config.smtpRequiresTls)
}

function createSmtpMailer(from: string, url: string, requireTLS: boolean): Mailer {
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({
      url,
      requireTLS,
      connectionTimeout: connectTimeoutMilliseconds,
      greetingTimeout: connectTimeoutMilliseconds,
      socketTimeout: silenceTimeoutMilliseconds,
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  )
  return {
    async send(mail) {
      await (await transport()).sendMail(toMessage(from, mail))
    },
  }
}

function createFileMailer(from: string, folder: string): Mailer {
  const transport = once(async () =>
    (await import('nodemailer')).createTransport({ streamTransport: true, buffer: true, newline: 'unix' }),
  )
  return {
    async send(mail) {
      const { message } = await (await transport()).sendMail(toMessage(from, mail))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = join(folder, `${mail.date.toISOString().replaceAll(':', '-')}-${mail.id}.eml`)
      // The rename makes only complete mails visible. They contain sign-in links, so that only the owner may read them.
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 })
      await rename(`${file}.part`, file)
    },
  }
}

/** Returns a function that calls `make` at its first call. The start of a node does not wait for the mail library. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function toMessage(from: string, { id, date, to, subject, text, html }: Mail) {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    date,
    messageId: `<${id}@strongroom>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

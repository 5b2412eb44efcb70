import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'

export type Mail = {
  /** The id of the mail. A repeated sending has the same Message-ID, so that a mail server may drop it. */
  id: string
  date: Date
  to: string
  subject: string
  text: string
  html: string
}

export type Mailer = { send(mail: Mail): Promise<void> }

const connectTimeoutMilliseconds = 10_000
/** Shorter than `mailLeaseMilliseconds`, after which another node sends the mail again. */
const silenceTimeoutMilliseconds = 30_000

/** Sends mail over SMTP_URL. In demo mode without one, each mail becomes a file in `DATA_DIR/outbox`, whose name sorts by time. */
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
      // A program that watches the folder sees only complete mails. They hold sign-in links, so only the owner may read them.
      await writeFile(`${file}.part`, message as Buffer, { mode: 0o600 })
      await rename(`${file}.part`, file)
    },
  }
}

/** Calls `make` at the first use. The library is loaded at the first mail, so that the start need not wait for it. */
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

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type ReceivedMail = { to: string; subject: string; text: string; html: string; source: string }
export type Outbox = {
  /** The DATA_DIR of the service. */
  dataDir: string
  /** Returns all mails so far, oldest first. */
  read(): Promise<ReceivedMail[]>
  /** Returns the link in the newest mail to an address. */
  lastLink(to: string): Promise<URL>
  clear(): Promise<void>
  remove(): Promise<void>
}

/** Creates a data directory in which mails of demo mode arrive as files. */
export async function createOutbox(): Promise<Outbox> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-outbox-'))
  const folder = join(dataDir, 'outbox')
  const read = async () => {
    const names = await readdir(folder).catch(() => [])
    const files = names.filter((name) => name.endsWith('.eml')).sort()
    return Promise.all(files.map(async (name) => parseMail(await readFile(join(folder, name), 'utf8'))))
  }
  return {
    dataDir,
    read,
    async lastLink(to) {
      const mail = (await read()).filter((received) => received.to === to).at(-1)
      if (mail === undefined) throw new Error(`There is no mail to ${to}`)
      return linkIn(mail)
    },
    clear: () => rm(folder, { recursive: true, force: true }),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  }
}

export function linkIn(mail: ReceivedMail): URL {
  const link = /https?:\/\/\S+/.exec(mail.text)?.[0]
  if (link === undefined) throw new Error(`There is no link in:\n${mail.text}`)
  return new URL(link)
}

/** Parses one of our mails into the parts that a mail client shows: headers and both forms of the text. */
export function parseMail(source: string): ReceivedMail {
  const lines = source.replaceAll('\r\n', '\n')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(lines)?.[1] ?? ''
  const boundary = /boundary="([^"]+)"/.exec(lines)?.[1]
  const parts = boundary === undefined ? [lines] : lines.split(`--${boundary}`)
  const partOf = (type: string) => {
    const isOfType = ([head = '']: string[]) => new RegExp(`^content-type: ${type}`, 'im').test(head)
    const [head = '', ...body] = parts.map((part) => part.trimStart().split('\n\n')).find(isOfType) ?? []
    const content = body.join('\n\n')
    return /quoted-printable/i.test(head) ? decodeQuotedPrintable(content) : content
  }
  return {
    to: header('To').replace(/^.*<(.*)>$/, '$1'),
    subject: header('Subject'),
    text: partOf('text/plain'),
    html: partOf('text/html'),
    source,
  }
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

import { LineFiles } from './lines.ts'

/** A contact whose mail about a version was taken by the mail server. */
type Told = { hash: string; email: string; at: string }

/**
 * The contacts that were told of a version, in a file beside the authority: nobody who writes to the database makes a mail look
 * sent. A mail that is not in it is sent, so a crash repeats one and loses none.
 */
export class ToldFiles {
  readonly #files: LineFiles<Told>

  constructor(directory: string) {
    this.#files = new LineFiles(directory, 'told')
  }

  async has(clientId: string, hash: string, email: string): Promise<boolean> {
    const entries = await this.#files.entriesOf(clientId)
    return entries.some((entry) => entry.hash === hash && entry.email === email)
  }

  async note(clientId: string, hash: string, email: string, now: Date): Promise<void> {
    await this.#files.append(clientId, [{ hash, email, at: now.toISOString() }])
  }
}

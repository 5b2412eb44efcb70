import { LineFiles } from './lines.ts'

/** A contact whose mail about a version the mail server accepted. */
type Told = { hash: string; email: string; at: string }

/**
 * The sent mails about a version, in a file beside the authority, so that an attacker with access to the database cannot mark a
 * mail as sent. A mail that is not in the file is sent, so a crash may repeat a mail but loses none.
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

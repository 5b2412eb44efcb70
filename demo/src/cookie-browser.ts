/** A browser that visits the service and the provider, and keeps the cookies of both. */
export class CookieBrowser {
  #cookies = new Map<string, string>()
  readonly #visitService: (path: string, cookie: string) => Promise<Visited>
  readonly #origin: string

  constructor(origin: string, visitService: (path: string, cookie: string) => Promise<Visited>) {
    this.#origin = origin
    this.#visitService = visitService
  }

  /** Returns a browser with the same cookies, as a thief of the cookies would have. */
  copy(): CookieBrowser {
    const other = new CookieBrowser(this.#origin, this.#visitService)
    other.#cookies = new Map(this.#cookies)
    return other
  }

  get session(): string | undefined {
    return this.#cookies.get(`${this.#origin} session_token`)
  }

  set session(token: string) {
    this.#cookies.set(`${this.#origin} session_token`, token)
  }

  /** Visits a page of the service, and follows no redirect. */
  async visit(path: string): Promise<Visited> {
    const answer = await this.#visitService(path, this.#cookieOf(this.#origin))
    this.#keep(this.#origin, answer.cookies)
    return answer
  }

  /**
   * Follows the redirects of the provider until they lead back to the service. Returns the path at the service. `form`
   * is sent to the first page that is no redirect, which is the sign-in page.
   */
  async followProvider(url: string, form: Record<string, string> | null = null): Promise<string> {
    let unsent = form
    for (let next = url, hops = 0; hops < 12; hops += 1) {
      if (next.startsWith(this.#origin)) return next.slice(this.#origin.length)
      let answer = await this.#visitProvider(next, null)
      if (answer.ok && unsent !== null) {
        answer = await this.#visitProvider(next, unsent)
        unsent = null
      }
      const location = answer.headers.get('location')
      if (location === null) throw new Error(`The provider stopped at ${next}: ${answer.status} ${await answer.text()}`)
      next = new URL(location, next).href
    }
    throw new Error('The provider leads in circles')
  }

  async #visitProvider(url: string, form: Record<string, string> | null): Promise<Response> {
    const { origin } = new URL(url)
    const sent = form === null ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const answer = await fetch(url, {
      ...sent,
      redirect: 'manual',
      headers: { cookie: this.#cookieOf(origin), origin },
    })
    this.#keep(origin, answer.headers.getSetCookie())
    return answer
  }

  #cookieOf(origin: string): string {
    const cookies = [...this.#cookies].filter(([name]) => name.startsWith(`${origin} `))
    return cookies.map(([name, value]) => `${name.slice(origin.length + 1)}=${value}`).join('; ')
  }

  #keep(origin: string, cookies: string[]): void {
    for (const cookie of cookies) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      if (value === '') this.#cookies.delete(`${origin} ${name}`)
      else this.#cookies.set(`${origin} ${name}`, value!)
    }
  }
}

export type Visited = { status: number; location: string | null; body: string; cookies: string[] }

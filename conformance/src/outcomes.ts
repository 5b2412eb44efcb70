/** A request and what came back, without secrets. */
export type Exchange = {
  request: { method: string; path: string; headers: Record<string, string>; body?: string }
  response: { status: number; headers: Record<string, string>; body: string } | { fault: string }
  milliseconds: number
}

/** The wallet service breaks a rule. */
export class Violation extends Error {
  readonly exchanges: Exchange[]
  constructor(message: string, exchanges: Exchange[] = []) {
    super(message)
    this.name = 'Violation'
    this.exchanges = exchanges
  }
}

/** The check cannot tell if the rule is kept, because a step that it builds on has failed. */
export class Blocked extends Error {
  override name = 'Blocked'
}

/** The kit itself cannot do its work: no connection, a refused token, no funds. */
export class CouldNotRun extends Error {
  override name = 'CouldNotRun'
}

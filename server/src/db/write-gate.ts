/** Thrown in place of a change while no standby confirms commits. The change has no effect. */
export class WritesHaltedError extends Error {
  constructor() {
    super('Commits are not confirmed by a standby, so that changes are refused')
    this.name = 'WritesHaltedError'
  }
}

/** Refuses the changes of a node from a commit that no standby confirmed until a commit is confirmed. */
export type WriteGate = {
  isOpen(): boolean
  open(): void
  close(): void
  /** Calls `tell` when the gate has opened or closed. */
  onChange(tell: (isOpen: boolean) => void): void
}

export function createWriteGate(): WriteGate {
  let isOpen = true
  const listeners: ((isOpen: boolean) => void)[] = []
  const set = (next: boolean) => {
    if (next === isOpen) return
    isOpen = next
    for (const tell of listeners) tell(isOpen)
  }
  return {
    isOpen: () => isOpen,
    open: () => set(true),
    close: () => set(false),
    onChange: (tell) => void listeners.push(tell),
  }
}

/** The statements that change something. A heartbeat begins with a comment and passes, because it opens the gate. */
const change = /^(\/\* prepared \*\/)?\s*(begin$|start transaction|insert|update|delete)/i
/** A statement that begins with `with` changes something when a part of it does; `for update` only locks. */
const changeWithin = /\b(insert\s+into|delete\s+from|(?<!\b(for|key)\s+)update\s+(?!of\b|skip\b|nowait\b)["\w])/i
const withFirst = /^(\/\* prepared \*\/)?\s*with\b/i
const readOnly = /^start transaction.* read only$/i

const isChangeOf = (text: string): boolean =>
  withFirst.test(text) ? changeWithin.test(text) : change.test(text) && !readOnly.test(text)

/** Returns a check of each statement of a connection, in their order. @throws WritesHaltedError for a change */
export function checkOfGate(gate: WriteGate): (text: unknown) => void {
  let isReadOnly = false
  return (text) => {
    if (typeof text !== 'string') return
    if (readOnly.test(text)) isReadOnly = true
    else if (text === 'begin') isReadOnly = false
    const isChange = text === 'commit' ? !isReadOnly : isChangeOf(text)
    if (text === 'commit' || text === 'rollback') isReadOnly = false
    if (isChange && !gate.isOpen()) throw new WritesHaltedError()
  }
}

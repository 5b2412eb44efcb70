/** The index that `scripts/reference/digest.js` makes of openapi.json. */
export type Index = {
  title: string
  version: string
  about: string
  groups: Group[]
  reasons: Reason[]
}

export type Group = { slug: string; name: string; about: string; operations: Listed[] }
export type Listed = { id: string; verb: Verb; path: string; summary: string }
export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Reason = {
  name: string
  status: number
  meaning: string
  remedy: string
  /** An example of a refusal; absent if no operation answers with it. */
  body?: object
  /** Set if nearly every operation can answer with it. */
  common?: true
}

/** Search data besides the index: numbers of `fields` and `reasons` by the id of an operation. */
export type SearchWords = {
  fields: string[]
  reasons: string[]
  operations: Record<string, { about: string; fields: number[]; reasons: number[] }>
}

export type GroupFile = { operations: Record<string, Operation>; components: Record<string, Component> }
export type Component = { about?: string; fields: Shape[] }

export type Shape = {
  name?: string
  type: string
  required?: true
  about?: string
  limits?: string[]
  values?: unknown[]
  example?: unknown
  fields?: Shape[]
  /** The component that contains the members. */
  ref?: string
  choices?: Shape[]
}

export type Parameter = Shape & { name: string; in: 'path' | 'query' | 'header' }

export type Operation = Listed & {
  about: string
  /** The permitted callers, in words. */
  callers: string
  /** The scope that a service token needs; absent if services cannot call it. */
  scope?: string
  /** True if the operation needs no token. */
  isPublic: boolean
  parameters: Parameter[]
  body?: Shape
  bodyExample?: unknown
  /** The media type of a body that is a file instead of JSON. */
  fileType?: string
  answers: { status: number; about: string; media?: string[]; shape?: Shape; example?: unknown }[]
  refusals: { status: number; about: string; reasons: string[] }[]
  /** Set if the operation only reads, so that a reader may try it. */
  run?: true
  /** Null if the SDK has no method for the operation. */
  sdk: {
    call: string
    takes: string[]
    body?: true
    query?: true
    gives: 'json' | 'pages' | 'outcome' | 'report' | 'file' | 'text' | 'nothing'
  } | null
}

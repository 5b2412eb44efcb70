type Response = { body: string; headers: Record<string, string | string[] | number | undefined> }

/** Returns the text of an answer without the id of its request. Two equal errors differ only in the id. */
export function withoutRequestId({ body, headers }: Response): string {
  return body.replace(`,"requestId":"${headers['x-request-id']}"}`, '}')
}

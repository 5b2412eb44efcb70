type Response = { body: string; headers: Record<string, string | string[] | number | undefined> }

/** The text of an answer without the id of its request, which is all that two equal errors differ in. */
export function withoutRequestId({ body, headers }: Response): string {
  return body.replace(`,"requestId":"${headers['x-request-id']}"}`, '}')
}

/** The directory at Strongroom to which a company pushes its people: its address and its token. */
export type DirectoryAccess = { baseUri: string; token: string }

type ScimPerson = { id: string; active: boolean }

const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
}

/** Pushes whether a person works at the company (SCIM 2.0). Adds a person whom the directory does not have. */
export async function pushPerson(
  access: DirectoryAccess,
  { email, isActive }: { email: string; isActive: boolean },
): Promise<void> {
  const filter = new URLSearchParams({ filter: `userName eq "${email}"` })
  const { Resources: found } = await send<{ Resources: ScimPerson[] }>(access, 'GET', `/Users?${filter}`)
  const [person] = found
  if (person === undefined) {
    await send(access, 'POST', '/Users', { schemas: [schemas.user], userName: email, active: isActive })
  } else if (person.active !== isActive) {
    const operation = { op: 'replace', path: 'active', value: isActive }
    await send(access, 'PATCH', `/Users/${person.id}`, { schemas: [schemas.patch], Operations: [operation] })
  }
}

async function send<Answer>(
  { baseUri, token }: DirectoryAccess,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(baseUri + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`Strongroom refuses ${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Answer
}

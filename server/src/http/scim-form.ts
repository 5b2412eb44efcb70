import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { AppError } from '../lib/errors.ts'
import { Closed } from './schema.ts'

/** The media type of requests and answers of directories (RFC 7644). */
export const scimType = 'application/scim+json'
export const scimPrefix = '/scim/v2'

/** Returns true for a request of a directory. Its errors have the form of SCIM, also where there is no such route. */
export const isScim = ({ url }: Pick<FastifyRequest, 'url'>): boolean => url.startsWith(`${scimPrefix}/`)

export const ScimError = Closed(
  {
    schemas: Type.Array(Type.String({ examples: ['urn:ietf:params:scim:api:messages:2.0:Error'] }), {
      description: 'The form of the answer.',
    }),
    status: Type.String({ description: 'HTTP status, as a text.', examples: ['400'] }),
    scimType: Type.Optional(
      Type.String({ description: 'Type of the error by RFC 7644, where it has one.', examples: ['invalidFilter'] }),
    ),
    detail: Type.String({ description: 'Explanation for people.', examples: ['filter: ends too early'] }),
  },
  { $id: 'ScimError' },
)

/** Returns the body of an error in the form of SCIM. A fault of the shape of a request is an `invalidValue`. */
export function toScimError({ status, reason, code, message }: AppError): Static<typeof ScimError> {
  const type = code ?? scimTypes[reason]
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(type === undefined ? {} : { scimType: type }),
    detail: message,
  }
}

const scimTypes: Partial<Record<AppError['reason'], string>> = {
  validation_failed: 'invalidValue',
  malformed_body: 'invalidSyntax',
  malformed_request: 'invalidSyntax',
}

import { type Static, type TSchema, Type } from 'typebox'
import { idPattern } from '../lib/ids.ts'
import { keptImagePattern } from '../lib/image-file.ts'
import * as limits from '../lib/limits.ts'
import { decimalPattern, rawAmountPattern } from '../lib/money.ts'
import { type Reason, reasons } from '../lib/reasons.ts'
import { vocabulary } from './vocabulary.ts'

/** Building blocks of the wire format. Every leaf has an example, from which the examples of OpenAPI are made. */

export const Id = Type.String({ pattern: idPattern, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] })
export const DecimalAmount = Type.String({
  pattern: decimalPattern,
  description: 'In token units; never more fraction digits than the token has decimals.',
  examples: ['1.5'],
})
export const RawAmount = Type.String({
  pattern: rawAmountPattern,
  description: 'In the smallest unit of the token.',
  examples: ['1500000'],
})
/** The USD value of a booked network fee. */
export const FeeUsdValue = Type.Union([Type.String(), Type.Null()], {
  description:
    'USD value of the network fee at the rate of the time at which it was booked; null before, and if no rate was fresh then.',
  examples: ['0.63'],
})
export const Color = Type.String({
  pattern: '^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$',
  examples: ['#1d4ed8'],
})
export const Emoji = Type.String({ minLength: 1, maxLength: 32, examples: ['🏦'] })
/**
 * The address of an image: at another host over HTTPS, because pages load images of other hosts only over HTTPS, or the path of an
 * image that the service keeps (`uriOfImage`).
 */
export const Uri = Type.String({
  pattern: `^(https://[^\\s]+|${keptImagePattern})$`,
  maxLength: limits.uriLengthMax,
  description:
    'Address of an image: an HTTPS URL, or the path of an image that the service keeps, such as `/api/v1/images/…`.',
  examples: ['https://example.org/logo.png'],
})
export const Name = Type.String({
  minLength: 1,
  maxLength: limits.nameLengthMax,
  pattern: '\\S',
  examples: ['Treasury'],
})
export const Description = Type.String({ maxLength: limits.descriptionLengthMax, examples: ['Working capital'] })
export const emailPattern = '^[^\\s@"<>(),:;\\\\]{1,64}@[^\\s@"<>(),:;\\\\]+$'
export const Email = Type.String({
  maxLength: limits.emailLengthMax,
  pattern: emailPattern,
  examples: ['treasurer@example.org'],
})
/** The code of a group or policy. */
export const Code = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$', examples: ['treasury'] })
export const VaultCode = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,62}$', examples: ['main-vault'] })
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: limits.tagLengthMax, examples: ['payroll'] }), {
  maxItems: limits.tagsMax,
  uniqueItems: true,
})

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Returns a set of string constants as one JSON Schema `enum`. */
export const Enum = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...values], examples: [values[0]] }))

/**
 * Returns an object that refuses unknown members: a misspelt field must never be ignored. A property without a description gets
 * the description of its name in the vocabulary.
 */
export const Closed = <T extends Record<string, TSchema>>(
  properties: T,
  options: { $id?: string; description?: string; examples?: unknown[] } = {},
) => Type.Object(describedByName(properties), { additionalProperties: false, ...options })

function describedByName<T extends Record<string, TSchema>>(properties: T): T {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const text = vocabulary[name]
    return [name, text === undefined || describesItself(schema) ? schema : described(schema, text)]
  })
  return Object.fromEntries(entries) as T
}

function describesItself(schema: TSchema): boolean {
  const { $ref, description, anyOf } = schema as { $ref?: string; description?: string; anyOf?: TSchema[] }
  // A component has its own description. The document has no description beside a reference.
  return $ref !== undefined || description !== undefined || (anyOf ?? []).some(describesItself)
}

/**
 * Returns the schema with another description. It keeps the marks that are not enumerable, such as the mark of an optional
 * property.
 */
export const described = <T extends TSchema>(schema: T, description: string): T =>
  Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(schema), description: { value: description, enumerable: true } },
  ) as T

/** Returns a property that may be left out. */
export const optional = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(described(schema, description))

/** Refers to a named component and keeps its static type (`Type.Ref` infers unknown: sinclairzx81/typebox#1494). */
export const Ref = <T extends TSchema & { $id?: string }>(schema: T) => {
  const name = (schema as { $id?: string }).$id
  if (name === undefined) throw new Error('Only a schema with an $id can be referred to')
  return Type.Unsafe<Static<T>>(Type.Ref(name))
}

/**
 * Lets the OpenAPI document describe a part of a request by a component, while the request is checked by the schema. Code then
 * checks that part, with better messages than a union of many schemas can give.
 */
export const published =
  (component: string) =>
  <T extends TSchema>(schema: T): T =>
    Object.assign(schema, { 'x-published': component })

export const Username = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{1,31}$',
  description: 'Unique regardless of case.',
  examples: ['treasurer'],
})

/** The public profile of a person or service, for initiators, approvers and owners. */
export const Profile = Closed(
  {
    id: Id,
    name: Nullable(Name),
    email: Nullable(Type.String({ description: 'null for a service.', examples: ['treasurer@example.org'] })),
    username: Nullable(Username),
    image: Nullable(Uri),
    color: Nullable(Color),
    emoji: Nullable(Emoji),
  },
  { $id: 'Profile', description: 'Public profile of a person or a service.' },
)
export type Profile = Static<typeof Profile>

/** The kinds of users. */
export const userKinds = ['person', 'service'] as const

/** The profile beside an id, for members of the vault. It has no e-mail address. */
export const MemberProfile = Closed(
  {
    userId: Id,
    kind: described(Enum(userKinds), '`person` for a user who signs in, `service` for a program with a service token.'),
    name: described(Name, 'Name; the username or the id if the person chose no name.'),
    image: Nullable(Uri),
  },
  { $id: 'MemberProfile', description: 'Profile of a user, for people to read.' },
)
export type MemberProfile = Static<typeof MemberProfile>

/** The profile beside an id. It is null unless the id is that of a user of this service. */
export const ProfileBeside = described(
  Nullable(Type.Unsafe<MemberProfile>(Type.Ref('MemberProfile'))),
  'Profile of the user with the id; null if no user of this service has it.',
)

/** Returns the answer of every list: `items` and the cursor of the next page, null at the end. */
export const PageOf = <T extends TSchema>(item: T) =>
  Closed({ items: Type.Array(item), nextCursor: Nullable(Type.String({ examples: ['MTc2ODAuY21pOGgyazFw'] })) })

export const pageQuery = {
  limit: Type.Optional(
    described(
      Type.Integer({ minimum: 1, maximum: limits.pageItemsMax, default: limits.pageItemsDefault, examples: [20] }),
      'Maximum number of items on a page; a page may have fewer, even if it is not the last.',
    ),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'nextCursor of the previous page.' })),
}

/** The query of a list that has no filters. */
export const PageQuery = Closed(pageQuery)

/** Query parameters that restrict lists and sums to a part of the data that the caller may see. */
export const FolderFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Restricts the list to addresses of this folder. A folder that the caller may not see is empty.',
  }),
)
export const IncludeShared = Type.Optional(
  Type.Boolean({
    description:
      'true includes what others share with the caller. Ignored for administrators, who see the whole vault.',
    examples: [false],
  }),
)

/** An id in a request. Any text is accepted, so that an unknown id is a 404 and not a 400. */
export const GivenId = Type.String({ minLength: 1, maxLength: 128, examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })

/** The meanings of the names in paths. An endpoint may describe its own parameters more precisely. */
export const pathParameters = {
  code: described(Type.String({ minLength: 1, maxLength: 63, examples: ['main-vault'] }), 'Code of the vault.'),
  id: described(GivenId, 'Identifier of the resource.'),
}

export const ErrorSchema = Type.Object(
  {
    error: described(Type.String({ examples: ['Bad Request'] }), 'Name of the HTTP status.'),
    message: described(
      Type.String({ examples: ['amount: must be a decimal string'] }),
      'Explanation of the error for people; the wording may change.',
    ),
    code: described(Type.Union([Type.Integer({ examples: [400] }), Type.String()]), 'HTTP status as a number.'),
    reason: Type.Unsafe<Reason>(
      Type.String({
        enum: Object.keys(reasons),
        description: 'Reason of the error, for programs. docs/errors.md explains each reason.',
        examples: ['validation_failed'],
      }),
    ),
    details: Type.Optional(
      described(
        Type.Union([
          Type.Array(
            Closed({
              field: described(Type.String({ examples: ['amount'] }), 'Path of the field, parameter or header.'),
              message: described(Type.String({ examples: ['must be a decimal string'] }), 'The fault of the field.'),
              line: Type.Optional(
                Type.Integer({
                  minimum: 1,
                  description: 'Of a payout: the number of the row, or the line of the file.',
                  examples: [17],
                }),
              ),
            }),
          ),
          Type.String(),
        ]),
        'For `validation_failed`, the fields with their faults; otherwise a further sentence about the cause, if there is one.',
      ),
    ),
    requestId: Type.String({
      description:
        'Identifies the request in the log of the service. In a repeated answer it is the id of the first request; the header ' +
        'X-Request-Id has the id of each request.',
      examples: ['0b6c9d3e-8f57-4f7e-9a55-1c2d3e4f5a6b'],
    }),
  },
  { $id: 'Error', additionalProperties: false },
)

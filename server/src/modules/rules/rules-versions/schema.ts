import { Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, ProfileBeside, Ref, Timestamp } from '../../../http/schema.ts'
import { Fingerprint } from '../signatures/schema.ts'
import { differenceKinds } from './difference.ts'
import { directions } from './direction.ts'
import { RulesDocument } from './document-schema.ts'

const Part = (text: string) =>
  described(
    Nullable(
      Type.Unsafe<object>({
        type: 'object',
        additionalProperties: true,
        examples: [{ code: 'large', approvalThreshold: 2 }],
      }),
    ),
    text,
  )
export const Differences = described(
  Type.Array(
    Closed({
      kind: described(Enum(differenceKinds), 'Part of the rules.'),
      id: described(
        Nullable(Type.String({ examples: ['cmi8h2k1p0a1b2c3d4e5f6g7h'] })),
        'Identifier of the part that differs; null if the document has only one part of this kind.',
      ),
      name: described(Type.String({ examples: ['Large payments'] }), 'Name for people to read.'),
      before: Part('The part in the first document; null for a new part.'),
      after: Part('The part in the second document; null for a removed part.'),
    }),
  ),
  'The parts that differ, in the order of the document.',
)

const Direction = Enum(directions)
export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2147483647, examples: [7] })
const directionText = 'It compares the change with the previous version, and is computed by the service.'
export const ResultingDirection = described(
  Direction,
  `\`tightening\` if it can only make decisions stricter. ${directionText}`,
)

const versionFields = {
  number: described(VersionNumber, 'Number of the version; the first is 1.'),
  hash: described(Fingerprint, 'SHA-256 of the canonical JSON of the document, in hexadecimal digits.'),
  authorId: described(
    Nullable(Id),
    'User who published the version; null for the first version, and for changes outside of the vault.',
  ),
  author: ProfileBeside,
  changeSetId: described(Nullable(Id), 'The change set that was applied; null for a change by one endpoint.'),
  direction: described(Nullable(Direction), `null for the first version. ${directionText}`),
  createdAt: Timestamp,
}

export const RulesVersionListItem = Closed(versionFields, { $id: 'RulesVersionListItem' })
export const RulesVersion = Closed(
  { ...versionFields, document: Ref(RulesDocument) },
  { $id: 'RulesVersion', description: 'A published state of the rules of a vault.' },
)

export const RulesDifference = Closed(
  {
    from: described(VersionNumber, 'The first version.'),
    to: described(VersionNumber, 'The second version.'),
    direction: ResultingDirection,
    differences: Differences,
  },
  { $id: 'RulesDifference', description: 'Differences between two versions of the rules.' },
)

export const versionParams = { number: described(VersionNumber, 'Number of the version.') }
export const DifferenceQuery = Closed({
  to: described(VersionNumber, 'The version to compare with.'),
})

export const rulesVersionComponents = [RulesDocument, RulesVersionListItem, RulesVersion, RulesDifference]

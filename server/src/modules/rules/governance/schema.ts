import { Type } from 'typebox'
import { Closed, described, Id, Name, Timestamp } from '../../../http/schema.ts'
import { governanceFields } from '../rules-versions/document-schema.ts'

export const Governance = Closed(governanceFields, {
  $id: 'Governance',
  description: 'Votes and delays that changes of the rules of a vault need.',
})
export const GovernanceUpdate = Closed({
  ...governanceFields,
  approverGroupId: Type.Optional(governanceFields.approverGroupId),
})

export const WithheldTokens = Closed({
  items: described(
    Type.Array(
      Closed({
        tokenId: Id,
        code: described(Type.String({ examples: ['USDC'] }), 'Code of the token.'),
        name: Name,
        network: described(Type.String({ examples: ['ethereum'] }), 'Slug of the network.'),
        createdAt: described(Timestamp, 'Instant at which the platform enabled the token, in UTC.'),
      }),
    ),
    'The newest first.',
  ),
})

export const governanceComponents = [Governance]

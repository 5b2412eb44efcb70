import { type Static, Type } from 'typebox'
import { subjectKinds } from '../../../access/memberships.ts'
import { Closed, Code, Description, described, Email, Enum, Id, Name, Nullable } from '../../../http/schema.ts'
import * as limits from '../../../lib/limits.ts'
import { ActionType, ConditionType, PolicyEffect } from '../decisions/schema.ts'
import { MemberUserId } from '../policy-groups/schema.ts'

/**
 * The rules of a vault as one document. Governance applies to changes of this document and to no others. Each list has one
 * order, so that equal rules have equal documents.
 */

/** The changes of the values of a category that wait for votes, in a category that requires votes. */
export const categoryApprovalScopes = ['edit', 'assign_and_edit'] as const

const Approver = Closed({
  kind: described(Enum(subjectKinds), '`user` for a member of the vault, `group` for the members of a policy group.'),
  id: described(MemberUserId, 'Identifier of the member or of the policy group.'),
})
const Approvers = described(
  Type.Array(Approver),
  'Approvers, by kind and id. If empty, the administrators are the approvers.',
)
const PolicyApprover = Closed({
  ...Approver.properties,
  threshold: described(
    Nullable(Type.Integer({ minimum: 1, examples: [1] })),
    'Number of votes that must come from this group; null if no number is required.',
  ),
})
const Threshold = described(Type.Integer({ minimum: 0, examples: [2] }), 'Number of approvals required.')
const Hours = (text: string) =>
  Type.Integer({ minimum: 0, maximum: limits.governanceDelayHoursMax, description: text, examples: [24] })
const Fingerprint = (text: string) =>
  described(Nullable(Type.String({ examples: ['9f86d081884c7d65'] })), `${text}; never the secret itself.`)

export const governanceFields = {
  threshold: Type.Integer({
    minimum: 0,
    maximum: limits.approvalThresholdMax,
    description: 'Number of people besides the author who must approve a change of the rules; 0 if governance is off.',
    examples: [2],
  }),
  approverGroupId: described(Nullable(Id), 'The policy group whose members vote; null for the administrators.'),
  looseningDelayHours: Hours('Hours for which an approved change that may permit more waits before it takes effect.'),
  tighteningDelayHours: Hours(
    'Hours for which an approved change that can only make decisions stricter waits before it takes effect.',
  ),
}

const Group = Closed({
  id: Id,
  code: Code,
  name: Name,
  description: Nullable(Description),
  isSystem: Type.Boolean({ description: 'True if the group was created with the vault.', examples: [false] }),
  members: described(Type.Array(MemberUserId), 'Identifiers of the members, sorted.'),
})

const Policy = Closed({
  id: Id,
  groupId: described(Id, 'Identifier of the policy group that the policy belongs to.'),
  code: Code,
  name: Name,
  description: Nullable(Description),
  actionType: ActionType,
  effect: described(PolicyEffect, 'Effect of the policy when its rules match.'),
  blockReason: Nullable(
    Type.String({ description: 'The message for the initiator.', examples: ['Payments stop at the weekend'] }),
  ),
  approvalThreshold: Threshold,
  adminBypass: Type.Boolean({ description: 'Waives the approval for an administrator.', examples: [false] }),
  allowInitiatorApproval: Type.Boolean({ examples: [false] }),
  enabled: described(Type.Boolean({ examples: [true] }), 'True if the policy takes part in decisions.'),
  rules: described(
    Type.Array(
      Closed({
        conditionType: ConditionType,
        selectors: Type.Array(
          Closed({
            selectorType: Type.String({ examples: ['amount'] }),
            value: Type.Unknown({ description: 'As in a policy.', examples: [{ op: 'gt', value: '1000' }] }),
          }),
        ),
      }),
    ),
    'All rules must hold for the policy to match.',
  ),
  approvers: described(
    Type.Array(PolicyApprover),
    'Approvers, by kind and id. If empty, all members of the group are approvers.',
  ),
})

const Scope = (what: string) =>
  described(
    Type.String({ examples: ['owner_only'] }),
    `Users who may ${what}: \`owner_only\`, \`vault_members\` or \`restricted\`.`,
  )
const FieldKeys = (what: string) => described(Type.Array(Type.String({ examples: ['cost_center'] })), what)

const CategoryRights = Closed({
  id: Id,
  key: described(Type.String({ examples: ['payroll'] }), 'Key of the category.'),
  appliesTo: described(Type.String({ examples: ['both'] }), '`transfer`, `deposit` or `both`.'),
  archived: described(Type.Boolean({ examples: [false] }), 'True if the category accepts no new operations.'),
  viewScope: Scope('see its values'),
  assignScope: Scope('declare and assign it'),
  editScope: Scope('edit its values'),
  requiredFields: FieldKeys(
    'Keys of the required fields, sorted. An order cannot declare a category with such a field.',
  ),
  sensitiveFields: FieldKeys('Keys of the sensitive fields, sorted. Only people who may edit see their values.'),
  grants: described(
    Type.Array(
      Closed({
        subject: described(
          Type.String({ examples: ['user:cmi8h2k1p0a1b2c3d4e5f6g7h'] }),
          '`user:<id>` or `group:<id>`.',
        ),
        canView: described(Type.Boolean({ examples: [true] }), 'True if the subject may see the values.'),
        canAssign: described(
          Type.Boolean({ examples: [true] }),
          'True if the subject may declare and assign the category.',
        ),
        canEdit: described(
          Type.Boolean({ examples: [false] }),
          'True if the subject may edit values and the category.',
        ),
      }),
    ),
    'Grants by subject.',
  ),
})

export const RulesDocument = Closed(
  {
    schemaVersion: described(Type.Integer({ minimum: 1, examples: [1] }), 'Version of this form, 1.'),
    governance: described(Closed(governanceFields), 'Votes and delays that changes of these rules need.'),
    groups: described(Type.Array(Group), 'Policy groups with their members, by code.'),
    policies: described(Type.Array(Policy), 'Policies, by code.'),
    invitations: described(
      Type.Array(
        Closed({
          email: described(Email, 'E-mail address that was invited.'),
          groupIds: described(Type.Array(Id), 'The policy groups to join, sorted.'),
        }),
      ),
      'Pending invitations, by e-mail address.',
    ),
    categories: described(
      Type.Array(
        Closed({
          id: Id,
          key: described(Type.String({ examples: ['invoice'] }), 'Key of the category.'),
          approvalScope: described(Enum(categoryApprovalScopes), 'Changes of values that wait for votes.'),
          approvalThreshold: Threshold,
          allowInitiatorApproval: Type.Boolean({ examples: [false] }),
          approvers: Approvers,
        }),
      ),
      'Operation categories whose values are approved, by key.',
    ),
    wallet: described(
      Closed({
        url: described(Type.String({ examples: ['https://wallet.example.org'] }), 'Address of the wallet service.'),
        secretFingerprint: Fingerprint('Names the secret of the wallet service'),
        webhookSecretFingerprint: Fingerprint('Names the secret of its webhooks'),
        protection: Type.Optional(
          described(
            Enum(['votes']),
            'With `votes`, every order needs signed votes; without this field, sessions suffice.',
          ),
        ),
      }),
      'The wallet service, which holds the keys.',
    ),
    tokens: described(
      Type.Array(
        Closed({
          id: Id,
          network: described(Type.String({ examples: ['ethereum'] }), 'Slug of the network.'),
          code: described(Type.String({ examples: ['USDC'] }), 'Code of the token.'),
          symbol: Type.Optional(
            described(Type.String({ examples: ['USDC'] }), 'Symbol that is shown beside an amount.'),
          ),
          name: Type.Optional(Name),
          contractAddress: Type.Optional(
            described(
              Nullable(Type.String({ examples: ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'] })),
              'Contract of the token; null for the coin of the network.',
            ),
          ),
          decimals: Type.Optional(
            Type.Integer({ minimum: 0, description: 'Number of decimals of the token.', examples: [6] }),
          ),
          dustLimit: Type.Optional(
            described(
              Nullable(Type.String({ examples: ['10000'] })),
              'Deposits below this amount, in the smallest unit, are dust; null if no deposit is dust.',
            ),
          ),
        }),
      ),
      'Enabled tokens of the networks of the vault, by network and code. Earlier versions have network and code alone.',
    ),
    variants: described(
      Type.Array(
        Closed({
          id: Id,
          route: described(Type.String({ examples: ['purpose'] }), 'Code of the route.'),
          code: described(Type.String({ examples: ['ops'] }), 'Code of the variant.'),
          pathId: described(
            Type.Integer({ minimum: 0, examples: [1] }),
            'Value of the variant in the derivation path.',
          ),
          name: Name,
          enabled: described(Type.Boolean({ examples: [true] }), 'True if new addresses may use the variant.'),
          tokenId: described(Nullable(Id), 'Identifier of the primary token; null for none.'),
        }),
      ),
      'Variants of the routes, by route and value.',
    ),
    serviceKeys: Type.Optional(
      described(
        Type.Array(
          Closed({
            id: Id,
            userId: described(Id, 'Identifier of the service.'),
            name: Name,
            fingerprint: Type.String({
              description: 'SHA-256 of the public key.',
              examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
            }),
          }),
        ),
        'Keys with which services sign, by id; left out if there are none.',
      ),
    ),
    categoryRights: Type.Optional(
      described(
        Type.Array(CategoryRights),
        'Rights to see, declare and edit operation categories, by key; absent if there are none, and in earlier versions.',
      ),
    ),
    folders: Type.Optional(
      described(
        Type.Array(
          Closed({
            id: Id,
            name: Name,
            addressIds: described(Type.Array(Id), 'Identifiers of the addresses in the folder, sorted.'),
          }),
        ),
        'Folders that a rule of a policy names, by id; left out if there are none, and in earlier versions.',
      ),
    ),
  },
  {
    $id: 'RulesDocument',
    description: 'The rules of a vault at one version, in one stable order, and never a secret.',
  },
)
export type RulesDocument = Static<typeof RulesDocument>
export type GovernanceSettings = RulesDocument['governance']
export type RulesPolicy = RulesDocument['policies'][number]
export type RulesGroup = RulesDocument['groups'][number]
export type RulesCategory = RulesDocument['categories'][number]
export type RulesCategoryRights = NonNullable<RulesDocument['categoryRights']>[number]
export type RulesVariant = RulesDocument['variants'][number]

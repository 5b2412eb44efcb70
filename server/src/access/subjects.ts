/** What a grant or a list of approvers names: a person, or a policy group for all its members. */
export const subjectKinds = ['user', 'group'] as const
export type SubjectKind = (typeof subjectKinds)[number]

export const peopleTabs = ['members', 'groups', 'invitations', 'tokens'] as const
export type PeopleTab = (typeof peopleTabs)[number]

export const rulesTabs = ['changes', 'versions', 'settings'] as const
export type RulesTab = (typeof rulesTabs)[number]

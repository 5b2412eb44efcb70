/**
 * The German texts by the English text in the code: one file per folder of `features`, and `lib`, `routes`, `ui`.
 * `de-more.ts` has the second half, so that no script grows too large.
 */
const files = import.meta.glob<Record<string, string>>('./de/[a-m]*.json', { eager: true, import: 'default' })

export const messages: Record<string, string> = Object.assign({}, ...Object.values(files))

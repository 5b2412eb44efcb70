/** All German texts, by the English text in the code. One file per folder of `features`, and `lib`, `routes`, `ui`. */
const files = import.meta.glob<Record<string, string>>('./de/*.json', { eager: true, import: 'default' })

export const messages: Record<string, string> = Object.assign({}, ...Object.values(files))

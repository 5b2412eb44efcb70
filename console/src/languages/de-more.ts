const files = import.meta.glob<Record<string, string>>('./de/[n-z]*.json', { eager: true, import: 'default' })

export const messages: Record<string, string> = Object.assign({}, ...Object.values(files))

export { serviceText } from './de-service.ts'

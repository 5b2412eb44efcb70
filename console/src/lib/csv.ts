import type { CsvAnswer } from './csv-worker.ts'
import workerUrl from './csv-worker.ts?worker&url'
import { t } from './language.ts'

type Policy = { createScriptURL: (url: string) => unknown }
type Factory = { createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => Policy }

/** Permits a single script URL: that of the page's own worker. */
const policy = (globalThis as { trustedTypes?: Factory }).trustedTypes?.createPolicy('strongroom', {
  createScriptURL: (url) => {
    if (url !== workerUrl) throw new TypeError('Only the worker of the console may be started')
    return url
  },
})

/**
 * Reads a CSV file in a worker, so that a long file does not block the page. Detects the delimiter. Returns null if the
 * text is not a CSV file.
 */
export function readCsv(text: string): Promise<string[][] | null> {
  const url = (policy?.createScriptURL(workerUrl) ?? workerUrl) as string
  const worker = new Worker(url, { type: 'module' })
  return new Promise<string[][] | null>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<CsvAnswer>) => resolve(data)
    worker.onerror = (event) => reject(new Error(t('The file could not be read.'), { cause: event.message }))
    worker.postMessage(text)
  }).finally(() => worker.terminate())
}

import { parseCsv } from './parse-csv.ts'

/** The rows of the file, or null if it cannot be read. */
export type CsvAnswer = string[][] | null

addEventListener('message', ({ data }: MessageEvent<string>) => {
  const answer: CsvAnswer = parseCsv(data)
  postMessage(answer)
})

import { parse } from 'papaparse'

/** The rows of the file, or null if it cannot be read. */
export type CsvAnswer = string[][] | null

addEventListener('message', ({ data }: MessageEvent<string>) => {
  const { data: rows, errors } = parse<string[]>(data, {
    skipEmptyLines: 'greedy',
    delimitersToGuess: [',', ';', '\t'],
  })
  const answer: CsvAnswer = errors.some(({ type }) => type === 'Quotes') ? null : rows
  postMessage(answer)
})

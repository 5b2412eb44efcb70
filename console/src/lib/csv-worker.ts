import { parse } from 'papaparse'

/** The answer of the worker: the rows of the file, or a fault if it cannot be read. */
export type CsvAnswer = { rows: string[][] } | { fault: true }

addEventListener('message', ({ data }: MessageEvent<string>) => {
  const { data: rows, errors } = parse<string[]>(data, {
    skipEmptyLines: 'greedy',
    delimitersToGuess: [',', ';', '\t'],
  })
  const isBroken = errors.some(({ type }) => type === 'Quotes')
  const answer: CsvAnswer = isBroken ? { fault: true } : { rows }
  postMessage(answer)
})

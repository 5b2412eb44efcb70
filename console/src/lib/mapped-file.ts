import { useState } from 'react'
import { readCsv } from './csv.ts'
import { type Aliases, knownMapping, type Mapping, rememberMapping, rowsBy } from './csv-columns.ts'
import { t } from './language.ts'

type Wanted<Field extends string> = {
  /** The name under which the columns are remembered. */
  key: string
  aliases: Aliases<Field>
  required: readonly Field[]
  rowsMax: number
  onRows: (rows: Record<Field, string>[], mapping: Mapping<Field>) => void
}

/** A CSV file, whose first line names the columns, and the column of each field. */
type FileRead<Field extends string> = { lines: string[][]; mapping: Mapping<Field> }

/**
 * Reads a CSV file. If the columns of all required fields are known, its rows are passed on at once. Otherwise a person
 * assigns columns to fields, and this mapping is remembered.
 */
export function useMappedFile<Field extends string>({ key, aliases, required, rowsMax, onRows }: Wanted<Field>) {
  const [file, setFile] = useState<FileRead<Field> | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const isComplete = (mapping: Mapping<Field>) => required.every((field) => mapping[field] !== null)
  const read = async (chosen: File) => {
    const lines = await readCsv(await chosen.text())
    const found = faultOf(lines, rowsMax)
    setFault(found)
    if (lines === null || found !== null) return
    const mapping = knownMapping(localStorage, key, lines[0]!, aliases)
    setFile({ lines, mapping })
    if (isComplete(mapping)) onRows(rowsBy(lines, mapping), mapping)
  }
  const setMapping = (mapping: Mapping<Field>) => file !== null && setFile({ ...file, mapping })
  const accept = () => {
    if (file === null) return
    rememberMapping(localStorage, key, file.lines[0]!, file.mapping)
    onRows(rowsBy(file.lines, file.mapping), file.mapping)
  }
  return { file, fault, read, setMapping, isComplete, accept, forget: () => setFile(null) }
}

function faultOf(lines: string[][] | null, rowsMax: number): string | null {
  if (lines === null) return t('This is not a CSV file.')
  if (lines.length < 2) return t('The file has no rows.')
  const values = { count: lines.length - 1, max: rowsMax }
  return values.count > rowsMax ? t('The file has {count} rows; at most {max} are read at once.', values) : null
}

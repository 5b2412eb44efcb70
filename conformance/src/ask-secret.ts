import { CouldNotRun } from './outcomes.ts'

/** The secret of an environment variable, or typed without being shown. Arguments of a command are visible to others. */
export async function askSecret(variable: string): Promise<string> {
  const secretOfVariable = process.env[variable]
  if (secretOfVariable) return secretOfVariable
  if (!process.stdin.isTTY) throw new CouldNotRun(`Set ${variable}`)
  process.stderr.write(`${variable}: `)
  const secret = await readHidden()
  process.stderr.write('\n')
  if (secret === '') throw new CouldNotRun(`${variable} is empty`)
  return secret
}

function readHidden(): Promise<string> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    let typed = ''
    const end = (finish: () => void) => {
      stdin.setRawMode(false).pause().off('data', read)
      finish()
    }
    const read = (chunk: Buffer) => {
      for (const character of chunk.toString('utf8')) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed))
        if (character === '\u0003') return end(() => reject(new CouldNotRun('Interrupted')))
        typed = character === '\u007f' ? typed.slice(0, -1) : typed + character
      }
    }
    stdin.setRawMode(true).resume().on('data', read)
  })
}

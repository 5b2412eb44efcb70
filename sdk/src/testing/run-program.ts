import { execFile } from 'node:child_process'

/** Runs a program with Node.js. Of the environment of this process, the program gets only PATH. */
export function runProgram(
  path: string,
  args: string[],
  environment: Record<string, string>,
): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...environment }
    execFile(process.execPath, [path, ...args], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
    })
  })
}

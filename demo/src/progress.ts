/** Returns the seconds since this process began, including the time before this code was loaded. */
export const secondsSinceStart = (): number => performance.now() / 1000

/** Prints a step of the start with the time when it was done. */
export function reportProgress(step: string): void {
  process.stdout.write(`${secondsSinceStart().toFixed(1).padStart(5)} s  ${step}\n`)
}

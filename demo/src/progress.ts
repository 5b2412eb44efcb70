/** Seconds since this process began, which includes the time before this code was loaded. */
export const secondsSinceStart = (): number => performance.now() / 1000

/** Prints one step of the start and when it was done. */
export function reportProgress(step: string): void {
  process.stdout.write(`${secondsSinceStart().toFixed(1).padStart(5)} s  ${step}\n`)
}

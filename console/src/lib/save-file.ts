import type { FileAnswer } from '@strongroom/sdk'

/** Passes a file of the service to the browser, which saves it among the downloads. */
export async function saveAnswer(answer: FileAnswer, fallback: string): Promise<void> {
  saveBlob(await answer.blob(), answer.name ?? fallback)
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read the file by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** A file that the service sends, such as a report as PDF. Read it once: as a stream, or whole as a Blob. */
export type FileAnswer = {
  /** The name that the service proposes. */
  readonly name: string | null
  readonly contentType: string
  /** The bytes as they arrive. Reading throws a ConnectionError if the file breaks off. */
  readonly stream: ReadableStream<Uint8Array>
  blob(): Promise<Blob>
}

export function fileOf(response: Response): FileAnswer {
  const { headers } = response
  return {
    name: /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? null,
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    stream: response.body ?? new ReadableStream({ start: (controller) => controller.close() }),
    blob: () => response.blob(),
  }
}

/**
 * Returns true for an image of this service. The console shows no images of other hosts, which would learn who looks at
 * a page.
 */
export function isOwnImage(image: string | null | undefined): image is string {
  return image?.startsWith('/api/v1/images/') ?? false
}

/** Returns the opened item as it is now in the list, because its image may change while it is open. */
export function latest<Item extends { id: string }>(rows: readonly Item[], opened: Item): Item {
  return rows.find(({ id }) => id === opened.id) ?? opened
}

/** Returns the first letters of the first two words of a name. */
export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  return words
    .slice(0, 2)
    .map((word) => [...word][0]!.toUpperCase())
    .join('')
}

/** The largest size of an image that the service takes, and the largest width and height that the console makes. */
const bytesMax = 65_536
const pixelsMax = 256

/** Ways to write an image, the best first: with transparency, then ever smaller. */
const ways: readonly [type: string, quality: number][] = [
  ['image/webp', 0.9],
  ['image/png', 1],
  ['image/webp', 0.7],
  ['image/jpeg', 0.85],
  ['image/jpeg', 0.6],
]

/**
 * Draws an image again, small enough for the service. The file itself is not sent, so its metadata, such as the place
 * of a photo, stays here. Returns null if the browser cannot read the file.
 */
export async function smallImageOf(file: Blob): Promise<Blob | null> {
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (bitmap === null) return null
  try {
    const canvas = document.createElement('canvas')
    Object.assign(canvas, fitted(bitmap, pixelsMax))
    const context = canvas.getContext('2d')
    if (context === null) return null
    context.imageSmoothingQuality = 'high'
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    for (const [type, quality] of ways) {
      if (type === 'image/jpeg') fillBehind(context)
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality))
      // A browser that cannot write a type writes another type.
      if (blob !== null && blob.type === type && blob.size <= bytesMax) return blob
    }
    return null
  } finally {
    bitmap.close()
  }
}

/** Returns the size of the picture, scaled to fit into `max` pixels with its proportions. */
export function fitted({ width, height }: { width: number; height: number }, max: number) {
  const scale = Math.min(1, max / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Fills transparent parts with white, because JPEG has no transparency and would show black. */
function fillBehind(context: CanvasRenderingContext2D): void {
  context.globalCompositeOperation = 'destination-over'
  context.fillStyle = 'white'
  context.fillRect(0, 0, context.canvas.width, context.canvas.height)
}

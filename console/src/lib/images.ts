/** The console shows no images of other hosts: those hosts would learn who looks at a page. */
export function isOwnImage(image: string | null | undefined): image is string {
  return image?.startsWith('/api/v1/images/') ?? false
}

/** What is edited as the list has it by now, because its image is changed while it is open. */
export function latest<Item extends { id: string }>(rows: readonly Item[], opened: Item): Item {
  return rows.find(({ id }) => id === opened.id) ?? opened
}

/** The first letters of the first two words of a name, as people would abbreviate it. */
export function initialsOf(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  return words
    .slice(0, 2)
    .map((word) => [...word][0]!.toUpperCase())
    .join('')
}

/** What the service takes at most, and how wide and high the console makes an image at most. */
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
 * Draws an image anew, small enough for the service; of the file itself nothing is sent, neither where a photo was taken nor
 * what else it holds. Null: the browser cannot read it.
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
      // A browser that cannot write a type writes another one.
      if (blob !== null && blob.type === type && blob.size <= bytesMax) return blob
    }
    return null
  } finally {
    bitmap.close()
  }
}

/** The size within which a picture of this size fits, in its own proportions. */
export function fitted({ width, height }: { width: number; height: number }, max: number) {
  const scale = Math.min(1, max / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** JPEG knows no transparency, and would show black. */
function fillBehind(context: CanvasRenderingContext2D): void {
  context.globalCompositeOperation = 'destination-over'
  context.fillStyle = 'white'
  context.fillRect(0, 0, context.canvas.width, context.canvas.height)
}

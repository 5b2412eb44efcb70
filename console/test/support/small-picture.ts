import { createRequire } from 'node:module'

export type Picture = { width: number; height: number; data: Uint8Array }

type Png = { sync: { read(file: Buffer): Picture; write(picture: Picture, options: { colorType: number }): Buffer } }
/** It comes without types. */
const { PNG } = createRequire(import.meta.url)('pngjs') as { PNG: Png }

/** Each point of a small picture is the mean of this many squared. */
const scale = 4
/** Colours are kept in steps of this: a picture is some kilobytes, and small differences of drawing are none. */
const step = 16

export const readPicture = (file: Buffer): Picture => PNG.sync.read(file)
export const writePicture = (picture: Picture): Buffer => PNG.sync.write(picture, { colorType: 2 })

/** Returns a small copy of a picture of a page. It shows that a part moved, disappeared or changed its colour. */
export function smallOf({ width, height, data }: Picture): Picture {
  const [columns, rows] = [Math.floor(width / scale), Math.floor(height / scale)]
  const small = new Uint8Array(columns * rows * 4)
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = (row * columns + column) * 4
      for (let colour = 0; colour < 3; colour += 1) {
        let sum = 0
        for (let point = 0; point < scale * scale; point += 1) {
          const x = column * scale + (point % scale)
          const y = row * scale + Math.floor(point / scale)
          sum += data[(y * width + x) * 4 + colour]!
        }
        small[at + colour] = Math.min(255, Math.round(sum / (scale * scale) / step) * step)
      }
      small[at + 3] = 255
    }
  }
  return { width: columns, height: rows, data: small }
}

/** The characters of the bytes 0x80 to 0x9F in WinAnsiEncoding (ISO 32000-1, annex D); a space where there is none. */
const upper = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

const byteOf = new Map<number, number>()
for (let byte = 0x20; byte <= 0xff; byte += 1) {
  if (byte < 0x7f || byte > 0xa0) byteOf.set(byte, byte)
}
for (const [i, character] of [...upper].entries()) {
  if (character !== ' ') byteOf.set(character.codePointAt(0)!, 0x80 + i)
}
// A soft hyphen would be printed as a visible hyphen, and a no-break space is drawn like a space.
byteOf.delete(0xad)
byteOf.set(0xa0, 0x20)
for (const space of ['\t', '\n', '\r']) byteOf.set(space.charCodeAt(0), 0x20)

/**
 * Text in the encoding of the fonts that every PDF viewer has, one character per byte. A character that they lack is
 * written as `\u{20ae}`, never dropped or replaced, so that the reader can see which character it is.
 */
export function toWinAnsi(text: string): string {
  if (/^[\x20-\x5B\x5D-\x7E]*$/.test(text)) return text
  let encoded = ''
  // Text that looks like such an escape is distinguished from one.
  const marked = text.replace(/\\(?=u\{)/g, spellOut(0x5c)).replaceAll('\r\n', '\n')
  for (const character of marked.normalize('NFC')) {
    const point = character.codePointAt(0)!
    const byte = byteOf.get(point)
    encoded += byte === undefined ? spellOut(point) : String.fromCharCode(byte)
  }
  return encoded
}

const spellOut = (point: number) => `\\u{${point.toString(16)}}`

/** The character that a byte of `toWinAnsi` stands for. */
export function fromWinAnsi(byte: number): string {
  return byte >= 0x80 && byte < 0xa0 ? [...upper][byte - 0x80]! : String.fromCharCode(byte)
}

import { type Html, html } from '../lib/html.ts'

export type Message = { subject: string; text: string; html: string }

/** A list holds the sentences of a paragraph. */
type Paragraph = string | string[]

type Parts = { subject: string; lines: Paragraph[]; button: string; link: string; closing: Paragraph }

const buttonStyle =
  'display:inline-block;padding:.6rem 1.2rem;background:#1d4ed8;color:#fff;border-radius:.4rem;text-decoration:none'

/** Makes the plain text and the HTML of a mail. The content of the lines is escaped. */
export function layOut({ subject, lines, button, link, closing }: Parts): Message {
  const paragraphs: Html[] = lines.map(textOf).map((line) => html`<p style="white-space:pre-line">${line}</p>`)
  const body = html`<!doctype html>
<html lang="en"><body style="font-family:sans-serif;line-height:1.5;color:#16202e;max-width:34rem;overflow-wrap:anywhere">
${paragraphs}
<p><a href="${link}" style="${buttonStyle}">${button}</a></p>
<p style="font-size:.85rem;color:#56606e">Or copy this address into your browser:<br>${link}</p>
<p style="font-size:.85rem;color:#56606e">${textOf(closing)}</p>
</body></html>
`
  return { subject, text: [...lines.map(textOf), link, textOf(closing)].join('\n\n').concat('\n'), html: body.html }
}

function textOf(paragraph: Paragraph): string {
  return typeof paragraph === 'string' ? paragraph : paragraph.join(' ')
}

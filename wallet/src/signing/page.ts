import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { rpIdOf, type SigningConfig } from './settings.ts'

/** `origin`: the origin that requests of the page carry. */
export type SigningPage = { html: string; headers: Record<string, string>; origin: string }

/** `scripts/build-page.js` makes script and style from `wallet/page/`. */
const assets = new URL('./assets/', import.meta.url)

/**
 * Builds the page as one document that contains its script and its style. The page loads nothing else, and its policy admits exactly
 * this script and this style, by their hashes.
 */
export async function buildSigningPage(config: SigningConfig): Promise<SigningPage> {
  const [style, script] = await Promise.all([readAsset('sign.css'), readAsset('sign.js')])
  const { origin } = config
  return { html: documentOf(config, { style, script }), headers: headersOf(config, { style, script }), origin }
}

type Assets = { style: string; script: string }

const readAsset = (name: string) => readFile(new URL(name, assets), 'utf8')

/** The settings admit only origins and hosts without characters that have a meaning in HTML, so nothing is escaped here. */
function documentOf(config: SigningConfig, { style, script }: Assets): string {
  const rpId = rpIdOf(config)
  return `<!doctype html>
<html lang="en" data-origin="${config.origin}" data-console="${config.consoleOrigin}" data-rp-id="${rpId}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Sign · ${rpId}</title>
<style>${style}</style>
</head>
<body>
<main id="main"><noscript>This page needs JavaScript: it computes what you sign.</noscript></main>
<script type="module">${script}</script>
</body>
</html>
`
}

/** Paths at which the page reads the authority in force, and sends signatures that stop an order or cancel a waiting version. */
export const paths = { authority: '/sign/authority', stop: '/sign/stop', cancel: '/sign/authority/cancel' }

function headersOf({ origin }: SigningConfig, { style, script }: Assets): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    `connect-src ${Object.values(paths)
      .map((path) => origin + path)
      .join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    // For browsers that do not know `frame-ancestors`.
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(origin.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`

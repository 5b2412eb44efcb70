const directives = {
  'default-src': ["'self'"],
  'base-uri': ["'self'"],
  'font-src': ["'self'"],
  'form-action': ["'self'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'object-src': ["'none'"],
  'script-src': ["'self'"],
  'script-src-attr': ["'none'"],
  'style-src': ["'self'"],
}

/**
 * The Content-Security-Policy: all that a page uses comes from this origin, and nothing is sent to any other. Pages that
 * show logos may load images over HTTPS from anywhere as well, because that is what the API accepts for them (`Uri` in `schema.ts`).
 */
export function contentPolicy({ showsLogos }: { showsLogos: boolean }): string {
  const allowed = showsLogos ? { ...directives, 'img-src': [...directives['img-src'], 'https:'] } : directives
  return Object.entries(allowed)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join(';')
}

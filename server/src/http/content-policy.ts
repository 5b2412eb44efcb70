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
 * Returns the Content-Security-Policy: a page uses only resources of this origin, and sends nothing to another. Pages that show
 * logos may also load images over HTTPS from any host, because the API accepts those (`Uri` in `schema.ts`).
 */
export function contentPolicy({ showsLogos }: { showsLogos: boolean }): string {
  const allowed = showsLogos ? { ...directives, 'img-src': [...directives['img-src'], 'https:'] } : directives
  return Object.entries(allowed)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join(';')
}

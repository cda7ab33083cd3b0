/** The header with which a browser shows or downloads a file under its name. */

/** @param name can contain any characters; those that are not ASCII are encoded as RFC 5987 defines */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const ascii = name.replace(/[^\x20-\x7E]|["\\%]/g, '_')
  if (ascii === name) return `${kind}; filename="${name}"`
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, found => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

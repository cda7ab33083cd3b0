/** Cleans the name of an uploaded file. The name is only shown and offered for downloads. No file is stored under it. */

/** The length of a name in UTF-16 units. */
const MAX_LENGTH = 150
const MAX_EXTENSION = 16

/** Controls, and characters that are invisible or change the direction of text: `exe.gpj` could look like `jpg.exe`. */
// eslint-disable-next-line no-control-regex -- the controls are what must be removed
const INVISIBLE = /[\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g
const FORBIDDEN = /[<>:"|?*]/g
/** The lookbehind keeps the search linear: only the first character of a run is tried. */
const EDGES = /^[\s.]+|(?<![\s.])[\s.]+$/g
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** @returns the name without folders and without characters that a file system or a header could interpret, or `file`. */
export function cleanName(sent: string): string {
  // Browsers encode these characters in the name of a form's file.
  const decoded = sent.replace(/%(?:22|0D|0A)/gi, '_')
  const base = decoded.toWellFormed().normalize('NFC').replace(INVISIBLE, '').split(/[/\\]/).at(-1)!
  const trimmed = base.replace(FORBIDDEN, '_').replace(EDGES, '')
  const safe = DEVICE.test(trimmed) ? `_${trimmed}` : trimmed
  return shorten(safe) || 'file'
}

/** Cuts the middle of a long name, so that the extension stays. */
function shorten(name: string): string {
  if (name.length <= MAX_LENGTH) return name
  const extension = extensionOf(name)
  const end = extension === undefined ? '' : `.${extension}`
  return name.slice(0, MAX_LENGTH - end.length).toWellFormed().replace(/[\s.\uFFFD]+$/, '') + end
}

/** Returns the extension in lower case, without its dot. A name has no extension if nothing is before the dot. */
export function extensionOf(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
  return extension !== '' && extension.length <= MAX_EXTENSION ? extension : undefined
}

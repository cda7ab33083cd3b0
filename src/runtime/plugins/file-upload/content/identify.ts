/** Finds the type of a file from its content, and refuses a file whose content, name and declared type contradict each other. */
import { extensionOf } from './name'
import { FILE_TYPES, findType, isKnownExtension, type FileType } from './types'

/** What the client says about a file. It decides only between types that the content can have. */
export interface Claim {
  readonly name?: string
  /** The declared media type, in lower case and without parameters. */
  readonly type?: string
}

/** Why no accepted type fits. */
export type Refusal = 'content' | 'type' | 'name'

/** Declared types that say nothing. */
const UNKNOWN = ['', 'application/octet-stream', 'binary/octet-stream']

/**
 * @param head the first bytes of the content
 * @param accepted the types that the field accepts
 */
export function identify(head: Uint8Array, claim: Claim, accepted: readonly FileType[]): FileType | Refusal {
  const possible = typesOfContent(head).filter(type => accepted.includes(type))
  if (possible.length === 0) return 'content'
  const declared = narrowByType(possible, claim.type ?? '')
  if (declared.length === 0) return 'type'
  const named = narrowByName(declared, claim.name)
  return named[0] ?? 'name'
}

function narrowByType(possible: readonly FileType[], declared: string): readonly FileType[] {
  if (UNKNOWN.includes(declared)) return possible
  const type = findType(declared)
  // Programs send text of any kind as plain text.
  if (type?.type === 'text/plain') return possible.filter(({ text }) => text === 'plain')
  return possible.filter(candidate => candidate === type)
}

function narrowByName(possible: readonly FileType[], name: string | undefined): readonly FileType[] {
  const extension = extensionOf(name ?? '') ?? ''
  if (!isKnownExtension(extension)) return possible
  return possible.filter(({ extensions }) => extensions.includes(extension))
}

/** Returns the types that content can have, those of a more specific form first: a document of Office is also an archive. */
function typesOfContent(head: Uint8Array): readonly FileType[] {
  const marked = FILE_TYPES.filter(({ matches }) => matches?.(head))
  if (marked.length > 0) return marked
  const text = decodeHead(head)
  if (text === undefined) return []
  const markup = markupTypeOf(text)
  return FILE_TYPES.filter(type => markup === undefined ? type.text === 'plain' : type.type === markup)
}

/** The last character of the first bytes can be incomplete. */
function decodeHead(head: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return hasBinary(text) ? undefined : text
  }
  catch {
    return undefined
  }
}

/** Whether text contains controls that no text file has. */
// eslint-disable-next-line no-control-regex -- the controls are what must be found
export const hasBinary = (text: string): boolean => /[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/.test(text)

/** Elements with which browsers recognize a document. */
const ELEMENTS = [
  'html', 'head', 'body', 'script', 'iframe', 'svg', 'object', 'embed', 'frameset', 'meta', 'link', 'base', 'style', 'template', 'math',
  'form', 'img', 'xsl:\\w+',
]
const MARKUP = new RegExp(`<(?:!doctype|!--|\\?xml|\\?php|%|(?:${ELEMENTS.join('|')})[\\s>/])`, 'i')

/** Whether text contains markup that a browser could run. */
export const hasMarkup = (text: string): boolean => MARKUP.test(text)

function markupTypeOf(text: string): string | undefined {
  if (!hasMarkup(text) && !/^\s*<[a-z!?/]/i.test(text)) return undefined
  const root = (/<([a-z][\w:.-]*)/i.exec(text)?.[1] ?? '').toLowerCase()
  if (root === 'svg' || root.endsWith(':svg')) return 'image/svg+xml'
  return /<!doctype\s+html|<html[\s>]/i.test(text) || !/^\s*<\?xml/i.test(text) ? 'text/html' : 'application/xml'
}

/** Reads Markdown as a tree that a page shows without any HTML of the text. It knows what people write most: blocks and inline marks. */

export type Inline
  = | { readonly kind: 'text' | 'code', readonly text: string }
    | { readonly kind: 'strong' | 'em' | 'del', readonly children: readonly Inline[] }
    | { readonly kind: 'link', readonly to: string, readonly children: readonly Inline[] }
    | { readonly kind: 'break' }

export type Block
  = | { readonly kind: 'heading', readonly level: number, readonly children: readonly Inline[] }
    | { readonly kind: 'paragraph', readonly children: readonly Inline[] }
    | { readonly kind: 'code', readonly text: string }
    | { readonly kind: 'quote', readonly blocks: readonly Block[] }
    | { readonly kind: 'list', readonly ordered: boolean, readonly items: readonly (readonly Inline[])[] }
    | { readonly kind: 'rule' }

const FENCE = /^\s{0,3}(`{3,}|~{3,})/
const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const QUOTE = /^\s{0,3}> ?/
const ITEM = /^\s*(?:([-*+])|\d{1,9}[.)])\s+/
/** Deeper quotes stay text. */
const MAX_DEPTH = 8

export function parseMarkdown(text: string, depth = 0): Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  const isQuote = (line: string) => depth < MAX_DEPTH && QUOTE.test(line)
  const startsBlock = (line: string) => [FENCE, HEADING, RULE, ITEM].some(one => one.test(line)) || isQuote(line)
  /** Returns the lines from the current one for as long as they fit. */
  const takeWhile = (fits: (line: string) => boolean) => {
    const start = at
    while (at < lines.length && fits(lines[at]!)) at++
    return lines.slice(start, at)
  }
  let at = 0
  while (at < lines.length) {
    const line = lines[at]!
    const fence = FENCE.exec(line)?.[1]
    const heading = HEADING.exec(line)
    if (line.trim() === '') at++
    else if (fence !== undefined) {
      at++
      blocks.push({ kind: 'code', text: takeWhile(one => !one.trimStart().startsWith(fence)).join('\n') })
      at++
    }
    else if (heading) {
      at++
      blocks.push({ kind: 'heading', level: heading[1]!.length, children: parseInline(heading[2]!.replace(/\s+#+\s*$/, '')) })
    }
    else if (RULE.test(line)) {
      at++
      blocks.push({ kind: 'rule' })
    }
    else if (isQuote(line)) {
      blocks.push({ kind: 'quote', blocks: parseMarkdown(takeWhile(isQuote).map(one => one.replace(QUOTE, '')).join('\n'), depth + 1) })
    }
    else if (ITEM.test(line)) blocks.push(toList(takeWhile(one => ITEM.test(one) || /^\s+\S/.test(one))))
    else {
      // The first line is part of it in any case.
      at++
      const rest = takeWhile(one => one.trim() !== '' && !startsBlock(one))
      blocks.push({ kind: 'paragraph', children: parseInline([line, ...rest].join('\n')) })
    }
  }
  return blocks
}

/** An indented line without a mark continues the item before it. */
function toList(lines: readonly string[]): Block {
  const items: string[] = []
  for (const line of lines) {
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`)
  }
  return { kind: 'list', ordered: ITEM.exec(lines[0]!)?.[1] === undefined, items: items.map(item => parseInline(item)) }
}

interface Rule {
  readonly pattern: RegExp
  /** Whether the second group is allowed. */
  readonly fits?: (second: string) => boolean
  readonly create: (first: string, second: string, inside: (text: string) => Inline[]) => Inline
}

const around = (pattern: RegExp, kind: 'strong' | 'em' | 'del'): Rule =>
  ({ pattern, create: (text, _, inside) => ({ kind, children: inside(text) }) })

/** Of two marks at the same place, the first one counts. */
const RULES: readonly Rule[] = [
  { pattern: /`([^`\n]+)`/g, create: text => ({ kind: 'code', text }) },
  {
    pattern: /\[([^[\]\n]{1,500})\]\(([^()\s]{1,2000})\)/g, fits: to => isSafeLink(to),
    create: (text, to, inside) => ({ kind: 'link', to, children: inside(text) }),
  },
  { pattern: /<(https?:\/\/[^<>\s]{1,2000})>/g, create: to => ({ kind: 'link', to, children: [{ kind: 'text', text: to }] }) },
  around(/\*\*([^*\n]+)\*\*/g, 'strong'),
  around(/\b__([^_\n]+)__\b/g, 'strong'),
  around(/~~([^~\n]+)~~/g, 'del'),
  around(/\*([^*\s][^*\n]*)\*/g, 'em'),
  around(/\b_([^_\s][^_\n]*)_\b/g, 'em'),
  { pattern: /(?: {2}|\\)\n/g, create: () => ({ kind: 'break' }) },
]

/** A link of a text can be a page of the web, an address of mail, or a place of the app. Anything else, such as `javascript:`, is text. */
export const isSafeLink = (to: string): boolean => /^(?:https?:\/\/|mailto:|#|\/(?![/\\]))/i.test(to)

function parseInline(text: string): Inline[] {
  const nodes: Inline[] = []
  // A mark that is not in the text is not in the rest of it either.
  let rules = RULES
  let rest = text
  while (rest !== '') {
    const found = rules.flatMap((rule) => {
      const mark = findMark(rest, rule)
      return mark ? [{ rule, mark }] : []
    })
    rules = found.map(({ rule }) => rule)
    let next: Mark | undefined
    for (const { mark } of found) if (!next || mark.index < next.index) next = mark
    const before = rest.slice(0, next?.index)
    if (before !== '') nodes.push({ kind: 'text', text: before })
    if (!next) break
    nodes.push(next.create())
    rest = rest.slice(next.index + next.length)
  }
  return nodes
}

interface Mark { readonly index: number, readonly length: number, readonly create: () => Inline }

function findMark(text: string, { pattern, fits, create }: Rule): Mark | undefined {
  for (const { 0: all, 1: first = '', 2: second = '', index } of text.matchAll(pattern)) {
    if (!fits || fits(second)) return { index, length: all.length, create: () => create(first, second, parseInline) }
  }
  return undefined
}

/** Changes a page for the site: the layout shows its title, its links lead to routes, its anchors are those of GitHub. */
import { resolveLink, toAnchor } from './links.ts'

/** An element of Minimark: its tag, its attributes, its content. */
export type Node = string | [tag: string, props: Record<string, unknown>, ...children: Node[]]

interface TocLink {
  id: string
  children?: TocLink[]
}

export interface Body {
  value: Node[]
  toc?: { links: TocLink[] }
}

/** The target of a link that has none on the site. */
const NOWHERE = 'nowhere:'

/** Changes the links before the page is parsed, because the parser changes those to `.md` files itself. Code stays as it is. */
export function changeLinks(markdown: string, file: string, repository: string): string {
  return markdown.replace(/^```[\s\S]+?^```$|`[^`\n]+`|\]\(([^)\s]+)\)/gm, (text, link: string | undefined) =>
    link === undefined ? text : `](${resolveLink(file, link, repository) ?? NOWHERE})`)
}

/** Changes the parsed page. */
export function changeBody(body: Body): void {
  if (Array.isArray(body.value[0]) && body.value[0][0] === 'h1') body.value.shift()
  const anchors = new Map<unknown, string>()
  body.value = body.value.map(node => changeNode(node))
  renameLinks(body.toc?.links ?? [])

  function changeNode(node: Node): Node {
    if (typeof node === 'string') return node
    const [tag, props, ...children] = node
    const content = children.map(changeNode)
    if (/^h[2-6]$/.test(tag)) {
      const anchor = unused(toAnchor(textOf(node)))
      anchors.set(props.id, anchor)
      return [tag, { ...props, id: anchor }, ...content]
    }
    // For keyboards, which scroll what has the focus. A cell without text is no header.
    if (tag === 'table') return [tag, { ...props, tabindex: 0 }, ...content]
    if (tag === 'th' && textOf(node) === '') return ['td', props]
    return props.href === NOWHERE ? ['span', {}, ...content] : [tag, props, ...content]
  }

  /** The second heading with the same text gets `-1`. */
  function unused(anchor: string): string {
    const taken = new Set(anchors.values())
    for (let count = 0, name = anchor; ; name = `${anchor}-${++count}`) if (!taken.has(name)) return name
  }

  function renameLinks(links: TocLink[]): void {
    for (const link of links) {
      link.id = anchors.get(link.id) ?? link.id
      renameLinks(link.children ?? [])
    }
  }
}

const textOf = (node: Node): string => typeof node === 'string' ? node : node.slice(2).map(child => textOf(child as Node)).join('')

/** Changes a parsed page: its title is shown by the layout, its links lead to routes, its anchors are those of GitHub. */
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

/** The attribute of each element that contains a link. */
const LINKS: Readonly<Record<string, string>> = { a: 'href', img: 'src' }

export function changeBody(body: Body, file: string, repository: string): void {
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
    const name = LINKS[tag]
    if (name === undefined || typeof props[name] !== 'string') return [tag, props, ...content]
    const target = resolveLink(file, props[name], repository)
    return target === undefined ? ['span', {}, ...content] : [tag, { ...props, [name]: target }, ...content]
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

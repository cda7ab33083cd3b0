/** Shows Markdown as elements. No text becomes HTML. */
import { defineComponent, h, type VNode } from 'vue'
import { parseMarkdown, type Block, type Inline } from '../model/markdown'

const TAGS = { strong: 'strong', em: 'em', del: 'del' } as const

function toInline(node: Inline): VNode | string {
  switch (node.kind) {
    case 'text': return node.text
    case 'code': return h('code', node.text)
    case 'break': return h('br')
    case 'link': return h('a', { href: node.to, target: '_blank', rel: 'noopener nofollow' }, node.children.map(toInline))
    default: return h(TAGS[node.kind], node.children.map(toInline))
  }
}

function toBlock(block: Block): VNode {
  switch (block.kind) {
    // The heading of the page and of the field are above.
    case 'heading': return h(`h${Math.min(6, block.level + 2)}`, { 'data-level': block.level }, block.children.map(toInline))
    case 'paragraph': return h('p', block.children.map(toInline))
    case 'code': return h('pre', { tabindex: 0 }, h('code', block.text))
    case 'quote': return h('blockquote', block.blocks.map(toBlock))
    case 'list': return h(block.ordered ? 'ol' : 'ul', block.items.map(item => h('li', item.map(toInline))))
    case 'rule': return h('hr')
  }
}

export default defineComponent({
  props: { text: { type: String, required: true } },
  setup: props => () => h('div', { class: 'aa-markdown' }, parseMarkdown(props.text).map(toBlock)),
})

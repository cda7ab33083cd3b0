import { describe, expect, it } from 'vitest'
import { createSSRApp, h } from 'vue'
import { renderToString } from 'vue/server-renderer'
import MarkdownView from '../../../src/runtime/admin/kit/markdown-view'
import { isSafeLink, parseMarkdown } from '../../../src/runtime/admin/model/markdown'
import { applyMark, type MarkdownMark } from '../../../src/runtime/admin/model/markdown-edit'

const render = async (text: string) => {
  const html = await renderToString(createSSRApp({ render: () => h(MarkdownView, { text }) }))
  return html.replace(/^<div class="aa-markdown">/, '').replace(/<\/div>$/, '').replaceAll(/<!--.*?-->/g, '')
}

describe('Markdown', () => {
  it.each([
    ['Two words', '<p>Two words</p>'],
    ['# One\n## Two', '<h3 data-level="1">One</h3><h4 data-level="2">Two</h4>'],
    ['**bold** and _slanted_ and `code`', '<p><strong>bold</strong> and <em>slanted</em> and <code>code</code></p>'],
    ['First\nline\n\nSecond', '<p>First\nline</p><p>Second</p>'],
    ['- one\n- two\n  more', '<ul><li>one</li><li>two\nmore</li></ul>'],
    ['1. one\n2. two', '<ol><li>one</li><li>two</li></ol>'],
    ['> quoted\n> text', '<blockquote><p>quoted\ntext</p></blockquote>'],
    ['```js\n**not bold**\n```', '<pre tabindex="0"><code>**not bold**</code></pre>'],
    ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    ['snake_case_name', '<p>snake_case_name</p>'],
    ['2 * 3 * 4', '<p>2 * 3 * 4</p>'],
  ])('%j becomes %s', async (text, html) => expect(await render(text)).toBe(html))

  it('links only to addresses that run no code', async () => {
    expect(await render('[a](https://example.com)')).toBe('<p><a href="https://example.com" target="_blank" rel="noopener nofollow">a</a></p>')
    for (const to of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', '//evil.example', '/\\evil.example', 'vbscript:x']) {
      expect(isSafeLink(to)).toBe(false)
      expect(await render(`[a](${to.replaceAll(/[()]/g, '')})`)).not.toContain('<a')
    }
    expect(await render('[x](javascript:1) [y](/posts)')).toContain('<a href="/posts"')
  })

  it('shows HTML as text', async () => {
    expect(await render('<img src=x onerror=alert(1)>')).toBe('<p>&lt;img src=x onerror=alert(1)&gt;</p>')
    expect(await render('[<b>](https://example.com/"onclick="x)')).not.toMatch(/<b>|" ?onclick="x/)
  })

  it('of any depth and length is read', () => {
    expect(parseMarkdown('> '.repeat(500) + 'deep')).toHaveLength(1)
    expect(parseMarkdown('**a** '.repeat(3000))).toHaveLength(1)
    expect(parseMarkdown('')).toEqual([])
  })
})

describe('a button above Markdown', () => {
  /** The selection is between two bars. */
  const apply = (text: string, mark: MarkdownMark) => {
    const [before = '', inside = '', after = ''] = text.split('|')
    const start = before.length
    const next = applyMark({ text: before + inside + after, start, end: start + inside.length }, mark)
    return [next.text.slice(0, next.start), next.text.slice(next.start, next.end), next.text.slice(next.end)].join('|')
  }

  it.each<[string, MarkdownMark, string]>([
    ['a |word| b', 'bold', 'a **|word|** b'],
    ['a **|word|** b', 'bold', 'a |word| b'],
    ['|word|', 'italic', '_|word|_'],
    ['||', 'code', '`||`'],
    ['see |here|', 'link', 'see [here](|https://|)'],
    ['a\n|b\nc|\nd', 'list', 'a\n|- b\n- c|\nd'],
    ['|- b\n- c|', 'list', '|b\nc|'],
    ['ti|t|le', 'heading', '|## title|'],
  ])('%j with %s becomes %j', (text, mark, expected) => expect(apply(text, mark)).toBe(expected))
})

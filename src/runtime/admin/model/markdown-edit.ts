/** What the buttons above a Markdown field do with the selected text. */

export interface Selection {
  readonly text: string
  readonly start: number
  readonly end: number
}

export type MarkdownMark = 'bold' | 'italic' | 'code' | 'link' | 'heading' | 'list' | 'quote'

const AROUND: Partial<Record<MarkdownMark, string>> = { bold: '**', italic: '_', code: '`' }
const BEFORE: Partial<Record<MarkdownMark, string>> = { heading: '## ', list: '- ', quote: '> ' }

/** Adds a mark around the selection or before its lines. A second time, it removes the mark. */
export function applyMark(selection: Selection, mark: MarkdownMark): Selection {
  const around = AROUND[mark]
  if (around !== undefined) return toggleAround(selection, around)
  const before = BEFORE[mark]
  return before === undefined ? addLink(selection) : toggleLines(selection, before)
}

function toggleAround({ text, start, end }: Selection, mark: string): Selection {
  const { length } = mark
  const isMarked = text.slice(start - length, start) === mark && text.slice(end, end + length) === mark && start >= length
  if (isMarked) {
    return {
      text: text.slice(0, start - length) + text.slice(start, end) + text.slice(end + length), start: start - length, end: end - length,
    }
  }
  return { text: text.slice(0, start) + mark + text.slice(start, end) + mark + text.slice(end), start: start + length, end: end + length }
}

/** The address is selected, so that the next key replaces it. */
function addLink({ text, start, end }: Selection): Selection {
  const label = text.slice(start, end)
  const address = 'https://'
  const from = start + label.length + 3
  return { text: `${text.slice(0, start)}[${label}](${address})${text.slice(end)}`, start: from, end: from + address.length }
}

function toggleLines({ text, start, end }: Selection, mark: string): Selection {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const after = text.indexOf('\n', end)
  const to = after === -1 ? text.length : after
  const lines = text.slice(from, to).split('\n')
  const isMarked = lines.every(line => line.startsWith(mark))
  const changed = lines.map(line => isMarked ? line.slice(mark.length) : mark + line).join('\n')
  return { text: text.slice(0, from) + changed + text.slice(to), start: from, end: from + changed.length }
}

/** Draws bar charts as SVG. They have no script and no font of their own, and follow the colour scheme of the reader's system. */

export interface Bar {
  readonly label: string
  readonly value: number
  /** `true` draws it in the main colour. */
  readonly own?: boolean
}

export interface Chart {
  readonly title: string
  /** What the values are, such as "requests per second". */
  readonly unit: string
  /** Each group has a heading and its bars. */
  readonly groups: readonly { readonly label: string, readonly bars: readonly Bar[] }[]
}

const WIDTH = 720
const LABELS = 170
const BAR = 18
const GAP = 14
/** Space for the value after the longest bar. */
const VALUE = 60

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1e293b }
  .title { font-size: 16px; font-weight: 600 } .unit, .label { fill: #64748b } .group { font-weight: 600 }
  .card { fill: #ffffff; stroke: #e2e8f0 } .bar { fill: #cbd5e1 } .own { fill: #00a155 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f1f5f9 } .unit, .label { fill: #94a3b8 } .card { fill: #0f172a; stroke: #334155 } .bar { fill: #475569 } .own { fill: #00dc82 }
  }`

/** Returns the SVG. The description contains every value as text, for readers who cannot see the bars. */
export function drawChart({ title, unit, groups }: Chart): string {
  const largest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const lines: string[] = []
  let y = 76
  for (const { label, bars } of groups) {
    lines.push(text(24, y, 'group', label))
    for (const { label, value, own } of bars) {
      y += BAR + 5
      const width = Math.max(2, Math.round(value / largest * (WIDTH - LABELS - VALUE - 24)))
      lines.push(
        text(36, y, 'label', label),
        `<rect class="${own ? 'own' : 'bar'}" x="${LABELS}" y="${y - BAR + 5}" width="${width}" height="${BAR}" rx="3"/>`,
        text(LABELS + width + 8, y, 'value', toText(value)),
      )
    }
    y += BAR + GAP
  }
  const described = groups.map(({ label, bars }) => `${label}: ${bars.map(bar => `${bar.label} ${toText(bar.value)}`).join(', ')}`).join('. ')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-labelledby="t d">
<title id="t">${escape(title)}</title>
<desc id="d">${escape(`${unit}. ${described}.`)}</desc>
<style>${STYLE}
</style>
<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${y - 1}" rx="8"/>
${text(24, 32, 'title', title)}
${text(24, 52, 'unit', unit)}
${lines.join('\n')}
</svg>
`
}

const text = (x: number, y: number, kind: string, content: string) => `<text class="${kind}" x="${x}" y="${y}">${escape(content)}</text>`

const toText = (value: number) => value >= 100 ? Math.round(value).toLocaleString('en-US').replaceAll(',', ' ') : value.toFixed(2)

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The charts of the benchmark. */
import { describe, expect, it } from 'vitest'
import { drawChart } from '../../bench/chart'

describe('a chart', () => {
  const svg = drawChart({ title: 'a < b', unit: 'requests', groups: [{ label: 'get', bars: [{ label: 'x', value: 1 }, { label: 'y', value: 4000, own: true }] }] })

  it('escapes its texts, and contains every value as text', () => {
    expect(svg).toContain('<title id="t">a &lt; b</title>')
    expect(svg).toContain('<desc id="d">requests. get: x 1.00, y 4 000.</desc>')
  })

  it('draws the longest bar over the whole width, and small values too', () => {
    expect([...svg.matchAll(/width="(\d+)" height="18"/g)].map(([, width]) => Number(width))).toEqual([2, 466])
  })
})

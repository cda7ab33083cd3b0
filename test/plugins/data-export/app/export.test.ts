/** The composable of exports: it saves the file, counts its progress, and ends when it is cancelled. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dataExport } from '../../../../src/runtime/plugins'
import { INCOMPLETE } from '../../../../src/runtime/plugins/data-export/shared/failure'
import { openClientServer, type ClientServer } from '../../../support/client-server'

let harness: ClientServer
afterEach(() => {
  vi.unstubAllGlobals()
  harness.close()
})

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the resources of this test are not in the generated types
type Loose = Record<string, (...args: any[]) => any>

async function open(prefix?: string) {
  harness = await openClientServer({ prefix, plugins: [dataExport()] })
  const { useAutoApiExport } = harness.composables as unknown as Loose
  return (resource = 'articles', options: object = { save: false }) => harness.setup(() => useAutoApiExport!(resource, options))
}

describe('useAutoApiExport', () => {
  it('downloads the list of the query, under another prefix too', async () => {
    const use = await open('/data/v2')
    const { mutateAsync, progress, isSuccess } = use()
    const file: File = await mutateAsync({ filter: { writerId: 1 }, sort: '-id', fields: ['id', 'title'], format: 'csv' })
    expect([file.name, file.type, await file.text()]).toEqual([
      expect.stringMatching(/^articles-.*\.csv$/),
      'text/csv; charset=utf-8',
      'id,title\r\n2,Two\r\n1,One\r\n',
    ])
    expect(harness.requests).toEqual(['GET /data/v2/articles/export?filter={"writerId":1}&sort=-id&fields=id,title&format=csv'])
    expect([progress.value, isSuccess.value]).toEqual([{ bytes: file.size, records: 2, total: 2 }, true])
  })

  it.each(['csv', 'json', 'ndjson'])('counts the records of the parts that have arrived: %s', async (format) => {
    const use = await open()
    await harness
      .setup(() => (harness.composables as unknown as Loose).useAutoApiCreate!('articles'))
      .mutateAsync({ title: 'a "quoted"\r\n\nline' })
    const { mutateAsync, progress } = use()
    const seen: number[] = []
    const run = mutateAsync({ format })
    const watch = setInterval(() => progress.value && seen.push(progress.value.records), 0)
    await run
    clearInterval(watch)
    expect(progress.value).toMatchObject({ records: 6, total: 6 })
    expect(Math.max(0, ...seen)).toBeLessThanOrEqual(6)
  })

  it('saves the file', async () => {
    const click = vi.fn()
    const link = { click, href: '', download: '' }
    vi.stubGlobal('document', { createElement: () => link })
    const use = await open()
    await use('articles', {}).mutateAsync({ format: 'json' })
    expect([click.mock.calls.length, link.href.startsWith('blob:'), link.download]).toEqual([1, true, expect.stringMatching(/\.json$/)])
  })

  it('rejects with the error of the API', async () => {
    const use = await open()
    const { mutateAsync, error } = use()
    await expect(mutateAsync({ fields: ['nothing'] })).rejects.toMatchObject({ name: 'AutoApiError', status: 400, code: 'UNKNOWN_FIELD' })
    expect(error.value).toMatchObject({ code: 'UNKNOWN_FIELD' })
  })

  it.each([
    ['text/csv', `id\r\n1\r\n${INCOMPLETE}`],
    ['application/x-ndjson', `{"id":1}\n${INCOMPLETE}`],
    ['application/json', '[{"id":1},\n{"id":2}'],
  ])('rejects and saves nothing if a failed file ends like a complete response: %s', async (type, text) => {
    const click = vi.fn()
    vi.stubGlobal('document', { createElement: () => ({ click }) })
    const handler = (_ctx: unknown, { setHeader }: { setHeader: (name: string, value: string) => void }) => {
      setHeader('content-type', `${type}; charset=utf-8`)
      return (async function* () {
        yield text
      })()
    }
    harness = await openClientServer({
      plugins: [{ name: 'export', routes: [{ method: 'GET', path: '/:resource/export', operation: 'read', handler }] }],
    })
    const { mutateAsync, error } = harness.setup(() => (harness.composables as unknown as Loose).useAutoApiExport!('articles'))
    await expect(mutateAsync({})).rejects.toMatchObject({
      name: 'AutoApiError',
      status: 0,
      code: 'NO_ANSWER',
      message: expect.stringContaining('not complete'),
    })
    expect([error.value, click.mock.calls]).toEqual([expect.objectContaining({ code: 'NO_ANSWER' }), []])
  })

  it('is as before after it is cancelled', async () => {
    const use = await open()
    const { mutateAsync, cancel, isPending, error, progress } = use()
    const run = mutateAsync({ format: 'csv' })
    await Promise.resolve()
    cancel()
    await expect(run).rejects.toMatchObject({ name: 'AutoApiError', status: 0, code: 'NO_ANSWER' })
    expect([isPending.value, error.value, progress.value]).toEqual([false, null, undefined])
  })
})

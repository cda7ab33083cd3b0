/** The composable of imports: it sends the file, and has its progress and its problems by line. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openClientServer, type ClientServer } from '../../../support/client-server'
import { uploadRequest } from '../../../support/upload-request'

let harness: ClientServer

/** Loaded with the server, so that both have the same errors. */
const dataExport = async () => (await import('../../../../src/runtime/plugins')).dataExport()

beforeEach(async () => {
  vi.stubGlobal('XMLHttpRequest', uploadRequest(() => harness))
  harness = await openClientServer({ prefix: '/data/v2', plugins: [dataExport] })
})
afterEach(() => {
  vi.unstubAllGlobals()
  harness.close()
})

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the resources of this test are not in the generated types
type Loose = Record<string, (...args: any[]) => any>
const use = (options?: object) => harness.setup(() => (harness.composables as unknown as Loose).useAutoApiImport!('labels', options))
const list = () => harness.setup(() => (harness.composables as unknown as Loose).useAutoApiList!('labels', {}))
const csv = (text: string) => new File([text], 'labels.csv', { type: 'text/csv' })

describe('useAutoApiImport', () => {
  it('sends the file under the prefix, and refetches the lists of the resource', async () => {
    const labels = list()
    await labels.suspense()
    const { mutateAsync, progress, problems } = use()
    const file = csv('id,name\r\n2,Arts\r\n7,Travel')
    expect(await mutateAsync({ file, mode: 'upsert', key: ['id'], separator: ',' })).toEqual({
      data: { created: 1, updated: 1 },
      meta: { total: 2 },
    })
    expect(harness.requests).toEqual([
      'GET /data/v2/labels',
      'POST /app/data/v2/labels/import?mode=upsert&separator=,&key=id text/csv',
      'GET /data/v2/labels',
    ])
    expect([progress.value, problems.value]).toEqual([{ sent: file.size, total: file.size }, []])
    expect(labels.data.value.data.map(({ name }: { name: string }) => name)).toEqual(['Sport', 'Arts', 'Travel'])
  })

  it('has the problems of the lines', async () => {
    const { mutateAsync, problems, error } = use()
    await expect(mutateAsync({ file: new File(['{"name":"ok"}\n{"name":1}'], 'labels.ndjson') })).rejects.toMatchObject({
      code: 'BULK_FAILED',
      status: 400,
    })
    expect(problems.value).toMatchObject([{ line: 2, code: 'VALIDATION_FAILED', issues: [{ path: ['name'] }] }])
    expect([error.value.name, harness.requests[0]]).toEqual(['AutoApiError', 'POST /app/data/v2/labels/import? application/x-ndjson'])
  })

  it('writes nothing in a dry run, and does not refetch', async () => {
    await list().suspense()
    harness.requests.length = 0
    expect((await use({ dryRun: true }).mutateAsync({ file: csv('name\r\nNew') })).data).toEqual({ created: 1, updated: 0 })
    expect(harness.requests).toEqual(['POST /app/data/v2/labels/import?dryRun=true text/csv'])
  })

  it('is as before after it is cancelled', async () => {
    const { mutateAsync, cancel, isPending, error, progress } = use()
    const run = mutateAsync({ file: csv('name\r\nNew') })
    await Promise.resolve()
    cancel()
    await expect(run).rejects.toMatchObject({ name: 'AutoApiError', status: 0, code: 'NO_ANSWER' })
    expect([isPending.value, error.value, progress.value]).toEqual([false, null, undefined])
  })
})

/** Compares the page after 95 % of a caller's rows with the first page, both by cursor. */
import type { Target } from './measure.ts'
import type { BenchRequest } from './operations.ts'
import type { Sample } from './dataset.ts'
import type { RunningServer } from './server.ts'
import { toFetchOptions } from './verify.ts'

interface Page {
  readonly meta: { readonly total?: number, readonly nextCursor?: string | null }
}

const DEPTH = 0.95
/** The largest page size, to reach the page quickly. The requests before it are not measured. */
const STEP = 100

export async function cursorTargets(server: RunningServer, { callers }: Sample): Promise<Target[]> {
  const at = (cursor: string) => `?${new URLSearchParams({ limit: '20', cursor })}`
  const deep: BenchRequest[] = []
  for (const { id } of callers) deep.push({ caller: id, path: at(await findCursor(server, id)) })
  return [
    { key: 'd, page 1', server, requests: callers.map(({ id }) => ({ caller: id, path: at('') })) },
    { key: 'd, at 95 %', server, requests: deep },
  ]
}

async function findCursor(server: RunningServer, caller: number): Promise<string> {
  const page = async (parameters: Record<string, string>) => {
    const request: BenchRequest = { caller, path: `?${new URLSearchParams({ fields: 'id', ...parameters })}` }
    return await (await fetch(server.posts + request.path, toFetchOptions(request))).json() as Page
  }
  const rows = (await page({ limit: '1', page: '1' })).meta.total! * DEPTH
  let cursor = ''
  for (let passed = 0; passed < rows; passed += STEP) cursor = (await page({ limit: String(STEP), cursor })).meta.nextCursor!
  return cursor
}

/** A page that lies behind 95 % of a caller's rows, reached by cursor, and the first one: what depth costs. */
import type { Lane } from './measure.ts'
import type { Ask } from './operations.ts'
import type { Sample } from './dataset.ts'
import type { RunningServer } from './server.ts'
import { toRequest } from './verify.ts'

interface Page {
  readonly meta: { readonly total?: number, readonly nextCursor?: string | null }
}

const DEPTH = 0.95
/** As many rows as a page may hold: the way down is not what is measured. */
const STEP = 100

export async function cursorLanes(server: RunningServer, { callers }: Sample): Promise<Lane[]> {
  const at = (cursor: string) => `?${new URLSearchParams({ limit: '20', cursor })}`
  const deep: Ask[] = []
  for (const { id } of callers) deep.push({ caller: id, path: at(await findCursor(server, id)) })
  return [
    { key: 'd, page 1', server, asks: callers.map(({ id }) => ({ caller: id, path: at('') })) },
    { key: 'd, at 95 %', server, asks: deep },
  ]
}

async function findCursor(server: RunningServer, caller: number): Promise<string> {
  const page = async (parameters: Record<string, string>) => {
    const ask: Ask = { caller, path: `?${new URLSearchParams({ fields: 'id', ...parameters })}` }
    return await (await fetch(server.posts + ask.path, toRequest(ask))).json() as Page
  }
  const rows = (await page({ limit: '1', page: '1' })).meta.total! * DEPTH
  let cursor = ''
  for (let passed = 0; passed < rows; passed += STEP) cursor = (await page({ limit: String(STEP), cursor })).meta.nextCursor!
  return cursor
}

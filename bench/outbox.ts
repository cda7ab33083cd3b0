/** Measures a create that also writes a row into an outbox in the same commit: handwritten transactions, and `inCommit` of a plugin. */
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Sample } from './dataset.ts'
import { IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { measure, toTargets, type Effort, type Generator } from './measure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { assertSameResponses } from './verify.ts'

interface OutboxOperation extends Operation {
  readonly implementations: readonly Implementation[]
}

const create = OPERATIONS.find(({ title }) => title === 'create')!

/** The routes of posts that also write the outbox. The plugin needs no further route, but servers of its own: it listens to all writes. */
const implementationsFor = (mode: 'ids' | 'images') => IMPLEMENTATIONS.filter(({ key }) => key !== 'e').map(implementation => ({
  ...implementation,
  ...implementation.key !== 'd' && { posts: implementation.posts.replace('/posts', '/outbox') },
  environment: () => ({ BENCH_OUTBOX: mode }),
}))

export const OUTBOX_OPERATIONS: readonly OutboxOperation[] = [
  { ...create, title: 'create with inCommit', implementations: implementationsFor('ids') },
  { ...create, title: 'create with inCommit, images', implementations: implementationsFor('images') },
]

/** @throws When the implementations write different rows into the outbox. */
export async function compareOutbox(
  operation: OutboxOperation,
  accepts: (implementation: Implementation) => boolean,
  database: string,
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<Measured> {
  const servers: RunningServer[] = []
  try {
    const recorded = new Map<string, string>()
    for (const implementation of operation.implementations.filter(accepts)) {
      const copy = database.replace('.sqlite', `-${operation.title.replaceAll(/\W+/g, '-')}-${implementation.key}.sqlite`)
      copyFileSync(database, copy)
      servers.push(await startServer(implementation, copy))
      recorded.set(implementation.key, copy)
    }
    const bytes = await assertSameResponses(operation, servers, sample)
    const [expected, ...others] = [...recorded].map(([key, file]) => [key, readOutbox(file)] as const)
    for (const [key, rows] of others) {
      if (rows !== expected![1]) throw new Error(`${operation.title}: the outbox of ${key} differs\n${expected![1]}\n${rows}`)
    }
    console.info(`measuring ${operation.title} …`)
    const readings = await measure(toTargets(operation, servers, sample), generator, effort)
    return { operation: operation.title, bytes, writes: 2, readings }
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** The rows of the outbox, without times. */
function readOutbox(file: string): string {
  const connection = new Database(file, { readonly: true })
  try {
    const rows = connection.prepare('select kind, record_id, organization_id, after from outbox order by id').all()
    if (rows.length === 0) throw new Error(`The outbox of ${file} is empty.`)
    return JSON.stringify(rows).replace(/(\\"(?:createdAt|updatedAt)\\":)\\"[^"]*\\"/g, '$1"generated"')
  }
  finally {
    connection.close()
  }
}

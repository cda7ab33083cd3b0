/** A process that writes batches and cascades until it is killed: through an engine or, as a control, statement by statement. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createEngine } from '../../../src/runtime/server/engines/index.ts'

const [file, mode] = process.argv.slice(2) as [string, 'together' | 'apart']
const client = new Database(file)
client.pragma('journal_mode = WAL')
client.pragma('busy_timeout = 5000')
const engine = createEngine('better-sqlite3', drizzle({ client }))
const SIZE = 150

/** The statements of a batch of rows, and of its cascade into the trash. */
function statements(batch: number) {
  const make = Array.from({ length: SIZE }, (_, place) => ({
    text: 'insert into items (batch, place) values (?, ?)',
    values: [batch, place],
    expectedRows: 1,
  }))
  const trash = [
    { text: 'insert into parents (batch, deletion_id) values (?, ?)', values: [batch, `d${batch}`], expectedRows: 1 },
    ...Array.from({ length: SIZE }, (_, place) => ({
      text: 'update items set deletion_id = ? where batch = ? and place = ?',
      values: [`d${batch}`, batch, place],
      expectedRows: 1,
    })),
  ]
  return { make, trash }
}

const first = (client.prepare('select coalesce(max(batch), 0) + 1 as next from items').get() as { next: number }).next
for (let batch = first; ; batch++) {
  for (const [name, list] of Object.entries(statements(batch))) {
    process.stdout.write(`begin ${batch} ${name}\n`)
    await new Promise(resolve => setImmediate(resolve))
    if (mode === 'together') await engine.commit(list)
    else for (const statement of list) await engine.commit([{ ...statement, expectedRows: undefined }])
    // As over a network, the response takes time: a kill can come between the commit and the response.
    await new Promise(resolve => setTimeout(resolve, 2))
    process.stdout.write(`end ${batch} ${name}\n`)
  }
}

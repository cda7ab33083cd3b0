/** A write is committed as a whole or not at all when its process is killed. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'

const SIZE = 150

let folder: string
/** One file that Node starts at once: most of the test is starting writers. */
let writer: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'auto-api-kill-'))
  // In the repository, where it finds its packages.
  const outDir = join(root, 'test/e2e/kill/.output')
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true, external: ['better-sqlite3'] },
    build: {
      ssr: join(root, 'test/e2e/kill/writer.ts'), outDir, emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: `writer-${process.pid}.mjs`, codeSplitting: false } },
    },
  })
  writer = join(outDir, `writer-${process.pid}.mjs`)
})
afterAll(() => {
  for (const path of [folder, writer]) rmSync(path, { recursive: true, force: true })
})

interface Death {
  /** A commit had begun and not ended when the process was killed. */
  readonly unfinished: boolean
  readonly batch: number
  /** The commit was that of the cascade, not that of the batch. */
  readonly cascade: boolean
}

/** Starts the writer, lets it begin some commits, and kills it a moment later. */
function killOnce(file: string, mode: string, commits: number, delay: number): Promise<Death> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, file, mode], { stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    let begun = 0
    let last = ''
    let armed = false
    child.stderr.on('data', chunk => errors += chunk)
    child.stdout.on('data', (chunk) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) {
        last = line
        if (line.startsWith('begin')) begun++
      }
      if (begun >= commits && !armed) {
        armed = true
        const until = process.hrtime.bigint() + BigInt(Math.round(delay * 1000))
        while (process.hrtime.bigint() < until) { /* a timer would be too coarse */ }
        child.kill('SIGKILL')
      }
    })
    child.on('close', (_code, signal) =>
      signal === 'SIGKILL'
        ? resolve({ unfinished: last.startsWith('begin'), batch: Number(last.split(' ')[1]), cascade: last.endsWith('trash') })
        : reject(new Error(errors)),
    )
  })
}

function createFile(name: string): string {
  const file = join(folder, `${name}.db`)
  const client = new Database(file)
  client.pragma('journal_mode = WAL')
  client.exec(
    'create table items (batch integer not null, place integer not null, deletion_id text, primary key (batch, place)); create table parents (batch integer primary key, deletion_id text not null)',
  )
  client.close()
  return file
}

/** Batches and cascades of which only some rows were written. */
function findHalves(file: string): unknown[] {
  const client = new Database(file)
  try {
    return [
      ...client.prepare('select batch, count(*) as there from items group by batch having count(*) <> ?').all(SIZE),
      ...client
        .prepare('select batch, count(deletion_id) as trashed from items group by batch having count(deletion_id) not in (0, ?)')
        .all(SIZE),
      ...client
        .prepare('select parents.batch from parents where (select count(deletion_id) from items where items.batch = parents.batch) <> ?')
        .all(SIZE),
      ...client
        .prepare('select distinct batch from items where deletion_id is not null and batch not in (select batch from parents)')
        .all(),
    ]
  }
  finally {
    client.close()
  }
}

const has = (file: string, sql: string, batch: number) => {
  const client = new Database(file)
  try {
    return client.prepare(sql).get(batch) !== undefined
  }
  finally {
    client.close()
  }
}

describe('a process that is killed while it writes', () => {
  it('leaves every batch and every cascade complete or absent, over at least 50 kills', async () => {
    const file = createFile('together')
    let unfinished = 0
    const outcomes = { all: 0, none: 0 }
    // The moment of a kill depends on the machine: the test continues until commits were killed both before and after they took effect.
    const isEnough = () => unfinished >= 20 && Math.min(outcomes.all, outcomes.none) > 0
    let kill = 0
    for (; kill < 50 || (kill < 150 && !isEnough()); kill++) {
      const death = await killOnce(file, 'together', 2 + kill % 3, (kill * 370) % 3000)
      expect(findHalves(file)).toEqual([])
      if (!death.unfinished) continue
      unfinished++
      const table = death.cascade ? 'parents' : 'items'
      outcomes[has(file, `select 1 from ${table} where batch = ?`, death.batch) ? 'all' : 'none']++
    }

    console.log(`${kill} kills, ${unfinished} during a commit: ${outcomes.all} of these commits took effect, ${outcomes.none} did not`)
    expect(unfinished).toBeGreaterThanOrEqual(20)
    expect(Math.min(outcomes.all, outcomes.none)).toBeGreaterThan(0)
  }, 400_000)

  it('leaves a part of one when it commits statement by statement', async () => {
    const file = createFile('apart')
    for (let kill = 0; kill < 40 && findHalves(file).length === 0; kill++) await killOnce(file, 'apart', 2 + kill % 3, 200 + kill * 131)
    expect(findHalves(file)).not.toEqual([])
  }, 120_000)
})

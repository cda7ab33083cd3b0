/**
 * Lists the variables of modules that can change while the server runs. Several servers, and several APIs of one process, do not share
 * them:
 * what they must share belongs into a storage or the database. Weak collections are not listed, because their entries belong to an object.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const runtime = fileURLToPath(new URL('../../src/runtime', import.meta.url))
/** The folders whose code runs in a server. */
const FOLDERS = ['server', 'plugins']

/** Why each variable can differ between servers. */
const STATE: Readonly<Record<string, string>> = {
  'server/api/runtime.ts: generated': 'is set once, by the generated module',
  'server/api/runtime.ts: current': 'is set once, before the server starts',
  'server/core/process/encryption.ts: keys': 'caches keys that every server derives from the same secret',
  'server/core/process/in-flight.ts: running': 'each server waits for its own work before it ends',
  'server/core/process/in-flight.ts: stopping': 'each server stops on its own',
  'server/core/process/in-flight.ts: waiting': 'each server waits for its own work before it ends',
  'server/core/replicas/d1.ts: isWarned': 'each server logs the warning once',
  'server/core/process/trace.ts: everWatched': 'each server looks for its own requests, once they are watched',
  'server/explain/recorder.ts: isRecording': 'exists in development and in tests',
  'server/explain/request-log.ts: count': 'exists in development',
  'server/explain/request-log.ts: requests': 'exists in development',
  'server/core/memoized.ts: last': 'numbers the tables for the keys of the statement cache',
  'server/core/sql/where.ts: separators': 'caches words of the code, which are the same in each server',
  'server/core/sql/where.ts: words': 'caches words of the code, which are the same in each server',
  'server/core/process/uuid.ts: lastTime': 'orders the UUIDs of one server; 62 random bits keep those of several servers apart',
  'server/core/process/uuid.ts: sequence': 'orders the UUIDs of one server',
  'plugins/rate-limit/index.ts: warned': 'each server logs the warning once',
  'plugins/webhooks/server/send.ts: loaded': 'caches a module that each server loads by itself',
}

/**
 * The variables of a module that are reassigned, or that are an empty map, set or list. A name in capital letters is a constant, and so is
 * a readonly type.
 */
function changingVariables(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(runtime, file), 'utf8'), ts.ScriptTarget.Latest)
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList: { declarations, flags } }) =>
      declarations
        .filter(
          ({ name, initializer, type }) =>
            !(flags & ts.NodeFlags.Const)
            || (isEmptyCollection(initializer)
              && !/^[A-Z_]+$/.test(name.getText(source))
              && !/^Readonly|^readonly /.test(type?.getText(source) ?? '')),
        )
        .map(({ name }) => `${file}: ${name.getText(source)}`),
    )
}

function isEmptyCollection(value: ts.Expression | undefined): boolean {
  if (!value) return false
  if (ts.isArrayLiteralExpression(value)) return value.elements.length === 0
  return (
    ts.isNewExpression(value)
    && ts.isIdentifier(value.expression)
    && ['Map', 'Set', 'Array'].includes(value.expression.text)
    && !value.arguments?.length
  )
}

it('lists every variable of a module that can change, with the reason why servers need not share it', () => {
  const files = FOLDERS.flatMap(folder => readdirSync(join(runtime, folder), { recursive: true, encoding: 'utf8' })
    .map(file => `${folder}/${file}`)
    .filter(file => file.endsWith('.ts') && !file.startsWith('server/virtual/')))
    .sort()
  expect(files.length).toBeGreaterThan(400)
  expect(files.flatMap(changingVariables).sort()).toEqual(Object.keys(STATE).sort())
})

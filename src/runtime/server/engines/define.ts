/** Engines that the app defines, and the checks of their members at startup. */
import { isPromise } from '../../shared/awaitable'
import { didYouMean } from '../../shared/suggest'
import type { Dialect } from '../../shared/dialects'
import { DIALECTS } from './dialects/index'
import type { Engine } from './engine'

/** The members that `create` returns. The definition sets `name`, and the dialect sets `adapter`; another engine's object has them too. */
export type DefinedEngine = Omit<Engine, 'name' | 'dialect' | 'adapter'> & Partial<Pick<Engine, 'name' | 'dialect' | 'adapter'>>

/** An engine for a database or a driver that has no built-in engine. `nuxt-auto-api/testing` has the tests that it must pass. */
export interface EngineDefinition {
  /** Its own name, in letters, digits, `_`, `.` and `-`. Messages contain it. */
  readonly name: string
  readonly dialect: Dialect
  /** Creates the engine of one database. The API calls it once for each database. The engine has the name of the definition. */
  create(db: object): DefinedEngine
}

type Check = readonly [expected: string, accepts: (value: unknown) => boolean]

const isPositive = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
const optional = ([expected, accepts]: Check): Check => [expected, value => value === undefined || accepts(value)]
const FUNCTION: Check = ['a function', value => typeof value === 'function']
const BOOLEAN: Check = ['`true` or `false`', value => typeof value === 'boolean']
const DIALECT: Check = ['\'sqlite\', \'pg\' or \'mysql\'', value => typeof value === 'string' && Object.hasOwn(DIALECTS, value)]

const DEFINITION: Readonly<Record<keyof EngineDefinition, Check>> = {
  name: ['text of letters, digits, `_`, `.` and `-`', value => typeof value === 'string' && /^[\w.-]+$/.test(value)],
  dialect: DIALECT,
  create: FUNCTION,
}

const ENGINE: Readonly<Record<keyof Engine, Check>> = {
  name: optional(['text', value => typeof value === 'string']),
  dialect: optional(DIALECT),
  adapter: optional(['the adapter of a built-in engine', value => Object.values(DIALECTS).includes(value as never)]),
  maxParameters: ['a positive integer', isPositive],
  concurrent: BOOLEAN,
  supportsFollowUp: BOOLEAN,
  blocking: optional(BOOLEAN),
  limits: optional(['`{ terms, pattern }` with two positive integers', (value) => {
    const { terms, pattern } = (value ?? {}) as Record<string, unknown>
    return isPositive(terms) && isPositive(pattern)
  }]),
  render: FUNCTION,
  columnName: FUNCTION,
  query: FUNCTION,
  commit: FUNCTION,
}

/**
 * @param reservedNames the names of the built-in engines. The API caches SQL by the name of the engine, so no other engine can have them.
 * @throws When a member is missing, unknown or of another type, or when the name is taken.
 */
export function assertDefinition(definition: unknown, reservedNames: readonly string[]): asserts definition is EngineDefinition {
  assertMembers(definition, DEFINITION, 'the engine')
  const { name } = definition as EngineDefinition
  if (reservedNames.includes(name)) throw invalid(`the name "${name}" belongs to a built-in engine. Choose another \`name\`.`)
}

/** @throws When a member of the created engine is missing, unknown or of another type, or when it has another dialect. */
export function createDefinedEngine(definition: EngineDefinition, db: unknown): Engine {
  const { name, dialect } = definition
  const what = `the engine "${name}"`
  if (typeof db !== 'object' || db === null) throw invalid(`the database of ${what} must be an object.`)
  const created: unknown = definition.create(db)
  if (isPromise(created)) throw invalid(`\`create\` of ${what} returned a promise. Connect to the database before.`)
  assertMembers(created, ENGINE, what)
  const engine = created as DefinedEngine
  if ((engine.dialect ?? dialect) !== dialect || (engine.adapter ?? DIALECTS[dialect]) !== DIALECTS[dialect])
    throw invalid(`${what} has the dialect '${dialect}', but \`create\` returned an engine of another dialect.`)
  return Object.freeze({ ...engine, name, dialect, adapter: DIALECTS[dialect] })
}

function assertMembers(value: unknown, members: Readonly<Record<string, Check>>, what: string): void {
  const names = Object.keys(members)
  if (typeof value !== 'object' || value === null) throw invalid(`${what} must be an object with ${quoted(names)}.`)
  const unknown = Object.keys(value).find(key => !Object.hasOwn(members, key))
  if (unknown !== undefined) throw invalid(`${what} has an unknown member \`${unknown}\`.${didYouMean(unknown, names)}`)
  for (const [name, [expected, accepts]] of Object.entries(members)) {
    if (!accepts(Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined))
      throw invalid(`\`${name}\` of ${what} must be ${expected}.`)
  }
}

const quoted = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')

const invalid = (message: string) => new TypeError(`[auto-api] initializeDatabase(): ${message}`)

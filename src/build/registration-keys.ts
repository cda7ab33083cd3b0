/** Checks the keys of a registration and their values. */
import { isObject } from '../runtime/shared/is-object'
import { isNestedAction } from '../runtime/shared/nested'
import { OPERATIONS } from '../runtime/shared/operations'
import { describeInline, isInstance } from './inline-values'
import { isModuleImport, type FindPath, type ModuleImport } from './module-import'
import type { Problem } from './problem'
import { didYouMean } from '../runtime/shared/suggest'

interface ImportRule {
  readonly required?: boolean
  readonly anchor: string
}

/** Keys whose value is a module import. */
export const IMPORT_KEYS = {
  schema: { required: true, anchor: 'module-imports' },
  authorization: { anchor: 'inline-authorization' },
  validation: { anchor: 'inline-validation' },
  hooks: { anchor: 'inline-hooks' },
  wire: { anchor: 'module-imports' },
  computed: { anchor: 'module-imports' },
  relations: { anchor: 'module-imports' },
} as const satisfies Record<string, ImportRule>

/** Keys whose value is data. The function returns the problem of an invalid value. */
const DATA_KEYS = {
  key: findKeyProblem,
  references: findReferencesProblem,
  tracks: findNameListProblem,
  nested: findNestedProblem,
  hiddenFields: findFieldListProblem,
  protectedFields: findFieldListProblem,
  disabled: findOperationListProblem,
  requireIfMatch: findFlagProblem,
  metadata: (value: unknown, where: string) =>
    isObject(value) ? findJsonProblem(value, where) : { where, what: 'is not an object', instead: 'Use an object of plain JSON.' },
} as const satisfies Record<string, (value: unknown, where: string) => Problem | undefined>

/** Keys whose values the build reads. A resource file contains them as literals. */
export const DATA_KEY_NAMES: readonly string[] = Object.keys(DATA_KEYS)

export type ImportKey = keyof typeof IMPORT_KEYS
export type DataKey = keyof typeof DATA_KEYS

/** The valid parts of a registration. The build generates the registry from them. */
export interface CheckedRegistration {
  readonly name: string
  /** The module imports by key. Each has the path that the bundler can import. */
  readonly imports: Readonly<Partial<Record<ImportKey, ModuleImport>>>
  readonly data: Readonly<Partial<Record<DataKey | 'computedNames', unknown>>>
}

export interface Check {
  readonly registration: CheckedRegistration
  readonly problems: readonly Problem[]
}

/** Checks every key, so that one build reports all problems of a registration. */
export function checkRegistration(name: string, registration: unknown, findPath: FindPath): Check {
  const imports: Partial<Record<ImportKey, ModuleImport>> = {}
  const data: Partial<Record<DataKey, unknown>> = {}
  const problems: Problem[] = []
  if (!isObject(registration) || isModuleImport(registration)) {
    return {
      registration: { name, imports, data },
      problems: [
        {
          where: name,
          what: 'has no registration',
          instead: `Call \`registry.register('${name}', { schema: createModuleImport(path, name) })\`.`,
          anchor: 'module-imports',
        },
      ],
    }
  }

  for (const [key, value] of Object.entries(registration)) {
    const where = `${name}.${key}`
    if (value === undefined) continue
    if (isKeyOf(IMPORT_KEYS, key)) {
      const path = isModuleImport(value) ? findPath(value.path, value.name) : undefined
      if (isModuleImport(value) && path) imports[key] = { ...value, path }
      else problems.push(toImportProblem(value, where, key))
    }
    else if (isKeyOf(DATA_KEYS, key)) {
      const problem = DATA_KEYS[key](value, where)
      if (problem) problems.push(problem)
      else data[key] = value
    }
    else {
      const known = [...Object.keys(IMPORT_KEYS), ...Object.keys(DATA_KEYS)]
      problems.push({ where, what: 'is not a key of a registration', instead: didYouMean(key, known).trim() || 'Remove it.' })
    }
  }
  for (const [key, rule] of Object.entries<ImportRule>(IMPORT_KEYS)) {
    if (rule.required && registration[key] === undefined)
      problems.push({
        where: `${name}.${key}`,
        what: 'is missing',
        instead: `Add \`${key}: createModuleImport(path, name)\`.`,
        anchor: rule.anchor,
      })
  }
  return { registration: { name, imports, data }, problems }
}

function toImportProblem(value: unknown, where: string, key: ImportKey): Problem {
  return isModuleImport(value)
    ? {
        where,
        what: `names \`${value.path}\`, which is not a file`,
        instead: 'Correct the path. The extension is optional.',
        anchor: 'module-imports',
      }
    : {
        ...describeInline(value, where),
        instead: `Export it from a file, and use \`${key}: createModuleImport(path, name)\`.`,
        anchor: IMPORT_KEYS[key].anchor,
      }
}

function findFieldListProblem(value: unknown, where: string): Problem | undefined {
  const isFieldList = Array.isArray(value) && value.every(field => typeof field === 'string' && field !== '')
  if (isFieldList) return undefined
  return { where, what: 'is not a list of field names', instead: 'Use a list of field names, such as `[\'passwordHash\']`.' }
}

function findNameListProblem(value: unknown, where: string): Problem | undefined {
  const isNameList = Array.isArray(value) && value.length > 0 && value.every(name => typeof name === 'string' && name !== '')
  if (isNameList) return undefined
  return { where, what: 'is not a list of resources', instead: 'Use a list of registered resources, such as `[\'posts\', \'comments\']`.' }
}

function findReferencesProblem(value: unknown, where: string): Problem | undefined {
  if (isObject(value) && Object.values(value).every(name => typeof name === 'string' && name !== '')) return undefined
  return { where, what: 'does not name a resource for each column', instead: 'Use an object, such as `{ authorId: \'users\' }`.' }
}

function findNestedProblem(value: unknown, where: string): Problem | undefined {
  const isFit = isObject(value) && Object.values(value).every(actions =>
    Array.isArray(actions) && actions.length > 0 && actions.every(isNestedAction))
  if (isFit) return undefined
  const instead = 'Use an object, such as `{ lines: [\'create\', \'update\', \'delete\'], tags: [\'link\', \'unlink\'] }`.'
  return { where, what: 'does not list actions for each relation', instead }
}

function findKeyProblem(value: unknown, where: string): Problem | undefined {
  const names: unknown[] = [value].flat()
  const isFit = names.length > 0 && findFieldListProblem(names, where) === undefined && new Set(names).size === names.length
  if (isFit) return undefined
  const instead = 'Use a field name or a list, such as `[\'orderId\', \'position\']`.'
  return { where, what: 'does not name the columns that identify a row', instead }
}

function findFlagProblem(value: unknown, where: string): Problem | undefined {
  return typeof value === 'boolean' ? undefined : { where, what: 'is not `true` or `false`', instead: 'Use `true` or `false`.' }
}

function findOperationListProblem(value: unknown, where: string): Problem | undefined {
  if (!Array.isArray(value))
    return { where, what: 'is not a list of operations', instead: 'Use a list of operations, such as `[\'delete\', \'purge\']`.' }
  const unknown = value.findIndex(operation => !OPERATIONS.includes(operation as never))
  if (unknown === -1) return undefined
  const name: unknown = value[unknown]
  const isString = typeof name === 'string'
  const what = isString ? `is '${name}', which is not an operation` : 'is not the name of an operation'
  return {
    where: `${where}[${unknown}]`,
    what,
    instead: `Use one of: ${OPERATIONS.join(', ')}.${isString ? didYouMean(name, OPERATIONS) : ''}`,
  }
}

/** Finds the first value that is not plain JSON, because the build writes metadata into a generated module as JSON. */
function findJsonProblem(value: unknown, where: string, parents: readonly unknown[] = []): Problem | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return undefined
  if (parents.includes(value)) return { where, what: 'is a circular reference', instead: 'Use plain JSON.' }
  if (typeof value !== 'object' || isInstance(value)) return { ...describeInline(value, where), instead: 'Use plain JSON.' }
  for (const [key, child] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`
    // In the generated object literal, this key would set the prototype.
    if (key === '__proto__') return { where: at, what: 'is a key that JavaScript reserves', instead: 'Choose another key.' }
    const problem = findJsonProblem(child, at, [...parents, value])
    if (problem) return problem
  }
}

function isKeyOf<T extends object>(table: T, key: string): key is keyof T & string {
  return Object.hasOwn(table, key)
}

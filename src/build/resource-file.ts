/** Reads the registration of a resource from the text of its file, without running the file. */
import { dirname, resolve } from 'pathe'
import { OPERATIONS } from '../runtime/shared/operations'
import { COMPUTED_TYPES } from '../runtime/shared/computed-types'
import { AUTHORIZATION_KEYS, HOOK_KEYS, VALIDATION_KEYS } from '../runtime/shared/registration-keys'
import { didYouMean } from '../runtime/shared/suggest'
import type { ModuleImport } from './module-import'
import { DOCS, type Problem } from './problem'
import { isHubModule } from './nuxthub'
import { DATA_KEY_NAMES } from './registration-keys'
import {
  lineOf, parseFile, propertiesOf, readLiteral, withoutTypes,
  type CallExpression, type Expression, type Node, type ObjectExpression, type ParsedFile, type Property, type UnreadableEntry,
} from '../runtime/shared/syntax'

export interface ResourceFile {
  /** The name of the resource: the name of the file without its extension. */
  readonly name: string
  readonly path: string
  /** The path in messages. */
  readonly displayPath: string
}

export interface ReadResource {
  /** The same object that the hook `autoApi:registerSchema` accepts. It is missing if the build could not read the file. */
  readonly registration?: Readonly<Record<string, unknown>>
  /** Whether the file contains permissions. Without them, the resource refuses every request. */
  readonly hasPermissions: boolean
  readonly problems: readonly Problem[]
}

const EXAMPLE = '`export default defineResource(table, { permissions: { read: true } })`'
const PAGE = `→ ${DOCS}/2.guides/1.registering.md`

/** Keys whose values only the server loads. */
const LOADED_KEYS = ['authorization', 'validation', 'hooks', 'wire'] as const
const ALL_KEYS = [...LOADED_KEYS, 'computed', 'relations', ...DATA_KEY_NAMES, ...Object.keys(AUTHORIZATION_KEYS)]

/** Objects whose keys the build can check, with the names that they accept. */
const CHECKED_OBJECTS: Readonly<Record<string, { readonly known: readonly string[], readonly what: string }>> = {
  permissions: { known: OPERATIONS, what: 'is not an operation' },
  hooks: { known: Object.keys(HOOK_KEYS), what: 'is not a hook' },
  validation: { known: Object.keys(VALIDATION_KEYS), what: 'is not a body' },
}

export function readResourceFile(file: ResourceFile, source: string): ReadResource {
  const failed = (problem: Problem): ReadResource => ({ problems: [problem], hasPermissions: false })
  const parsed = tryParse(source)
  if (parsed instanceof Error)
    return failed({ where: file.displayPath, what: `cannot be read: ${parsed.message}`, instead: 'Correct the syntax error.' })
  const call = parsed.default
  if (!isDefineResource(call)) {
    const instead = `Every file of this folder registers one resource. Write ${EXAMPLE}, move the file to another folder, or set `
      + `\`autoApi.resourcesDir\` to another folder. ${PAGE}`
    return failed({ where: file.displayPath, what: 'does not export a resource as its default', instead })
  }
  const [table, options] = call.arguments as (Expression | undefined)[]
  const schema = toImport(table, parsed, file)
  if (schema === undefined)
    return failed({
      where: `${file.name}.schema`,
      what: `(${file.displayPath}:${lineOf(table ?? call)}) is not the name of an imported table`,
      instead: 'Import the table from another file, and pass it as the first argument: `defineResource(posts, { … })`.',
    })
  if (options === undefined) return { registration: { schema }, hasPermissions: false, problems: [] }
  const literal = withoutTypes(options)
  if (literal.type !== 'ObjectExpression') return failed(toUnreadable(file, '', options, 'is not an object literal', 'the object'))
  return readOptions(literal, schema, parsed, file)
}

function tryParse(source: string): ParsedFile | Error {
  try {
    return parseFile(source)
  }
  catch (error) {
    return error as Error
  }
}

function isDefineResource(value: Expression | undefined): value is CallExpression {
  return value?.type === 'CallExpression' && value.callee.type === 'Identifier' && value.callee.name === 'defineResource'
}

/** NuxtHub auto-imports `schema`. */
const autoImported = (name: string) => name === 'schema' ? { from: 'hub:db', name } : undefined

/** Returns the import of a name (`posts`) or of a property of a namespace (`schema.posts`). */
function toImport(value: Expression | undefined, { imports }: ParsedFile, file: ResourceFile): ModuleImport | undefined {
  const expression = value && withoutTypes(value)
  const toModuleImport = (from: string, name: string): ModuleImport =>
    ({ __moduleImport: true, path: /^\.{1,2}\//.test(from) ? resolve(dirname(file.path), from) : from, name })
  if (expression?.type === 'Identifier') {
    const found = imports.get(expression.name)
    return found && found.name !== '*' ? toModuleImport(found.from, found.name) : undefined
  }
  if (expression?.type !== 'MemberExpression' || expression.computed) return undefined
  const { object, property } = expression
  const found = object.type === 'Identifier' ? imports.get(object.name) ?? autoImported(object.name) : undefined
  if (found?.name === 'schema' && isHubModule(found.from) && property.type === 'Identifier')
    return toModuleImport(found.from, property.name)
  return found?.name === '*' && property.type === 'Identifier' ? toModuleImport(found.from, property.name) : undefined
}

/** A type that `computed` does not have would only fail in the server. */
function typeProblem({ name, value, node }: Property, file: ResourceFile): Problem[] {
  const callee = value?.type === 'CallExpression' ? value.callee : undefined
  if (callee?.type !== 'MemberExpression' || callee.object.type !== 'Identifier' || callee.object.name !== 'computed') return []
  const type = callee.property.type === 'Identifier' && !callee.computed ? callee.property.name : undefined
  if (type === undefined || COMPUTED_TYPES.includes(type as never)) return []
  const instead = `Use one of: ${COMPUTED_TYPES.join(', ')}.${didYouMean(type, COMPUTED_TYPES)}`
  return [toProblem(file, `computed.${name}`, node, `uses \`computed.${type}\`, which does not exist`, instead)]
}

function readOptions(options: ObjectExpression, schema: ModuleImport, parsed: ParsedFile, file: ResourceFile): ReadResource {
  const registration: Record<string, unknown> = { schema }
  const problems: Problem[] = []
  const isSet = ({ value }: Property) => value?.type !== 'Identifier' || value.name !== 'undefined'
  const properties = propertiesOf(options).filter(property => property.name === undefined || isSet(property))
  const names = new Set(properties.flatMap(({ name }) => name ?? []))
  const member = (key: string): ModuleImport => ({ __moduleImport: true, path: file.path, name: 'default', member: key })

  for (const property of properties) {
    const problem = property.name === undefined
      ? toUnreadable(file, '', property.node, property.what, 'every key')
      : readProperty(property)
    if (problem) problems.push(problem)
  }
  function readProperty(property: Property): Problem | undefined {
    const { name, value, node } = property
    if (Object.hasOwn(CHECKED_OBJECTS, name)) problems.push(...findUnknownNames(file, property))
    if (Object.hasOwn(AUTHORIZATION_KEYS, name)) {
      if (!names.has('authorization')) registration.authorization = member('authorization')
      else return toProblem(file, name, node, 'is set beside `authorization`', 'Move it into `authorization`.')
    }
    else if (LOADED_KEYS.includes(name as never)) registration[name] = member(name)
    else if (name === 'computed') {
      const read = readComputed(property)
      registration.computed = read.registered
      return read.problem
    }
    else if (name === 'relations') {
      registration.relations = toImport(value, parsed, file)
      if (!registration.relations)
        return toProblem(file, name, node, 'is not the name of an import', 'Import the relations from another file.')
    }
    else if (DATA_KEY_NAMES.includes(name)) {
      const literal = value === undefined ? { unreadable: node } : readLiteral(value)
      if ('unreadable' in literal) return toUnreadable(file, name, literal.unreadable, 'is not a literal', 'the value')
      registration[name] = literal.value
    }
    else {
      const instead = name === 'schema' ? 'The table is the first argument of `defineResource`.' : didYouMean(name, ALL_KEYS).trim()
      return toProblem(file, name, node, 'is not a key of a resource', instead || 'Remove it.')
    }
  }
  /** The names of the fields are part of the types, so the build reads them. */
  function readComputed({ name, value, node }: Property): { readonly registered?: ModuleImport, readonly problem?: Problem } {
    if (value?.type !== 'ObjectExpression') {
      const registered = toImport(value, parsed, file)
      return registered
        ? { registered }
        : { problem: toProblem(file, name, node, 'is neither an object nor the name of an import', 'Write the object out in the file.') }
    }
    const fields = propertiesOf(value)
    const unreadable = fields.find(field => field.name === undefined)
    if (unreadable?.name === undefined && unreadable)
      return { problem: toUnreadable(file, name, unreadable.node, unreadable.what, 'the name of every field') }
    const unknown = fields.flatMap(field => typeProblem(field as Property, file))
    return unknown[0] ? { problem: unknown[0] } : { registered: { ...member(name), names: fields.map(field => field.name!) } }
  }
  return { registration, hasPermissions: names.has('authorization') || names.has('permissions'), problems }
}

function findUnknownNames(file: ResourceFile, { name, value }: Property): Problem[] {
  if (value?.type !== 'ObjectExpression') return []
  const { known, what } = CHECKED_OBJECTS[name]!
  return propertiesOf(value).flatMap(({ name: key, node }: Property | UnreadableEntry) =>
    key === undefined || known.includes(key)
      ? []
      : toProblem(file, `${name}.${key}`, node, what, didYouMean(key, known).trim() || `Use one of: ${known.join(', ')}.`),
  )
}

function toProblem(file: ResourceFile, key: string, node: Node, what: string, instead: string): Problem {
  return { where: key ? `${file.name}.${key}` : file.name, what: `(${file.displayPath}:${lineOf(node)}) ${what}`, instead }
}

/** The build reads the text of the file, so it cannot know the result of an expression. */
function toUnreadable(file: ResourceFile, key: string, node: Node, what: string, part: string): Problem {
  return toProblem(file, key, node, `${what}, so the build cannot read it`, `Write ${part} out in the file. ${PAGE}`)
}

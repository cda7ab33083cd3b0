/** Collects what Nuxt modules register through `autoApi:registerSchema`, and checks it before anything is generated. */
import type { Operation } from '../runtime/shared/operations'
import { RESERVED_NAMES } from '../runtime/shared/routes'
import type { NamedImport } from './exports'
import type { ModuleImport } from './module-import'
import { checkRegistration, type CheckedRegistration } from './registration-keys'
import { AutoApiBuildError, DOCS, type Problem } from './problem'

/** What a resource is made of. Code is named, never written inline: only the server loads it. */
export interface RegistrationOptions {
  /** The Drizzle table. */
  schema: ModuleImport
  /** Who may do what. Without it every request is refused, and the build warns. */
  authorization?: ModuleImport
  /** Schemas for `create` and `update`; what is missing is generated from the table. */
  validation?: ModuleImport
  hooks?: ModuleImport
  /** Drizzle `relations()` of the table, for the names of its relations. */
  relations?: ModuleImport
  /**
   * Fields that are never returned and cannot be used in a query.
   * @default []
   */
  hiddenFields?: string[]
  /**
   * Fields that are dropped from bodies; hooks may write them.
   * @default []
   */
  protectedFields?: string[]
  /**
   * Operations that this API does not have, for any caller: their routes answer 405, bulk included, and their composables do not
   * accept the resource.
   * @default []
   */
  disabled?: Operation[]
  /**
   * Free JSON for tooling and the admin.
   * @default {}
   */
  metadata?: Record<string, unknown>
}

/** Handed to the `autoApi:registerSchema` hook. */
export interface ResourceRegistry {
  /**
   * Registers a resource.
   * @param name the segment of the URL, and the resource's name everywhere else
   * @throws AutoApiBuildError when called after the hook has ended
   * @example
   * registry.register('posts', {
   *   schema: createModuleImport(resolve('./schema'), 'posts'),
   *   authorization: createModuleImport(resolve('./auth'), 'postsAuth'),
   * })
   */
  register: (name: string, registration: RegistrationOptions) => void
  /**
   * Replaces parts of a registration, whoever made it and whichever comes first.
   * @throws AutoApiBuildError when called after the hook has ended
   * @example
   * registry.override('posts', { authorization: createModuleImport(resolve('./auth'), 'ourPostsAuth') })
   */
  override: (name: string, parts: Partial<RegistrationOptions>) => void
}

interface Entry {
  readonly name: unknown
  readonly registration: unknown
}

export interface CollectedRegistrations {
  readonly registrations: readonly CheckedRegistration[]
  /** The exports that registrations name. */
  readonly named: readonly NamedImport[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/**
 * Runs the hook, then checks everything it registered together: what comes later may complete what came first.
 * @param findPath the path the bundler will be given, `undefined` where there is no file
 */
export async function collectRegistrations(
  callHook: (registry: ResourceRegistry) => unknown,
  findPath: (path: string) => string | undefined,
): Promise<CollectedRegistrations> {
  const entries: Entry[] = []
  const overrides: Entry[] = []
  let isOpen = true
  const addTo = (list: Entry[]) => (name: string, registration: unknown) => {
    // Whatever registers after the hook has ended would be missing from the API without a word.
    if (!isOpen)
      throw new AutoApiBuildError([
        {
          where: String(name),
          what: 'is registered after `autoApi:registerSchema` has ended',
          instead: 'Await what the hook waits for, or make it synchronous.',
        },
      ])
    list.push({ name, registration })
  }
  await callHook({ register: addTo(entries), override: addTo(overrides) })
  isOpen = false
  const { problems, ...collected } = checkRegistrations(entries.map(entry => withOverrides(entry, overrides)), findPath)
  return { ...collected, problems: [...problems, ...checkOverrides(entries, overrides)] }
}

/** Later overrides win over earlier ones. */
function withOverrides({ name, registration }: Entry, overrides: readonly Entry[]): Entry {
  const parts = overrides
    .filter(override => override.name === name && isObject(override.registration))
    .map(override => override.registration as object)
  return parts.length === 0 || !isObject(registration)
    ? { name, registration }
    : { name, registration: Object.assign({}, registration, ...parts) as unknown }
}

/** An override of nothing would leave rules that were meant to be replaced in force, or in no force at all. */
function checkOverrides(entries: readonly Entry[], overrides: readonly Entry[]): Problem[] {
  return overrides.flatMap(({ name, registration }): Problem[] => {
    if (!entries.some(entry => entry.name === name))
      return [{ where: String(name), what: 'is overridden but not registered', instead: 'Name a registered resource.' }]
    return isObject(registration)
      ? []
      : [
          {
            where: String(name),
            what: 'is overridden with something that is not an object',
            instead: 'Pass the parts to replace, such as `{ authorization: createModuleImport(path, name) }`.',
          },
        ]
  })
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

export function checkRegistrations(entries: readonly Entry[], findPath: (path: string) => string | undefined): CollectedRegistrations {
  const names = checkNames(entries.map(({ name }) => name))
  const checked = entries.map(({ name, registration }) => checkRegistration(String(name), registration, findPath))
  return {
    registrations: checked.map(({ registration }) => registration),
    named: checked.flatMap(({ registration: { name, imports } }) =>
      Object.entries(imports).map(([key, reference]) => ({ where: `${name}.${key}`, import: reference })),
    ),
    problems: [...names, ...checked.flatMap(({ problems }) => problems)],
    // Where something is wrong, the authorization may just be misspelt.
    warnings: [
      ...findMissingRegistration(entries),
      ...findMissingAuthorization(checked.filter(({ problems }) => !problems.length).map(({ registration }) => registration)),
    ],
  }
}

type NameRule = readonly [breaks: (name: string, earlier: readonly unknown[]) => boolean, what: string, instead: string]

/** The first rule a name breaks is reported. */
const NAME_RULES: readonly NameRule[] = [
  [name => name.startsWith('_'), 'begins with `_`, which is kept for the API\'s own routes', 'Begin the name with a letter.'],
  [name => !/^[A-Z][\w-]*$/i.test(name), 'cannot be a segment of a URL', 'Use letters, digits, `_` and `-`, beginning with a letter.'],
  [name => RESERVED_NAMES.includes(name), 'is the name of a route of the API', 'Choose another name.'],
  [
    (name, earlier) => earlier.includes(name),
    'is registered twice',
    'Register each resource once; Nuxt loads the files of `modules/` without being told to.',
  ],
]

function checkNames(names: readonly unknown[]): Problem[] {
  return names.flatMap((name, index) => {
    if (typeof name !== 'string' || name === '')
      return {
        where: String(name),
        what: 'is not the name of a resource',
        instead: 'Call `registry.register(name, registration)` with a string.',
      }
    const broken = NAME_RULES.find(([breaks]) => breaks(name, names.slice(0, index)))
    return broken ? { where: name, what: broken[1], instead: broken[2] } : []
  })
}

/** An app without resources answers nothing: mostly the hook was never called, or the module that calls it is not listed. */
function findMissingRegistration(entries: readonly Entry[]): string[] {
  return entries.length > 0
    ? []
    : [
        `No resource is registered, so the API answers nothing. Call \`registry.register(name, registration)\` in the hook \`autoApi:registerSchema\` of a Nuxt module. → ${DOCS}/registering.md`,
      ]
}

/** One warning for all of them: a list is read, a screenful of equal lines is not. */
function findMissingAuthorization(registrations: readonly CheckedRegistration[]): string[] {
  const refusing = [...new Set(registrations.filter(({ imports }) => !imports.authorization).map(({ name }) => `\`${name}\``))]
  if (!refusing.length) return []
  const subject = refusing.length === 1 ? `${refusing[0]} has` : `${refusing.slice(0, -1).join(', ')} and ${refusing.at(-1)} have`
  return [
    `${subject} no authorization: every request is refused. Add \`authorization: createModuleImport(path, name)\` to the registration.`,
  ]
}

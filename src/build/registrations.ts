/** Collects the registrations of the hook `autoApi:registerSchema` and checks them. */
import { isObject } from '../runtime/shared/is-object'
import { RESERVED_NAMES } from '../runtime/shared/routes'
import { didYouMean } from '../runtime/shared/suggest'
import type { RegistrationOptions, ResourceRegistry } from '../runtime/shared/types/registry'
import type { OptionImport } from './exports'
import type { FindPath, ModuleImport } from './module-import'
import { AutoApiBuildError, DOCS, type Problem } from './problem'
import { checkRegistration, type CheckedRegistration } from './registration-keys'
import type { FileResource } from './resource-files'

export type { RegistrationOptions, ResourceRegistry }

interface Entry {
  readonly name: unknown
  readonly registration: unknown
  /** The resource file, if a file registers the resource. */
  readonly file?: Pick<FileResource, 'displayPath' | 'hasPermissions'>
}

export interface CollectedRegistrations {
  readonly registrations: readonly CheckedRegistration[]
  /** The module imports of all registrations. */
  readonly named: readonly OptionImport[]
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/**
 * Calls the hook, then checks all registrations together, because a later call can override an earlier one.
 * @param findPath returns the path that the bundler can import, or `undefined` if no file exists
 * @param files the resources that files register
 */
export async function collectRegistrations(
  callHook: (registry: ResourceRegistry) => unknown,
  findPath: FindPath,
  files: readonly FileResource[] = [],
): Promise<CollectedRegistrations> {
  const entries: Entry[] = files.map(file => ({ name: file.name, registration: file.registration, file }))
  const overrides: Entry[] = []
  const protections: Entry[] = []
  let isOpen = true
  const addTo = (list: Entry[]) => (name: string, registration: unknown) => {
    // The build no longer reads the list after the hook. Without this error, the resource would silently be missing.
    if (!isOpen)
      throw new AutoApiBuildError([
        {
          where: String(name),
          what: 'is registered after `autoApi:registerSchema` has ended',
          instead: 'Return a promise from the hook that resolves after the call.',
        },
      ])
    list.push({ name, registration })
  }
  await callHook({ register: addTo(entries), override: addTo(overrides), protect: addTo(protections) })
  isOpen = false
  const { problems, ...collected } = checkRegistrations(
    entries.map(entry => withProtections(withOverrides(entry, overrides), protections)), findPath,
  )
  return { ...collected, problems: [...problems, ...checkOverrides(entries, overrides), ...checkProtections(entries, protections)] }
}

/** Applies the overrides of a registration. A later override has priority over an earlier one. */
function withOverrides(entry: Entry, overrides: readonly Entry[]): Entry {
  const { name, registration } = entry
  const parts = overrides
    .filter(override => override.name === name && isObject(override.registration))
    .map(override => override.registration as object)
  return parts.length === 0 || !isObject(registration)
    ? entry
    : { ...entry, registration: Object.assign({}, registration, ...parts) as unknown }
}

/** Adds the fields that plugins write to `protectedFields`. An invalid list of the registration stays as it is, for its check. */
function withProtections(entry: Entry, protections: readonly Entry[]): Entry {
  const { name, registration } = entry
  const added = protections.filter(protection => protection.name === name).flatMap(protection => protection.registration)
  if (added.length === 0 || !isObject(registration)) return entry
  const { protectedFields = [] } = registration as { readonly protectedFields?: unknown }
  if (!Array.isArray(protectedFields)) return entry
  return { ...entry, registration: { ...registration, protectedFields: [...new Set([...protectedFields as unknown[], ...added])] } }
}

function checkProtections(entries: readonly Entry[], protections: readonly Entry[]): Problem[] {
  const names = entries.map(entry => String(entry.name))
  return protections.filter(({ name }) => !names.includes(String(name))).map(({ name }) => ({
    where: String(name),
    what: 'has protected fields but is not registered',
    instead: `Use the name of a registered resource.${didYouMean(String(name), names)}`,
  }))
}

/** Reports overrides without effect. They fail the build, because the rules that they should replace would still apply. */
function checkOverrides(entries: readonly Entry[], overrides: readonly Entry[]): Problem[] {
  return overrides.flatMap(({ name, registration }): Problem[] => {
    if (!entries.some(entry => entry.name === name))
      return [{ where: String(name), what: 'is overridden but not registered', instead: 'Use the name of a registered resource.' }]
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

export function checkRegistrations(entries: readonly Entry[], findPath: FindPath): CollectedRegistrations {
  const names = checkNames(entries.map(({ name }) => name))
  const checked = entries.map(({ name, registration, file }) => ({ ...checkRegistration(String(name), registration, findPath), file }))
  return {
    registrations: checked.map(({ registration }) => registration),
    named: checked.flatMap(({ registration: { name, imports } }) =>
      Object.entries(imports).map(([key, reference]) => ({ where: `${name}.${key}`, import: reference })),
    ),
    problems: [...names, ...checked.flatMap(({ problems }) => problems)],
    // A registration with problems gets no warning about authorization, because its `authorization` key could be misspelled.
    warnings: [
      ...warnOfNoResources(entries),
      ...warnOfNoAuthorization(checked.filter(({ problems }) => !problems.length)),
    ],
  }
}

type NameRule = readonly [breaks: (name: string, earlier: readonly unknown[]) => boolean, what: string, instead: string]

/** Rules for resource names. The build reports only the first rule that a name breaks. */
const NAME_RULES: readonly NameRule[] = [
  [name => name.startsWith('_'), 'begins with `_`, which is reserved for routes of the API', 'Begin the name with a letter.'],
  [name => !/^[A-Z][\w-]*$/i.test(name), 'cannot be a segment of a URL', 'Use letters, digits, `_` and `-`, beginning with a letter.'],
  [name => name in Object.prototype, 'is a property of every object', 'Choose another name, such as the plural.'],
  [name => RESERVED_NAMES.includes(name), 'is the name of a route of the API', 'Choose another name.'],
  [
    (name, earlier) => earlier.includes(name),
    'is registered twice',
    'Register each resource once: in a file of `server/resources` or in the hook. Nuxt loads the files of `modules/` automatically.',
  ],
]

/** Returns the problem of a single name, which no other resource has. */
export const findNameProblem = (name: string): Problem | undefined => checkNames([name])[0]

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

/** Warns if there are no resources. Usually, the folder or `modules` does not contain the file that registers them. */
function warnOfNoResources(entries: readonly Entry[]): string[] {
  return entries.length > 0
    ? []
    : [
        'No resource is registered, so the API has no resource routes. Create `server/resources/<name>.ts` with '
        + '`export default defineResource(table, { permissions: { read: true } })`. '
        + `In a Nuxt module, use the hook \`autoApi:registerSchema\`. → ${DOCS}/2.guides/1.registering.md`,
      ]
}

interface Checked extends Pick<Entry, 'file'> {
  readonly registration: CheckedRegistration
}

/** Returns one warning that lists all resources without authorization. */
function warnOfNoAuthorization(checked: readonly Checked[]): string[] {
  const refused = checked.filter(({ registration: { imports }, file }) => isRefused(imports.authorization, file))
  const resources = [...new Set(refused.map(({ registration: { name } }) => `\`${name}\``))]
  if (!resources.length) return []
  const subject = resources.length === 1 ? `${resources[0]} has` : `${resources.slice(0, -1).join(', ')} and ${resources.at(-1)} have`
  const paths = [...new Set(refused.flatMap(({ file }) => file ? `\`${file.displayPath}\`` : []))]
  const instead = [
    ...paths.length > 0 ? [`Add \`permissions: { read: true }\` to ${paths.join(', ')}.`] : [],
    ...refused.some(({ file }) => !file) ? ['Add `authorization: createModuleImport(path, name)` to the registration.'] : [],
  ]
  return [`${subject} no authorization, so every request is refused. ${instead.join(' ')}`]
}

/** A file can have other keys of an authorization, but no permissions. An override of its authorization has no `member`. */
function isRefused(authorization: ModuleImport | undefined, file: Entry['file']): boolean {
  return authorization === undefined || (authorization.member !== undefined && file !== undefined && !file.hasPermissions)
}

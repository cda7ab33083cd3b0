/** Generates `#auto-api/registry`: the registered resources, as imports and data. */
import { genImport, genObjectFromRaw, genString } from 'knitwork'
import { isAbsolute, relative } from 'pathe'
import type { ModuleImport } from '../module-import'
import type { CheckedRegistration } from '../registration-keys'

/**
 * Generates the module. It imports exports by name, so that a missing export fails the bundle and not a request. It exports functions,
 * because registered files can import the server utils: a function reads the imports only after all modules are loaded, so the import
 * cycle has no effect.
 *
 * @param rootDir the folder of the app. Paths in messages of the server are relative to it.
 * @param furtherSchema files with further tables
 */
export function generateRegistry(
  registrations: readonly CheckedRegistration[], rootDir?: string, furtherSchema: readonly string[] = [],
): string {
  /** The local names of the imports, by file and export. One import statement per file is faster to bundle than one per export. */
  const files = new Map<string, Map<string, string>>()
  let count = 0
  const nameImport = ({ path, name }: ModuleImport): string => {
    const file = files.get(path) ?? new Map<string, string>()
    const local = file.get(name) ?? `import${count++}`
    files.set(path, file.set(name, local))
    return local
  }
  const resources = registrations.map(registration => toLiteral(registration, nameImport, rootDir))
  const schemaFiles = [...new Set([...registrations.flatMap(({ imports }) => imports.schema?.path ?? []), ...furtherSchema])]

  return [
    ...[...files].map(([path, names]) => genImport(path, [...names].map(([name, as]) => ({ name, as })))),
    ...schemaFiles.map((path, index) => genImport(path, { name: '*', as: `schema${index}` })),
    '',
    `export function registrations() {\n  return ${list(resources, '  ')}\n}`,
    '',
    `export function schemaModules() {\n  return ${list(schemaFiles.map((_, index) => `schema${index}`), '  ')}\n}`,
    '',
  ].join('\n')
}

function toLiteral(
  { name, imports, data }: CheckedRegistration,
  nameImport: (reference: ModuleImport) => string,
  rootDir: string | undefined,
): string {
  const sources = rootDir !== undefined && Object.entries(imports).map(([key, reference]) => [key, toSourceName(reference, rootDir)])
  const toExpression = (reference: ModuleImport) =>
    nameImport(reference) + (reference.member === undefined ? '' : `.${reference.member}`)
  return genObjectFromRaw(
    {
      name: genString(name),
      ...Object.fromEntries(Object.entries(imports).map(([key, reference]) => [key, toExpression(reference)])),
      ...Object.fromEntries(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)])),
      ...(sources && { from: JSON.stringify(Object.fromEntries(sources)) }),
    },
    '    ',
  )
}

/** Returns the text for a file and its export in messages: "server/auth.ts, export `postsAuth`". */
export function toSourceName({ path, name, member }: ModuleImport, rootDir: string): string {
  if (member !== undefined) return relative(rootDir, path)
  return `${isAbsolute(path) ? relative(rootDir, path) : path}, ${name === 'default' ? 'default export' : `export \`${name}\``}`
}

function list(entries: readonly string[], indent: string): string {
  return entries.length ? `[\n${entries.map(entry => `${indent}  ${entry},\n`).join('')}${indent}]` : '[]'
}

/** `#auto-api/registry`: the registered resources, as imports and data. */
import { genImport, genObjectFromRaw, genString } from 'knitwork'
import { isAbsolute, relative } from 'pathe'
import type { ModuleImport } from '../module-import'
import type { CheckedRegistration } from '../registration-keys'

/**
 * Writes the module. Exports are imported by name, so that a missing one fails the bundle and not a request; everything
 * is handed out by functions, so that registered files may import the server utils without a circle at load time.
 *
 * @param rootDir the app's folder: messages of the server name files from there
 */
export function generateRegistry(registrations: readonly CheckedRegistration[], rootDir?: string): string {
  /** Per file: the local name of each of its exports. One statement per file keeps the bundler's work independent of how many resources share it. */
  const files = new Map<string, Map<string, string>>()
  let count = 0
  const nameImport = ({ path, name }: ModuleImport): string => {
    const file = files.get(path) ?? new Map<string, string>()
    const local = file.get(name) ?? `import${count++}`
    files.set(path, file.set(name, local))
    return local
  }
  const resources = registrations.map(registration => toLiteral(registration, nameImport, rootDir))
  const schemaFiles = [...new Set(registrations.flatMap(({ imports }) => imports.schema?.path ?? []))]

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
  return genObjectFromRaw(
    {
      name: genString(name),
      ...Object.fromEntries(Object.entries(imports).map(([key, reference]) => [key, nameImport(reference)])),
      ...Object.fromEntries(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)])),
      ...(rootDir !== undefined && {
        from: JSON.stringify(Object.fromEntries(Object.entries(imports).map(([key, reference]) => [key, toSourceName(reference, rootDir)]))),
      }),
    },
    '    ',
  )
}

/** `server/auth.ts, export postsAuth`: as the app's developer knows the file. */
export function toSourceName({ path, name }: ModuleImport, rootDir: string): string {
  return `${isAbsolute(path) ? relative(rootDir, path) : path}, ${name === 'default' ? 'default export' : `export \`${name}\``}`
}

function list(entries: readonly string[], indent: string): string {
  return entries.length ? `[\n${entries.map(entry => `${indent}  ${entry},\n`).join('')}${indent}]` : '[]'
}

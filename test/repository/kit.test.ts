/** The kit: the docs list its public names, and the names that only one built-in plugin needs become fewer. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Names of the kit that are not public and that one plugin alone imports. A change can lower this number, and nothing raises it. */
const OF_ONE_PLUGIN = 93

/** The names between the braces of imports or exports, without those of types only if `values` is set. */
function namesIn(text: string, from: RegExp, { values = false } = {}): string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest)
  return source.statements.flatMap((statement) => {
    const isImport = ts.isImportDeclaration(statement)
    if (!isImport && !ts.isExportDeclaration(statement)) return []
    if (!statement.moduleSpecifier || !from.test((statement.moduleSpecifier as ts.StringLiteral).text)) return []
    const clause = isImport ? statement.importClause?.namedBindings : statement.exportClause
    const isType = isImport ? statement.importClause?.isTypeOnly : statement.isTypeOnly
    if (!clause || !(ts.isNamedImports(clause) || ts.isNamedExports(clause)) || (values && isType)) return []
    return clause.elements.filter(element => !values || !element.isTypeOnly)
      .map(({ name, propertyName }) => (isImport ? propertyName ?? name : name).getText(source))
  })
}

describe('the public kit', () => {
  it.each(['src/runtime/server/plugin-kit.ts', 'src/runtime/app/kit.ts'])('has its values in the docs: %s', (file) => {
    const docs = read('docs/4.plugins/15.plugin-kit.md')
    const names = namesIn(read(file), /./, { values: true })
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter(name => !new RegExp(`\`${name}[\`(]`).test(docs))).toEqual([])
  })

  it('has about sixty names', () => {
    expect(namesIn(read('src/runtime/server/plugin-kit.ts'), /./).length).toBeLessThanOrEqual(65)
  })
})

it('has ever fewer names that only one built-in plugin needs', () => {
  const users = new Map<string, Set<string>>()
  const plugins = 'src/runtime/plugins'
  for (const file of readdirSync(join(root, plugins), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))) {
    const [plugin = ''] = file.split('/')
    for (const name of namesIn(read(join(plugins, file)), /\/server\/(?:kit|plugin)\//)) users.set(name, (users.get(name) ?? new Set()).add(plugin))
  }
  const known = new Set(['plugin-kit', 'define'].flatMap(file => namesIn(read(`src/runtime/server/${file}.ts`), /./)))
  const own = [...users].filter(([name, { size }]) => size === 1 && !known.has(name)).map(([name]) => name)
  expect(users.size).toBeGreaterThan(150)
  expect(own.length, own.sort().join(' ')).toBeLessThanOrEqual(OF_ONE_PLUGIN)
})

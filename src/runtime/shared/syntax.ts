/** Reads the text of a TypeScript file without running it: its imports, its default export and literal values. */
import { parse, type ParserOptions } from '@babel/parser'

type Statement = ReturnType<typeof parse>['program']['body'][number]
export type Expression = Extract<Statement, { type: 'ExpressionStatement' }>['expression']
export type CallExpression = Extract<Expression, { type: 'CallExpression' }>
export type ObjectExpression = Extract<Expression, { type: 'ObjectExpression' }>
type ArrayExpression = Extract<Expression, { type: 'ArrayExpression' }>
export type Node = Statement | Expression | ObjectExpression['properties'][number] | CallExpression['arguments'][number]

/** The names that a file imports, by local name. `name` is `*` for `import * as`. */
export type FileImports = ReadonlyMap<string, { readonly from: string, readonly name: string }>

export interface ParsedFile {
  readonly imports: FileImports
  /** The value of the default export. A constant of the file is replaced by its value. */
  readonly default: Expression | undefined
}

const OPTIONS: ParserOptions = { sourceType: 'module', plugins: ['typescript'] }

/** @throws SyntaxError with `loc` if the file is not valid TypeScript */
export function parseFile(source: string): ParsedFile {
  const { program: { body } } = parse(source, OPTIONS)
  const exported = body.find(statement => statement.type === 'ExportDefaultDeclaration')?.declaration
  if (exported === undefined || !isExpression(exported)) return { imports: importsOf(body), default: undefined }
  const value = withoutTypes(exported)
  return { imports: importsOf(body), default: value.type === 'Identifier' ? constantOf(body, value.name) : value }
}

/**
 * Returns the value of an export of a file, with the value of a constant for its name.
 * @param name the name of the export; `default` for the default export
 * @throws SyntaxError with `loc` if the file is not valid TypeScript
 */
export function findExport(source: string, name: string): Expression | undefined {
  if (name === 'default') return parseFile(source).default
  const { program: { body } } = parse(source, OPTIONS)
  const declared = body.flatMap(statement =>
    statement.type === 'ExportNamedDeclaration' && statement.declaration ? [statement.declaration as Statement] : [statement])
  return constantOf(declared, name)
}

/** The object literal of a value: itself, or the last one among the arguments of a call, such as that of `defineResource`. */
export function findObject(value: Expression | undefined): ObjectExpression | undefined {
  if (value === undefined) return undefined
  const plain = withoutTypes(value)
  if (plain.type === 'ObjectExpression') return plain
  if (plain.type !== 'CallExpression') return undefined
  return plain.arguments.toReversed().map(argument => isExpression(argument) ? withoutTypes(argument) : undefined)
    .find((argument): argument is ObjectExpression => argument?.type === 'ObjectExpression')
}

function importsOf(body: readonly Statement[]): FileImports {
  return new Map(
    body.flatMap(statement => statement.type !== 'ImportDeclaration'
      ? []
      : statement.specifiers.map((specifier) => {
          const name = specifier.type === 'ImportNamespaceSpecifier'
            ? '*'
            : specifier.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(specifier.imported)!
          return [specifier.local.name, { from: statement.source.value, name }] as const
        })),
  )
}

function constantOf(body: readonly Statement[], name: string): Expression | undefined {
  for (const statement of body) {
    if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') continue
    const found = statement.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name)
    if (found?.init) return withoutTypes(found.init)
  }
  return undefined
}

/** Removes `as`, `satisfies`, `!` and parentheses. */
export function withoutTypes(expression: Expression): Expression {
  switch (expression.type) {
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return withoutTypes(expression.expression)
    default:
      return expression
  }
}

/** A property of an object literal. `value` is missing for methods and accessors. */
export interface Property {
  readonly name: string
  readonly value: Expression | undefined
  readonly node: Node
}

/** An entry of an object literal whose name is not in the text: a spread or a computed key. */
export interface UnreadableEntry {
  readonly name?: undefined
  readonly what: string
  readonly node: Node
}

export function propertiesOf({ properties }: ObjectExpression): (Property | UnreadableEntry)[] {
  return properties.map((node) => {
    if (node.type === 'SpreadElement') return { what: 'contains a spread (`...`)', node }
    const name = node.computed && node.key.type !== 'StringLiteral' ? undefined : nameOf(node.key as Expression)
    if (name === undefined) return { what: 'contains a computed key', node }
    const value = node.type === 'ObjectProperty' && isExpression(node.value as Node) ? withoutTypes(node.value as Expression) : undefined
    return { name, value, node }
  })
}

function nameOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name
  return node.type === 'StringLiteral' || node.type === 'NumericLiteral' ? String(node.value) : undefined
}

/** The value of a literal, or the first node inside of it that is not a literal. */
export type Literal = { readonly value: unknown } | { readonly unreadable: Node }

export function readLiteral(expression: Expression): Literal {
  const node = withoutTypes(expression)
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return { value: node.value }
    case 'NullLiteral':
      return { value: null }
    case 'TemplateLiteral':
      return node.expressions.length > 0 ? { unreadable: node } : { value: node.quasis[0]!.value.cooked }
    case 'UnaryExpression':
      return node.operator === '-' && node.argument.type === 'NumericLiteral' ? { value: -node.argument.value } : { unreadable: node }
    case 'ArrayExpression':
      return readList(node)
    case 'ObjectExpression':
      return readObject(node)
    default:
      return { unreadable: node }
  }
}

function readList(list: ArrayExpression): Literal {
  const values: unknown[] = []
  for (const element of list.elements) {
    if (element === null || element.type === 'SpreadElement') return { unreadable: element ?? list }
    const literal = readLiteral(element)
    if ('unreadable' in literal) return literal
    values.push(literal.value)
  }
  return { value: values }
}

function readObject(object: ObjectExpression): Literal {
  const entries: [string, unknown][] = []
  for (const property of propertiesOf(object)) {
    if (property.name === undefined || property.value === undefined) return { unreadable: property.node }
    const literal = readLiteral(property.value)
    if ('unreadable' in literal) return literal
    entries.push([property.name, literal.value])
  }
  return { value: Object.fromEntries(entries) }
}

function isExpression(node: Node): node is Expression {
  return !/(?:Declaration|Pattern)$/.test(node.type)
}

export const lineOf = (node: Node): number => node.loc?.start.line ?? 1

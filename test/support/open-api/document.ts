/** Validates OpenAPI documents, and JSON values against the schemas of a document. Both validators are independent of the module. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a document holds
export type Document = any

const METHODS = new Set(['get', 'post', 'patch', 'put', 'delete'])

export interface FoundOperation {
  readonly method: string
  readonly path: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever an operation holds
  readonly operation: any
}

export function operationsOf(document: Document): readonly FoundOperation[] {
  return Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** Returns the problems of a document: of its form, of its schemas and of its operation ids. */
export async function findProblems(document: Document): Promise<readonly string[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  const ids = operationsOf(document).map(({ operation }) => operation.operationId as string)
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index)
  return [
    ...valid ? [] : [JSON.stringify(errors).slice(0, 2000)],
    ...repeated.map(id => `The operation id ${id} is not unique.`),
    ...findBrokenReferences(document),
    ...findSchemaProblems(document),
  ]
}

function findBrokenReferences(document: Document): string[] {
  return [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]*)"/g)].map(([, pointer]) => pointer!).filter((pointer) => {
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- any part of the document
    const found = pointer.slice(2).split('/').reduce<any>((part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document)
    return found === undefined
  }).map(pointer => `The reference ${pointer} leads nowhere.`)
}

function findSchemaProblems(document: Document): string[] {
  const ajv = createAjv(document)
  return Object.keys(document.components.schemas).flatMap((name) => {
    try {
      ajv.compile({ $ref: `${ID}#/components/schemas/${name}` })
      return []
    }
    catch (error) {
      return [`The schema ${name}: ${(error as Error).message}`]
    }
  })
}

const ID = 'https://example.com/openapi.json'

function createAjv(document: Document): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(rebase(document) as object, ID)
  return ajv
}

/** References of the document get its address, because ajv resolves them from the schema that it compiles. */
function rebase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rebase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) =>
    [key, key === '$ref' && typeof part === 'string' && part.startsWith('#') ? ID + part : rebase(part)]))
}

/** Validates values against the schemas of a document. */
export function createSchemaValidator(document: Document): (schema: object, value: unknown) => readonly string[] {
  const ajv = createAjv(document)
  const known = new Map<string, ValidateFunction>()
  return (schema, value) => {
    const key = JSON.stringify(schema)
    let validate = known.get(key)
    if (!validate) known.set(key, validate = ajv.compile(rebase(schema) as object))
    return validate(value)
      ? []
      : validate.errors!.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
  }
}

/** Follows a reference of the document, if the value is one. */
export function resolve(document: Document, value: Document): Document {
  if (typeof value?.$ref !== 'string') return value
  return (value.$ref as string).slice(2).split('/').reduce<Document>((part, key) => part[key], document)
}

/** `nuxt-auto-api openapi`: writes the OpenAPI document of a role to a file. */
import { writeFileSync } from 'node:fs'
import { join } from 'pathe'
import { createRoleDocument } from '../build/role-document'
import { CommandError } from './app'
import { loadRegistered } from './check'

export interface OpenApiCommandOptions {
  readonly cwd: string
  /** Roles of the caller. Without roles and permissions, the caller is anonymous. */
  readonly roles?: readonly string[]
  readonly permissions?: readonly string[]
  /**
   * The file, relative to the app.
   * @default 'openapi.json'
   */
  readonly output?: string
}

export interface WrittenDocument {
  readonly file: string
  readonly operations: number
  readonly warning?: string
}

/** @throws CommandError if the app or its resources cannot be loaded */
export async function writeOpenApi(
  { cwd, roles = [], permissions = [], output = 'openapi.json' }: OpenApiCommandOptions,
): Promise<WrittenDocument> {
  const { tables, plugins } = await loadRegistered(cwd)
  const { text, warning } = await createRoleDocument(tables, plugins, { roles, permissions }).catch((error: unknown) => {
    throw new CommandError(`The resources cannot be loaded outside of the server: ${(error as Error).message}`)
  })
  const document = JSON.parse(text) as { readonly paths: Readonly<Record<string, object>> }
  writeFileSync(join(cwd, output), `${JSON.stringify(document, null, 2)}\n`)
  return {
    file: output,
    operations: Object.values(document.paths).reduce((sum, path) => sum + Object.keys(path).length, 0),
    ...warning !== undefined && { warning },
  }
}

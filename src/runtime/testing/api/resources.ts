/** Converts the resources of a test to registrations, as the build does with the files of `server/resources`. */
import { is, Table, View } from 'drizzle-orm'
import { defineResource } from '../../server/define'
import type { ResourceRegistration, ResourceSource } from '../../server/registration'
import { AUTHORIZATION_KEYS, DEFINED } from '../../shared/registration-keys'

/** The parts that have the type of the table in their functions. */
interface Rules {
  readonly authorization?: object
  readonly hooks?: object | undefined
  readonly wire?: object | undefined
}

/** The parts of a registration. */
interface Parts extends Omit<ResourceRegistration, 'name' | 'from' | keyof Rules>, Rules {}

/** A value of `defineResource`. */
type Defined = Rules & Pick<ResourceRegistration, 'validation'>

/** A resource of `defineResource`, the parts of a registration, or a file that exports one of them by default. */
export type TestResource = Defined | Parts | { readonly default: unknown }

/** A resource, or a function that imports its file. */
export type TestResourceSource = TestResource | (() => Promise<TestResource>)

/** @throws When an entry is not a resource. */
export async function toRegistrations(sources: Readonly<Record<string, TestResourceSource>>): Promise<ResourceRegistration[]> {
  return await withAutoImport(async () => {
    const registrations: ResourceRegistration[] = []
    for (const [key, source] of Object.entries(sources))
      registrations.push(toRegistration(nameOf(key), typeof source === 'function' ? await source() : source))
    return registrations
  })
}

/** Resource files use the auto-import `defineResource`, which exists only in the server. */
async function withAutoImport<T>(run: () => Promise<T>): Promise<T> {
  const scope = globalThis as { defineResource?: unknown }
  if (scope.defineResource !== undefined) return await run()
  scope.defineResource = defineResource
  try {
    return await run()
  }
  finally {
    delete scope.defineResource
  }
}

/** `./server/resources/posts.ts` → `posts` */
const nameOf = (key: string) => key.split('/').at(-1)!.replace(/\.[cm]?[jt]s$/, '')

function toRegistration(name: string, source: TestResource): ResourceRegistration {
  const value = 'default' in source ? source.default : source
  const { [DEFINED]: defined, schema, ...parts } = (value ?? {}) as Partial<ResourceRegistration> & {
    readonly [DEFINED]?: { readonly table: ResourceSource, readonly options: object }
  }
  const table = defined?.table ?? schema
  if (!is(table, Table) && !is(table, View)) {
    throw new TypeError(
      `[auto-api] createTestApi(): the resource \`${name}\` has no table. Pass a resource of \`defineResource(table, …)\`, its file, `
      + 'or `{ schema: table, authorization }`.',
    )
  }
  const options = Object.entries(defined?.options ?? {}).filter(([key]) => !Object.hasOwn(AUTHORIZATION_KEYS, key))
  return { ...Object.fromEntries(options), ...parts, name, schema: table }
}

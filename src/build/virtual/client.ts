/** `#build/auto-api/client`: what the composables know of the API, as data: where it is and how resources hang together. */
import type { ResourceDescription } from '../../runtime/server/schema/describe'

export function generateClient(prefix: string, resources: readonly ResourceDescription[]): string {
  const facts = Object.fromEntries(
    resources.map(({ name, key, relations }) => [
      name,
      {
        // Almost every key is `id`: only others are worth their bytes.
        ...(key.join() !== 'id' && { key }),
        relations: Object.fromEntries(
          relations.map(({ name, to, many, linked, via }) => [
            name,
            { to, ...(many && { many }), ...(linked && { linked }), ...(via !== undefined && { via }) },
          ]),
        ),
      },
    ]),
  )
  return [
    '/** Written by nuxt-auto-api. */',
    'interface ResourceFacts { readonly key?: readonly string[], readonly relations: Readonly<Record<string, { readonly to: string, readonly many?: boolean, readonly linked?: boolean, readonly via?: string }>> }',
    `export const prefix: string = ${JSON.stringify(prefix)}`,
    `export const resources: Readonly<Record<string, ResourceFacts>> = ${JSON.stringify(facts, null, 2)}`,
    '',
  ].join('\n')
}

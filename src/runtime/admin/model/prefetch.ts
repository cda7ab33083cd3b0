/** Lets the server wait for queries that depend on each other. */
import { onServerPrefetch } from 'vue'

interface Suspendable { readonly suspense: () => Promise<unknown> }

/** The server waits for each query by itself, but a query that needs the response of another one is not enabled yet. Call it in `setup`. */
export function prefetchInOrder(...queries: readonly Suspendable[]): void {
  onServerPrefetch(async () => {
    for (const query of queries) await query.suspense()
  })
}

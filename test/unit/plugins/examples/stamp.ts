/** Example of docs/plugins.md: a plugin factory that can be called in `nuxt.config`. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'

export interface StampOptions {
  /** Name of the response header. */
  header: string
}

/** Adds a header with the duration of each response. */
export const stamp = defineAutoApiPlugin({ from: 'my-module/stamp', name: 'stamp' }, ({ header }: StampOptions) => ({
  name: 'stamp',
  around: async (_ctx, next) => {
    const start = performance.now()
    const response = await next()
    return { ...response, headers: { ...response.headers, [header]: `${Math.round(performance.now() - start)} ms` } }
  },
}))

import { defineAutoApiPlugin } from 'nuxt-auto-api/define'

export interface StampOptions {
  /** The header that is set. */
  header: string
}

/** Tells how long each answer took. */
export const stamp = defineAutoApiPlugin({ from: 'my-module/stamp', name: 'stamp' }, ({ header }: StampOptions) => ({
  name: 'stamp',
  around: async (_ctx, next) => {
    const start = performance.now()
    const answer = await next()
    return { ...answer, headers: { ...answer.headers, [header]: `${Math.round(performance.now() - start)} ms` } }
  },
}))

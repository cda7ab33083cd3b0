/** Example of the docs page `description`: the fields of a form for the caller. */
import { createEndpoint, describeApi } from 'nuxt-auto-api/utils'

export default createEndpoint({
  async handler(ctx) {
    const { resources } = await describeApi(ctx, { resources: ['stories'] })
    const fields = Object.entries(resources.stories?.fields ?? {}).filter(([, { writable }]) => writable.create)
    return fields.map(([name, { label, kind, required }]) => ({ name, label, kind, required }))
  },
})

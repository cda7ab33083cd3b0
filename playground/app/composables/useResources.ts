/** The resources that the caller can use, with everything that the pages know about them. */
import { toViews, type ResourceView } from '../resources'

export function useResources() {
  const schema = useAutoApiSchema()
  // While the caller changes, there is no response: the pages keep the resources of the previous caller.
  const resources = computed<readonly ResourceView[]>(previous => schema.data.value ? toViews(schema.data.value.resources) : previous ?? [])
  return {
    resources,
    find: (name: unknown) => resources.value.find(resource => resource.name === name),
    /** Waits for the response. @throws AutoApiError */
    async load() {
      await schema.suspense()
      if (schema.error.value)
        throw schema.error.value
    },
  }
}

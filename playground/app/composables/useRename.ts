/** Renames a post: what the pages show is renamed at once, and named back when the API refuses. */
import { useQueryClient } from '@tanstack/vue-query'

export function useRename() {
  const queryClient = useQueryClient()
  const update = useAutoApiUpdate('posts')
  return (id: number, title: string) => {
    const { rollback } = useAutoApiOptimisticUpdate(queryClient, 'posts', id, { title })
    update.mutate({ id, title }, { onError: rollback })
  }
}

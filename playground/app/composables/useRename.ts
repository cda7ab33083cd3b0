/** Renames a post with an optimistic update, and rolls the update back on an error. */
import { useQueryClient } from '@tanstack/vue-query'

export function useRename() {
  const queryClient = useQueryClient()
  const update = useAutoApiUpdate('posts')
  return (id: number, title: string) => {
    const { rollback } = useAutoApiOptimisticUpdate(queryClient, 'posts', id, { title })
    update.mutate({ id, title }, { onError: rollback })
  }
}

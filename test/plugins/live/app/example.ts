/** The example of the docs page `live`. */
import { ref } from 'vue'
import { useAutoApiLive } from '../../../../src/runtime/plugins/live/app'

/** The ids of the articles that have changed since the page was opened. */
export function useChangedArticles() {
  const changed = ref(new Set<string>())
  const { status, error } = useAutoApiLive('articles', ({ event, id }) => {
    if (event === 'changed') changed.value.add(id)
  })
  return { changed, status, error }
}

/** Follows the queries with the option `live`. */
import { watch } from 'vue'
import type { ApiKey } from '../../../app/keys'
import type { QueryExtension } from '../../../app/query-extensions'
import { withoutRefs } from '../../../app/server-query'
import type { LiveOptions } from '../shared/types'
import type { Live } from './live'

export const followQueries = (live: Live): QueryExtension => ({ key, options, enabled }) => {
  if (!(options as LiveOptions).live) return
  watch(
    () => enabled.value ? withoutRefs(key()) as ApiKey | undefined : undefined,
    (key, _previous, onCleanup) => void (key && onCleanup(live.follow(key))),
    { immediate: true },
  )
}

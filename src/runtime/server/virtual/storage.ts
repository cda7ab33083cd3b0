/** Typed placeholder of Nitro's storages, which do not exist outside of a server. */
import type { StorageMounts } from '../plugin/storage'

export const useStorage: (() => StorageMounts) | undefined = undefined

/** Replaces Nitro's storages outside of Nitro, where none exist. */
import type { StorageMounts } from '../plugin/storage'

export const useStorage: (() => StorageMounts) | undefined = undefined

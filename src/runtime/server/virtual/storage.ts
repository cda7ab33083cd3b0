/** Typed stand-in of Nitro's storages: outside of a server there are none. */
import type { Mounts } from '../plugin/storage'

export const useStorage: (() => Mounts) | undefined = undefined

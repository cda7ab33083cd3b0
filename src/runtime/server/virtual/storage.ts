/** Typed stand-in of the door to Nitro's storages: outside of a server there are none. */
import type { Mounts } from '../plugin/storage'

export const useStorage: (() => Mounts) | undefined = undefined

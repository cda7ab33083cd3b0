/** Typed stand-in of the door to Nitro's storages: outside of a server there are none. */
import type { Mounts } from '../storage'

export const useStorage: (() => Mounts) | undefined = undefined

/** Typed stand-in of Nitro's runtime configuration: outside of a server there is none. */
export const useRuntimeConfig: ((event?: unknown) => unknown) | undefined = undefined

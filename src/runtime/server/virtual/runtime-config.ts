/** Typed placeholder of Nitro's runtime configuration, which does not exist outside of a server. */
export const useRuntimeConfig: ((event?: unknown) => unknown) | undefined = undefined

import { vi } from 'vitest'

/** Waits until a check passes, for longer than a busy machine needs. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000, interval: 10 })

/** Ends what the server has begun before the process ends. Nitro calls its hook `close` when the server has no more connections. */
import { stopRunning } from '../core/process/in-flight'
import { platformOfNitro } from '../http/platform'

/** The part of the argument of a Nitro plugin that stops the server. */
export interface Closing {
  readonly hooks?: { readonly hook: (name: 'close', listen: () => unknown) => unknown }
}

/** As Nitro reads it: the milliseconds that connections have, and again those of the hook. */
const timeLimit = () => Number.parseInt(globalThis.process?.env?.NITRO_SHUTDOWN_TIMEOUT ?? '', 10) || 30_000

/** Waits in the hook `close`. Call it before other server plugins add hooks, which can close the database. */
export function waitForWork(nitro: Closing): void {
  nitro.hooks?.hook('close', async () => {
    let timer: ReturnType<typeof setTimeout> | undefined
    // Nitro can end the process at the limit.
    const limit = new Promise<'late'>(resolve => timer = setTimeout(() => resolve('late'), timeLimit() - 100))
    const ended = await Promise.race([stopRunning(), limit])
    clearTimeout(timer)
    if (ended === 'late')
      console.warn('[auto-api] The server stops before all requests and tasks have ended. Raise `NITRO_SHUTDOWN_TIMEOUT`.')
  })
}

/**
 * Ends the process after the hooks `close`, if timers of tasks or connections to a database keep it alive, unless Nitro does so.
 * Call it when other server plugins have added their hooks.
 */
export function endProcess(nitro: Closing): void {
  if (import.meta.dev || import.meta.prerender || globalThis.process?.env?.NITRO_SHUTDOWN_FORCE === 'false') return
  if (platformOfNitro(nitro).endsProcess) return
  nitro.hooks?.hook('close', () => {
    const timer: unknown = setTimeout(() => globalThis.process?.exit?.(), 100)
    ;(timer as { readonly unref?: () => void }).unref?.()
  })
}

/** Ends what the server has begun before the process ends. Nitro calls its hook `close` when the server has no more connections. */
import type { Stopping } from '../core/extensions/listeners'
import { stopRunning } from '../core/process/in-flight'
import { platformOfNitro } from '../http/platform'

/** The part of the argument of a Nitro plugin that stops the server. */
export interface Closing {
  readonly hooks?: { readonly hook: (name: 'close', listen: () => unknown) => unknown }
}

/** As Nitro reads it: the milliseconds that connections have, and again those of the hook. */
const timeLimit = () => Number.parseInt(globalThis.process?.env?.NITRO_SHUTDOWN_TIMEOUT ?? '', 10) || 30_000

/**
 * Waits in the hook `close`. Call it before other server plugins add hooks, which can close the database.
 * @param findPlugins returns what plugins do when the server stops. They are set up later.
 */
export function waitForWork(nitro: Closing, findPlugins: () => readonly Stopping[] = () => []): void {
  nitro.hooks?.hook('close', async () => {
    let timer: ReturnType<typeof setTimeout> | undefined
    // Nitro can end the process at the limit.
    const limit = new Promise<'late'>(resolve => timer = setTimeout(() => resolve('late'), timeLimit() - 100))
    const ended = await Promise.race([endWork(findPlugins()), limit])
    clearTimeout(timer)
    if (ended === 'late')
      console.warn('[auto-api] The server stops before all requests and tasks have ended. Raise `NITRO_SHUTDOWN_TIMEOUT`.')
  })
}

async function endWork(plugins: readonly Stopping[]): Promise<void> {
  begin(plugins)
  await stopRunning()
  for (const { end } of plugins) await attempt(end)
}

const begin = (plugins: readonly Stopping[]) => plugins.forEach(({ begin }) => void attempt(begin))

/** The other plugins go on if one fails. */
async function attempt(step: Stopping['end']): Promise<void> {
  try {
    await step?.()
  }
  catch (error) {
    console.error('[auto-api] A plugin failed while the server stops.', error)
  }
}

/** As Nitro reads it. */
const stopSignals = () => (globalThis.process?.env?.NITRO_SHUTDOWN_SIGNALS || 'SIGTERM SIGINT').trim().split(/\s+/) as NodeJS.Signals[]

/**
 * Lets plugins end their streams at the signal to stop. Nitro waits for all connections before it calls `close`, so a stream that goes on
 * would hold the server back until its limit.
 */
export function beginAtSignal(plugins: readonly Stopping[]): void {
  if (import.meta.dev || import.meta.prerender || !plugins.some(({ begin }) => begin) || !globalThis.process?.prependListener) return
  for (const signal of stopSignals()) {
    const listen = () => {
      process.off(signal, listen)
      begin(plugins)
      // With a listener, Node does not end the process. If it is the only one, the process ends as without it.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
    }
    // The first one, because a listener that runs once is no longer counted after it has begun.
    process.prependListener(signal, listen)
  }
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

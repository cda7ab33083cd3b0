/** Composables of live queries. */
export { useAutoApiLive, type AutoApiLiveSignal } from './use-live'
export type { LiveState as AutoApiLiveState } from './live'

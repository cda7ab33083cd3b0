/** Composables for batches. */
export { useAutoApiBatch } from './batch'
export type { AutoApiBatchStep } from './types'

/** Types of the part of autocannon that the load generator uses. The package has no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly requests: readonly { readonly path: string, readonly headers: Record<string, string> }[]
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    /** Seconds that a response can take. */
    readonly timeout: number
  }

  interface Result {
    readonly '2xx': number
    readonly '3xx': number
    readonly 'non2xx': number
    readonly 'errors': number
    readonly 'timeouts': number
    /** Actual duration in seconds. */
    readonly 'duration': number
    readonly 'latency': { readonly p99: number }
  }

  export default function autocannon(options: Options): Promise<Result>
}

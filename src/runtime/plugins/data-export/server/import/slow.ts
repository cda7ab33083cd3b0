/** Ends an upload that arrives too slowly. */
import { invalidBody } from '../../../../server/kit/errors'
import { createPatience, STALL_LIMIT } from '../stall-limit'

/** @param limit milliseconds @throws `INVALID_BODY` if the client sends nothing for a while, or is much too slow for longer */
export async function* endSlow(chunks: AsyncIterable<Uint8Array>, limit = STALL_LIMIT): AsyncGenerator<Uint8Array, void> {
  const iterator = chunks[Symbol.asyncIterator]()
  const patience = createPatience(limit)
  try {
    for (;;) {
      const result = await new Promise<IteratorResult<Uint8Array, unknown>>((resolve, reject) => {
        patience.start(() => reject(invalidBody('The file arrives too slowly.')))
        iterator.next().then(resolve, reject)
      })
      patience.stop()
      if (result.done) return
      patience.refund(result.value.byteLength)
      yield result.value
    }
  }
  finally {
    patience.stop()
    // Not awaited: while a chunk is pending, it ends only after that chunk.
    void iterator.return?.()
  }
}

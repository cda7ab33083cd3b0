/** Whether a row of the outbox contains the created post. `BENCH_OUTBOX` says the same to the plugin of the API. */
export const STORES_POST = process.env.BENCH_OUTBOX === 'images'

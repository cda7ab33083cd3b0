/** In place of a session: a secret of the benchmark, with which the member makes a token. */
export default defineEventHandler((event) => {
  if (getHeader(event, 'x-session') === process.env.BENCH_SESSION) event.context.user = { id: 1, name: 'Member' }
})

/** `GET /heap`: what is held after a full collection; there only for a server started with `--expose-gc`. */
export default defineEventHandler(() => {
  const collect = (globalThis as { gc?: () => void }).gc
  if (!collect) throw createError({ statusCode: 404 })
  // Twice: what finalizers let go of is collected by the second.
  collect()
  collect()
  return { heapUsed: process.memoryUsage().heapUsed }
})

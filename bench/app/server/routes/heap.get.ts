/** `GET /heap`: heap size after a full garbage collection. Only on servers started with `--expose-gc`. */
export default defineEventHandler(() => {
  const collect = (globalThis as { gc?: () => void }).gc
  if (!collect) throw createError({ statusCode: 404 })
  // Twice: the second collection frees objects that finalizers released.
  collect()
  collect()
  return { heapUsed: process.memoryUsage().heapUsed }
})

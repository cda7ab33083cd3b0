import { defineEventHandler } from 'h3'

export default defineEventHandler(() => ({ data: Array.from({ length: 20 }, (_, index) => ({ id: index + 1 })) }))

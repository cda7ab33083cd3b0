/** The form of the values of a custom type, as the docs show it. */
import { customType, integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { defineResourceWire } from 'nuxt-auto-api/define'
import { z } from 'zod'

const tagSet = customType<{ data: Set<string>, driverData: string }>({
  dataType: () => 'text',
  toDriver: tags => [...tags].join(),
  fromDriver: tags => new Set(tags.split(',')),
})

export const articles = sqliteTable('articles', { id: integer('id').primaryKey(), tags: tagSet('tags') })

export const articlesWire = defineResourceWire<typeof articles>()({
  tags: {
    encode: tags => [...tags],
    decode: json => new Set(z.array(z.string()).parse(json)),
  },
})

/** The types of computed fields, from the registration to the client. */
import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expectTypeOf, it } from 'vitest'
import { computed, defineResource } from '../../src/runtime/server/define'

const posts = sqliteTable('posts', { id: integer('id').primaryKey(), title: text('title').notNull(), body: text('body') })
const comments = sqliteTable('comments', { id: integer('id').primaryKey(), postId: integer('post_id').notNull() })

it('gives the expression the columns of the table', () => {
  const { computed: fields } = defineResource(posts, {
    computed: {
      shout: computed.text(t => sql`upper(${t.title})`),
      comments: computed.integer((t, { scope }) =>
        sql`(select count(*) from ${comments} where ${comments.postId} = ${t.id} and ${scope('comments', comments)})`, { lazy: true }),
      fixed: computed.boolean(sql`1`),
      tags: computed.json(sql<string[]>`json_array()`),
      later: computed.json(t => sql<number[]>`json_array(${t.id})`),
    },
  })
  expectTypeOf(fields.shout.value).toEqualTypeOf<string | undefined>()
  expectTypeOf(fields.comments.type).toEqualTypeOf<'integer'>()
  expectTypeOf(fields.tags.value).toEqualTypeOf<string[] | undefined>()
  expectTypeOf(fields.later.value).toEqualTypeOf<number[] | undefined>()
})

it('accepts the names of computed fields where it accepts those of columns, except for writes', () => {
  defineResource(posts, {
    computed: { shout: computed.text(t => sql`upper(${t.title})`) },
    hiddenFields: ['body', 'shout'],
    fields: { body: { write: false }, shout: { read: 'posts:shout' } },
  })
  defineResource(posts, {
    computed: { shout: computed.text(t => sql`upper(${t.title})`) },
    // @ts-expect-error it is read-only
    fields: { shout: { write: false } },
  })
  defineResource(posts, {
    computed: { shout: computed.text(t => sql`upper(${t.title})`) },
    // @ts-expect-error not a field
    hiddenFields: ['shouts'],
  })
  defineResource(posts, {
    computed: {
      // @ts-expect-error not a column
      shout: computed.text(t => sql`upper(${t.titel})`),
      // @ts-expect-error not an option
      other: computed.text(t => sql`upper(${t.title})`, { lasy: true }),
    },
  })
})

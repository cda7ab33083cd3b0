/** The combinations of conditions as SQL text, and what a condition says about itself. */
import { Param, sql } from 'drizzle-orm'
import { alias, customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import {
  and, boundDriverValue, EVERY_ROW, fromSql, manyRows, noneOf, or, whereClause,
} from '../../../../../src/runtime/server/core/sql/conditions'
import { parameterize, statement, template } from '../../../../../src/runtime/server/core/sql/parameterize'
import { commaList, constant, EMPTY, joined, value, ValueRows, where, word, type Part, type Where } from '../../../../../src/runtime/server/core/sql/where'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import type { Field } from '../../../../../src/runtime/server/schema/field'
import { DIALECTS } from '../../../../support/dialects'

const lower = customType<{ data: string, driverData: string }>({ dataType: () => 'text', toDriver: value => sql`lower(${value})` })
const posts = sqliteTable('posts', {
  id: text('id').primaryKey(), title: text('title'), at: integer('at', { mode: 'timestamp' }), lower: lower('lower'),
})
const engineOf = (dialect: keyof typeof DIALECTS) => {
  const texts: string[] = []
  const render = (part: ReturnType<Where['getSQL']>) => {
    const { sql: text, params: values } = DIALECTS[dialect].sqlToQuery(part)
    texts.push(text)
    return { text, values }
  }
  return { engine: { name: dialect, dialect, render } as unknown as Engine, texts }
}
const { engine, texts } = engineOf('sqlite')
const textOf = (condition: Where) => engine.render(condition.getSQL()).text
const conditions = (count: number) => Array.from({ length: count }, (_, index) => where`${value(index)}`)
const keyOf = (part: Part) => parameterize(engine, part).key

describe('a chain of conditions', () => {
  it('matches every row if it is empty', () => {
    expect(and([])).toBe(EVERY_ROW)
    expect(textOf(whereClause([]))).toBe('')
    expect(textOf(whereClause([where`a`, where`b`]))).toBe(' where a and b')
  })

  it('is one list up to 4 conditions, and halves beyond, each condition once', () => {
    expect(textOf(and(conditions(4)))).toBe(Array.from({ length: 4 }, () => '?').join(' and '))
    const list = (count: number) => `(${Array.from({ length: count }, () => '?').join(' and ')})`
    expect(textOf(and(conditions(7)))).toBe(`${list(3)} and ${list(4)}`)
    expect(parameterize(engine, and(conditions(7))).values).toEqual(Array.from({ length: 7 }, (_, index) => index))
    expect(textOf(and(conditions(9)))).toBe(`${list(4)} and (${list(2)} and ${list(3)})`)
  })

  it('of branches holds if one of them does, and its negation also holds where it is NULL', () => {
    expect(textOf(or([[where`a`, where`b`], [where`c`]]))).toBe('((a and b) or (c))')
    expect(textOf(noneOf([[where`a`], [where`b`]]))).toBe('(((a) or (b)) is not true)')
  })
})

describe('a condition for many rows', () => {
  const tenant = manyRows(where`tenant = 1`, engine)
  const byKeys = where`id in (1)`.with({ byKeys: true })

  it('gives SQLite the hint that it selects many rows only beside a list of keys', () => {
    expect(textOf(and([tenant, where`a`]))).toBe('tenant = 1 and a')
    expect(textOf(and([where`a`, tenant, byKeys]))).toBe('a and likelihood(tenant = 1, 0.05) and id in (1)')
    expect(textOf(and([tenant, where`a`.with({ byKeys: false })]))).toBe('tenant = 1 and a')
  })

  it('keeps the hint inside of another condition, until a list of keys is beside that one', () => {
    const inner = and([where`a`, tenant])
    expect(textOf(and([where`b`, inner]))).toBe('b and a and tenant = 1')
    expect(textOf(and([byKeys, inner]))).toBe('id in (1) and a and likelihood(tenant = 1, 0.05)')
    expect(and([where`a`]).traits.besideKeys).toBeUndefined()
  })

  it('is the same condition on other engines', () => {
    expect(manyRows(where`a`, engineOf('pg').engine).traits).toEqual({})
  })
})

describe('what a condition says about itself', () => {
  it('is kept when it says more', () => {
    expect(where`a`.with({ byKeys: true }).with({ custom: true }).traits).toEqual({ byKeys: true, custom: true })
  })

  it('is that SQL of the app is custom, and stands in parentheses', () => {
    const custom = fromSql(sql`a or b`)
    expect([textOf(custom), custom.traits]).toEqual(['(a or b)', { custom: true }])
  })
})

describe('a value', () => {
  const field = {} as unknown as Field

  it('that is SQL stands in parentheses, and another is a parameter', () => {
    expect(textOf(where`${boundDriverValue(field, sql`a + 1`)}`)).toBe('(a + 1)')
    expect(boundDriverValue(field, 'a')).toBeInstanceOf(Param)
    expect(textOf(where`${boundDriverValue({ bind: part => sql`cast(${part})` } as Field, 'a')}`)).toBe('cast(?)')
  })
})

describe('a list of parts', () => {
  it('of any length has a separator between two of them, and no text if it is empty', () => {
    expect(joined([], ', ')).toBe(EMPTY)
    for (const count of [1, 2, 31, 32, 33, 40]) {
      expect(textOf(commaList(conditions(count)))).toBe(Array.from({ length: count }, () => '?').join(', '))
      expect(textOf(joined(conditions(count), ' or '))).toBe(Array.from({ length: count }, () => '?').join(' or '))
    }
  })

  it('has the same words for the same length up to 32, and keeps none of longer ones', () => {
    expect(commaList(conditions(32)).words).toBe(commaList(conditions(32)).words)
    expect(commaList(conditions(33)).words).not.toBe(commaList(conditions(33)).words)
    expect(word('asc')).toBe(word('asc'))
  })
})

describe('the walk', () => {
  const walked = (part: Part) => {
    texts.length = 0
    const { values } = parameterize(engine, part)
    return { values, rendered: texts.length }
  }

  it('does not render rows, values, tables, columns and plain SQL', () => {
    expect(walked(where`values ${new ValueRows([[1, 2], [3, 4]])}`)).toEqual({ values: [1, 2, 3, 4], rendered: 0 })
    expect(walked(where`${posts.id} = ${value(null)}`)).toEqual({ values: [null], rendered: 0 })
    expect(walked(where`${sql`${posts.title} = ${'a'}`}`)).toEqual({ values: ['a'], rendered: 0 })
    expect(walked(where`${sql.param(null, posts.title)}`)).toEqual({ values: [null], rendered: 0 })
    expect(walked(where`${sql`${undefined}a = ${1}`}`)).toEqual({ values: [1], rendered: 0 })
  })

  it('encodes parameters of a column, but no NULL', () => {
    expect(walked(where`${sql.param(new Date(1000), posts.at)}`)).toEqual({ values: [1], rendered: 0 })
    expect(walked(where`${sql.param(null, posts.at)}`)).toEqual({ values: [null], rendered: 0 })
    expect(walked(where`${sql.param('a', posts.lower)}`)).toEqual({ values: ['a'], rendered: 1 })
  })

  it('renders what it does not know, also inside of a list', () => {
    expect(walked(where`${sql`${[sql.placeholder('a')]}`}`).rendered).toBe(1)
    expect(walked(where`${sql`${[1, 2]}`}`)).toEqual({ values: [1, 2], rendered: 0 })
    expect(walked(where`${sql`${(() => {}) as never}`}`).rendered).toBe(1)
  })

  it('has another key for a column whose name depends on the casing of the database', () => {
    const [named, unnamed] = [text('a'), text()].map(a => alias(sqliteTable('t', { a }), 'x').a)
    expect(keyOf(where`${named!}`)).not.toBe(keyOf(where`${unnamed!}`))
  })

  it('renders parameters that are SQL, and parameters of columns that the dialect converts', () => {
    expect(walked(where`${sql.param(sql`lower('a')`)}`)).toEqual({ values: [], rendered: 1 })
    expect(walked(where`${sql.param(sql`lower('a')`, posts.title)}`)).toEqual({ values: [], rendered: 1 })
    expect(texts).toEqual(['lower(\'a\')'])
  })

  it('renders a part again in each request, because it could have changed', () => {
    expect([walked(where`${sql`${sql.placeholder('a')}`}`).rendered, walked(where`${sql`${sql.placeholder('a')}`}`).rendered]).toEqual([1, 1])
  })

  it('has one key for a condition and for its copy, and another one for rows of another length', () => {
    const rows = (...lists: unknown[][]) => keyOf(where`${new ValueRows(lists)}`)
    expect(rows([1, 2], [3, 4])).toBe(rows([5, 6], [7, 8]))
    expect(new Set([rows([1, 2]), rows([1], [2]), rows([1, 2], [3, 4])]).size).toBe(3)
    expect(keyOf(where`${posts.id}`)).not.toBe(keyOf(where`${posts.title}`))
  })
})

describe('a template', () => {
  it('can begin and end with its part, contain conditions, and use the part several times', () => {
    expect(textOf(template(hole => sql`${hole} = ${hole}`)(value(1)))).toBe('? = ?')
    expect(textOf(template(hole => where`lower(${hole})`)(value(1)))).toBe('lower(?)')
    expect(textOf(template(hole => sql`(${where`a = ${hole}`})`)(where`b`))).toBe('(a = b)')
    expect(() => template(() => sql`a`)).toThrow('does not contain its part')
    expect(keyOf(template(hole => where`lower(${hole})`)(value(1)))).not.toContain('undefined')
  })

  it('of SQL with parameters cannot be built', () => {
    expect(() => keyOf(constant(where`${value(1)}`))).toThrow('Only SQL without parameters can be used again.')
  })
})

describe('a statement', () => {
  it('is refused if the rendered text has other parameters than the walk has found', () => {
    const wrong = { ...engine, render: () => ({ text: 'select ?', values: [] }) } as unknown as Engine
    const api = { statements: (_key: string, create: () => { text: string }) => create() } as never
    expect(() => statement({ api, engine: wrong, memo: new Map() }, where`select ${value(1)}`)).toThrow('has 0 parameters for 1 values')
    expect(statement({ api, engine, memo: new Map() }, where`select ${value(1)}`)).toMatchObject({ text: 'select ?', values: [1] })
  })
})

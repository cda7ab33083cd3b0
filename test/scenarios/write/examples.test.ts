/** Runs the examples of the docs pages `writing`, `trash` and `hooks`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { projectsAuth } from './examples/auth'
import { approvedTasksHooks } from './examples/condition'
import { tasksHooks } from './examples/hooks'
import { projects, tasks } from './examples/schema'
import { tasksValidation } from './examples/validation'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const writer = { user: { id: 1, name: 'Ann' }, permissions: ['projects:write', 'projects:delete'] }

let world: World
beforeEach(async () => {
  world = await openWorld({
    tables: { projects, tasks },
    resources: {
      projects: { authorization: projectsAuth } as Partial<ResourceRegistration>,
      tasks: { authorization: { permissions: EVERYTHING }, validation: tasksValidation, hooks: tasksHooks as never },
    },
    rows: `
      create unique index projects_slug on projects (slug) where deleted_at is null; insert into projects (id, name, slug) values (1, 'One', 'one');
      insert into tasks (id, project_id, title, hours, approved, created_at, updated_at) values (1, 1, 'Plan', 1, 0, 0, 0), (2, 1, 'Build', 1, 0, 0, 0)`,
  })
})
afterEach(() => {
  world.client.close()
  vi.restoreAllMocks()
})

const send = (method: string, path: string, body?: unknown, caller: object = writer) => world.send(method, path, body, caller)

describe('the docs page writing', () => {
  it('creates and updates a record', async () => {
    const made = await send('POST', 'tasks', { projectId: 1, title: ' Paint ', notify: true, id: 9, createdBy: 9 })
    expect([made.status, made.headers.get('location'), made.body]).toEqual([
      201,
      '/api/tasks/3',
      expect.objectContaining({ id: 3, title: 'Paint', hours: 8, createdBy: 1 }),
    ])
    expect((await send('PATCH', 'tasks/1', { title: 'Plan more' })).body).toMatchObject({ title: 'Plan more', hours: 1, updatedBy: 1 })
    expect(outcome(await send('POST', 'tasks', { projectId: 9, title: 'Paint' }))).toBe('400 INVALID_REFERENCE')
    expect(outcome(await send('POST', 'tasks', { projectId: 1, title: 'Paint', colour: 'red' }))).toBe('400 VALIDATION_FAILED')
  })

  it('reports every failed item of a batch', async () => {
    const { status, body } = await send('POST', 'tasks/bulk', { items: [{ projectId: 1, title: 'x' }, { projectId: 1, title: 'Paint' }] })
    expect([status, body.statusCode, body.message, body.data]).toEqual([
      400,
      400,
      'Bulk operation failed (nothing was written)',
      {
        code: 'BULK_FAILED',
        errors: [
          {
            index: 0,
            statusCode: 400,
            message: 'The body is not valid.',
            code: 'VALIDATION_FAILED',
            issues: [{ path: ['title'], message: 'Too small: expected string to have >=3 characters', code: 'too_small' }],
          },
        ],
      },
    ])
  })
})

describe('the docs page trash', () => {
  it('deletes and restores a record with its dependents, and frees its slug', async () => {
    const { body } = await send('DELETE', 'projects/1?reason=over')
    expect(world.rows('select id from tasks where deleted_at is null')).toEqual([])
    expect((await send('GET', 'projects?onlyDeleted=true')).body.data).toHaveLength(1)
    expect((await send('POST', 'projects', { name: 'New', slug: 'one' })).status).toBe(201)
    expect(outcome(await send('POST', 'projects/1/restore'))).toBe('409 CONFLICT')
    await send('PATCH', 'projects/2', { slug: 'two' })
    expect((await send('POST', 'projects/bulk/restore', { deletionId: body.deletionId })).body.meta.total).toBe(3)
    expect(world.rows('select id from tasks where deleted_at is null')).toEqual([1, 2])
  })

  it('requires the permissions it declares', async () => {
    expect(outcome(await send('DELETE', 'projects/1?force=true'))).toBe('403 FORBIDDEN')
    expect((await send('DELETE', 'projects/1?force=true', undefined, { ...writer, permissions: ['projects:purge'] })).body).toEqual({
      success: true,
      softDeleted: false,
    })
  })
})

describe('the docs page hooks', () => {
  it('changes a task only while it is not approved', async () => {
    const { addResourceHook } = await import('nuxt-auto-api/utils')
    addResourceHook('tasks', approvedTasksHooks as never)
    expect(outcome(await send('PATCH', 'tasks/1', { title: 'Plan more' }))).toBe('200')
    world.client.exec('update tasks set approved = 1 where id = 1')
    expect(outcome(await send('PATCH', 'tasks/1', { title: 'Plan less' }))).toBe('412 PRECONDITION_FAILED')
  })

  it('runs the hooks of the registration', async () => {
    expect((await send('POST', 'tasks', { projectId: 1, title: 'Paint' })).body.approved).toBe(false)
    expect(
      (await send('POST', 'tasks', { projectId: 1, title: 'Paint' }, { ...writer, permissions: ['tasks:approve'] })).body.approved,
    ).toBe(true)
    const refused = await send('PATCH', 'tasks/1', { hours: 60 })
    expect([refused.status, refused.body.message]).toEqual([409, 'Task 1 needs to be split.'])
    expect((await send('GET', 'tasks/1')).body.label).toBe('#1 Plan')
  })

  it('runs the hooks of a plugin', async () => {
    const log = vi.spyOn(console, 'info').mockImplementation(() => {})
    const { addHooks } = await import('./examples/plugin')
    addHooks()
    expect((await send('DELETE', 'tasks/2')).status).toBe(423)
    expect((await send('DELETE', 'tasks/1')).status).toBe(200)
    expect(log.mock.calls).toEqual([['Ann deleted tasks 1']])
  })
})

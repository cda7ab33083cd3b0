#!/usr/bin/env node
/** The command `nuxt-auto-api`. */
import { fileURLToPath } from 'node:url'
import { defineCommand, runMain } from 'citty'
import { consola } from 'consola'
import { resolve } from 'pathe'
import { add } from './add'
import { CommandError } from './app'
import { check } from './check'
import { importDirectus } from './directus'
import { explainRequest } from './explain'
import { init } from './init'
import { writeOpenApi } from './openapi'
import { silence } from './silence'
import { initTemplate } from './template'
import { toText } from '../runtime/shared/explanation'

const cwd = { type: 'string', description: 'The folder of the app', default: '.' } as const

async function run(command: () => Promise<void> | void): Promise<void> {
  try {
    await command()
  }
  catch (error) {
    fail(error)
  }
}

/** Runs a command that loads the app. Only the command prints, not the app and its modules. */
async function runSilently<T>(load: () => Promise<T>, print: (loaded: T) => void): Promise<void> {
  const { speak } = silence()
  try {
    const loaded = await load()
    speak(() => print(loaded))
  }
  catch (error) {
    speak(() => fail(error))
  }
}

/** Prints an expected error without its stack. */
function fail(error: unknown): void {
  if (!(error instanceof CommandError)) throw error
  consola.error(error.message)
  process.exitCode = 1
}

const toList = (text = '') => text.split(',').map(name => name.trim()).filter(name => name !== '')

const main = defineCommand({
  meta: { name: 'nuxt-auto-api', description: 'Set up nuxt-auto-api, add resources and check them' },
  subCommands: {
    init: defineCommand({
      meta: { name: 'init', description: 'Write the files of the guide "Getting started", or a complete app. Existing files are kept' },
      args: {
        folder: { type: 'positional', description: 'The folder of the new app, with --template. Default: --cwd', required: false },
        template: { type: 'string', description: 'Write a complete app into an empty folder: sqlite, postgres or cloudflare' },
        cwd,
        dryRun: { type: 'boolean', description: 'Only print what would change' },
      },
      run: ({ args: { folder, template, dryRun, ...args } }) => run(() => {
        const docs = fileURLToPath(new URL('../../docs', import.meta.url))
        const from = resolve(args.cwd)
        if (template === undefined && folder !== undefined)
          throw new CommandError(`A folder needs \`--template\`: \`nuxt-auto-api init --template sqlite ${folder}\`.`)
        const { changes, commands } = template === undefined
          ? init({ cwd: from, docs, dryRun })
          : initTemplate({ template, cwd: resolve(from, folder ?? '.'), from, docs, dryRun })
        consola.log([...dryRun ? ['Nothing was written. The command would change:'] : [], ...changes].join('\n'))
        consola.box(['Next:', ...commands].join('\n'))
      }),
    }),
    add: defineCommand({
      meta: { name: 'add', description: 'Write the resource file of a table' },
      args: {
        resource: { type: 'positional', description: 'The name of the resource, such as posts', required: true },
        table: { type: 'string', description: 'The name of the export of the table. Default: the name of the resource' },
        cwd,
      },
      run: ({ args }) => run(() => {
        const path = add({ cwd: resolve(args.cwd), resource: args.resource, ...args.table !== undefined && { table: args.table } })
        consola.success(`created ${path}. Edit its permissions: signed-in callers can read, and writes need a permission.`)
      }),
    }),
    import: defineCommand({
      meta: { name: 'import', description: 'Write resource files from the configuration of another system' },
      subCommands: {
        directus: defineCommand({
          meta: { name: 'directus', description: 'Write a resource file for each collection of Directus, with the rules of its policies' },
          args: {
            snapshot: { type: 'positional', description: 'The file of `directus schema snapshot --format json`', required: true },
            policies: { type: 'string', description: 'The file with the response of GET /policies and its permissions' },
            cwd,
            dryRun: { type: 'boolean', description: 'Only print what would change' },
          },
          run: ({ args: { snapshot, policies, dryRun, ...args } }) => run(() => {
            const { changes, notes } = importDirectus({
              cwd: resolve(args.cwd), snapshot: resolve(snapshot), ...policies !== undefined && { policies: resolve(policies) }, dryRun,
            })
            consola.log([...dryRun ? ['Nothing was written. The command would change:'] : [], ...changes].join('\n'))
            if (notes.length > 0) consola.warn(['Not carried over:', ...notes.map(note => `- ${note}`)].join('\n'))
          }),
        }),
      },
    }),
    check: defineCommand({
      meta: { name: 'check', description: 'Check the registrations, the indexes and the access matrix. For CI' },
      args: {
        cwd,
        matrix: { type: 'string', description: 'The file of the access matrix. Default: access-matrix.md' },
        update: { type: 'boolean', description: 'Write the access matrix' },
      },
      run: ({ args }) => runSilently(
        () => check({ cwd: resolve(args.cwd), update: args.update, ...args.matrix !== undefined && { matrix: args.matrix } }),
        ({ problems, notes, resources }) => {
          for (const note of notes) consola.info(note)
          if (problems.length > 0) throw new CommandError(problems.join('\n'))
          consola.success(`${resources} ${resources === 1 ? 'resource' : 'resources'}: no problem found.`)
        },
      ),
    }),
    explain: defineCommand({
      meta: { name: 'explain', description: 'Explain why a request is refused, or which rows it leaves out. A write is a dry run' },
      args: {
        method: { type: 'positional', description: 'The method, such as GET', required: true },
        path: { type: 'positional', description: 'The path with its query string, such as /api/posts/7', required: true },
        as: {
          type: 'string', default: 'anonymous', description: 'The caller: anonymous, or user:7,role:editor,permission:posts:write,tenant:1',
        },
        body: { type: 'string', description: 'The body as JSON' },
        url: { type: 'string', description: 'A development server that runs. Default: that of the app, which is started if needed' },
        json: { type: 'boolean', description: 'Print JSON' },
        cwd,
      },
      run: ({ args: { method, path, as, body, url, json, ...args } }) => run(async () => {
        const asked = { method: method.toUpperCase(), path, as, ...body !== undefined && { body }, ...url !== undefined && { url } }
        const explanation = await explainRequest({ cwd: resolve(args.cwd), ...asked })
        consola.log(json ? JSON.stringify(explanation, null, 2) : toText(explanation))
      }),
    }),
    openapi: defineCommand({
      meta: { name: 'openapi', description: 'Write the OpenAPI document of a role to a file' },
      args: {
        cwd,
        role: { type: 'string', description: 'The roles of the caller, separated by commas. Default: an anonymous caller' },
        permissions: { type: 'string', description: 'The permissions of the caller, separated by commas' },
        output: { type: 'string', description: 'The file', default: 'openapi.json' },
      },
      run: ({ args }) => runSilently(
        () => writeOpenApi({
          cwd: resolve(args.cwd), output: args.output, roles: toList(args.role), permissions: toList(args.permissions),
        }),
        ({ file, operations, warning }) => {
          if (warning !== undefined) consola.warn(`The routes of plugins are missing: ${warning}`)
          consola.success(`${file}: ${operations} operations.`)
        },
      ),
    }),
  },
})

void runMain(main)

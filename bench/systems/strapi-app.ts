/** The files of an app of Strapi 5: three content types, the rule, and a bootstrap that creates the member. */
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
const js = (code: string) => `module.exports = ${code}\n`

export const MEMBER = { identifier: 'member@example.org', password: 'a password of a member' }

const relation = (kind: string, target: string, other?: object) => ({ type: 'relation', relation: kind, target: `api::${target}.${target}`, ...other })

const ATTRIBUTES: Readonly<Record<string, object>> = {
  author: { name: { type: 'string', required: true } },
  post: {
    title: { type: 'string' }, slug: { type: 'string' }, excerpt: { type: 'text' },
    state: { type: 'enumeration', enum: ['draft', 'published', 'archived'] },
    featured: { type: 'boolean' }, views: { type: 'integer' }, releasedAt: { type: 'datetime' },
    author: relation('manyToOne', 'author'),
    comments: relation('oneToMany', 'comment', { mappedBy: 'post' }),
  },
  comment: {
    body: { type: 'text' },
    post: relation('manyToOne', 'post', { inversedBy: 'comments' }),
    author: relation('manyToOne', 'author'),
  },
}

/** Anonymous callers read only published posts. */
const POSTS = `require('@strapi/strapi').factories.createCoreController('api::post.post', () => ({
  find(ctx) {
    if (!ctx.state.user) ctx.query = { ...ctx.query, filters: { $and: [ctx.query.filters ?? {}, { state: 'published' }] } }
    return super.find(ctx)
  },
  async findOne(ctx) {
    const response = await super.findOne(ctx)
    return ctx.state.user || response?.data?.state === 'published' ? response : ctx.notFound()
  },
}))`

/** Permissions are rows of the database: the first start creates them. */
const BOOTSTRAP = `{
  async bootstrap({ strapi }) {
    if (!process.env.BENCH_SETUP) return
    const roleOf = type => strapi.db.query('plugin::users-permissions.role').findOne({ where: { type } })
    const [anonymous, member] = [await roleOf('public'), await roleOf('authenticated')]
    const allow = (role, action) => strapi.db.query('plugin::users-permissions.permission').create({ data: { action, role: role.id } })
    for (const name of ['post', 'author', 'comment']) {
      for (const action of ['find', 'findOne']) {
        for (const role of [anonymous, member]) await allow(role, \`api::\${name}.\${name}.\${action}\`)
      }
    }
    await allow(member, 'api::post.post.create')
    const { identifier: email, password } = ${JSON.stringify(MEMBER)}
    await strapi.plugin('users-permissions').service('user')
      .add({ username: 'member', email, password, provider: 'local', confirmed: true, role: member.id })
  },
}`

/** The middlewares of a new app, without the log of requests. */
const MIDDLEWARES = ['errors', 'security', 'cors', 'poweredBy', 'query', 'body', 'session', 'favicon', 'public'].map(name => `strapi::${name}`)

const secret = (name: string) => `a secret of the benchmark for ${name}`

/** Paths and contents. The admin panel is not built, as no operation needs it. */
export const STRAPI_APP: Readonly<Record<string, string>> = {
  'config/server.js': js(`{ host: '127.0.0.1', port: Number(process.env.PORT), app: { keys: ['${secret('keys')}'] }, logger: { startup: { enabled: false } } }`),
  'config/admin.js': json({
    auth: { secret: secret('auth') }, apiToken: { salt: secret('tokens') }, transfer: { token: { salt: secret('transfer') } }, serveAdminPanel: false,
  }).replace(/^/, 'module.exports = '),
  'config/database.js': js(`{ connection: {
    client: 'sqlite', connection: { filename: process.env.DATABASE_FILENAME }, useNullAsDefault: true,
  } }`),
  'config/middlewares.js': js(JSON.stringify(MIDDLEWARES)),
  'config/api.js': js('{ rest: { defaultLimit: 25, maxLimit: 100, withCount: true } }'),
  'config/plugins.js': js(`{ 'users-permissions': { config: { jwtSecret: '${secret('sessions')}' } } }`),
  'src/index.js': js(BOOTSTRAP),
  ...Object.fromEntries(Object.entries(ATTRIBUTES).flatMap(([name, attributes]) => {
    const core = (kind: string) => js(`require('@strapi/strapi').factories.createCore${kind}('api::${name}.${name}')`)
    return [
      [`src/api/${name}/content-types/${name}/schema.json`, json({
        kind: 'collectionType', collectionName: `${name}s`, info: { singularName: name, pluralName: `${name}s`, displayName: name },
        options: { draftAndPublish: false }, attributes,
      })],
      [`src/api/${name}/controllers/${name}.js`, name === 'post' ? js(POSTS) : core('Controller')],
      [`src/api/${name}/routes/${name}.js`, core('Router')],
      [`src/api/${name}/services/${name}.js`, core('Service')],
    ]
  })),
}

/** Every place of a request where the grammar wants one value: of the generated routes, of the plugins and of the tools. */
import type { Sent } from './places-app'

export interface Place {
  readonly name: string
  /** What the refusal has to contain. */
  readonly says: string | RegExp
  readonly send: (value: unknown) => Sent
  /** Whether the value can be meant here. Every other value is a 400. */
  readonly fits: (value: unknown) => boolean
  /** The status of a refusal. @default 400 */
  readonly status?: number
  /** Whether a value can also be a name that does not exist: 404. */
  readonly orUnknown?: true
}

type Fits = Place['fits']

const isText: Fits = value => typeof value === 'string' && !value.includes('\0')
const isWhole: Fits = value => Number.isSafeInteger(value)
const isNumber: Fits = value => typeof value === 'number'
const isFlag: Fits = value => typeof value === 'boolean'
const isNull: Fits = value => value === null
const isIso: Fits = value => typeof value === 'string' && /^\d{4}-/.test(value)
const isWholeText: Fits = value => typeof value === 'string' && /^-?\d+$/.test(value)
const isDecimalText: Fits = value => typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
const none: Fits = () => false
const any: Fits = () => true
const or = (...all: Fits[]): Fits => value => all.some(fits => fits(value))
const listOf = (fits: Fits): Fits => value => Array.isArray(value) && value.every(fits)
const isJsonObject: Fits = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values that each field takes in JSON. */
const FIELDS: Readonly<Record<string, Fits>> = {
  title: isText, amount: isWhole, score: isNumber, done: isFlag, at: isIso,
  price: value => isDecimalText(typeof value === 'number' ? String(value) : value), big: or(isWhole, isWholeText), loud: isText,
}

const json = (value: unknown) => JSON.stringify(value)
/** The text of a value in a query string, a path or a header. */
export const asText = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value)
/** Applies a test of text to the text of a value. */
const texts = (test: (text: string) => boolean): Fits => value => test(asText(value))
const matches = (pattern: RegExp) => texts(text => pattern.test(text))

const place = (name: string, says: Place['says'], send: Place['send'], fits: Fits, status?: number): Place =>
  ({ name, says, send, fits, ...status !== undefined && { status } })
const inQuery = (path: string, parameter: string, fits: Fits, more: Record<string, string> = {}, says: Place['says'] = parameter): Place =>
  place(`${path}?${parameter}=`, says, value => ({ path, query: { ...more, [parameter]: asText(value) } }), fits)
const inBody = (method: string, path: string, form: string, says: Place['says'], toBody: (value: unknown) => unknown, fits: Fits): Place =>
  place(
    `${method} ${path} ${form}`,
    says,
    value => ({ method, path, raw: json(toBody(value)) ?? 'null', headers: { 'content-type': 'application/json' } }),
    fits,
  )
const inHeader = (name: string, sent: Sent, fits: Fits): Place =>
  place(
    `${name} of ${sent.method ?? 'GET'} ${sent.path}`,
    name,
    value => ({ ...sent, headers: { ...sent.headers, [name]: asText(value) } }),
    fits,
  )

const isPageNumber = matches(/^[1-9]\d{0,14}$/)
const isFlagText = matches(/^(?:true|false)$/)
const isNamed = (...names: string[]) => texts(text => names.includes(text))
const isCount = isNamed('none', 'exact', 'estimated')
/** A list of names without a name. */
const namesNothing = texts(text => /^[\s,]*$/.test(text))

const COMPARISONS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']

/** The conditions of a field, in every form of a filter. `wrap` puts the filter into its request. */
function conditions(where: string, parameter: string, wrap: (filter: object) => Sent, fields = ['title', 'amount']): Place[] {
  return Object.entries(FIELDS)
    .filter(([name]) => fields.includes(name))
    .flatMap(([name, fits]) => {
      const isOrdered = name !== 'done'
      const usable = isOrdered ? COMPARISONS : ['$eq', '$ne']
      return [
        ...usable.map(operator =>
          place(
            `${where} ${name} ${operator}`,
            parameter,
            value => wrap({ [name]: { [operator]: value } }),
            /^\$(?:eq|ne)$/.test(operator) ? or(isNull, fits) : fits,
          ),
        ),
        place(`${where} ${name}`, parameter, value => wrap({ [name]: value }), or(isNull, fits, listOf(fits))),
        ...['$in', '$nin'].flatMap(operator => [
          place(`${where} ${name} ${operator}`, parameter, value => wrap({ [name]: { [operator]: value } }), listOf(fits)),
          place(`${where} ${name} ${operator} [ ]`, parameter, value => wrap({ [name]: { [operator]: [value] } }), fits),
        ]),
        place(`${where} ${name} $null`, parameter, value => wrap({ [name]: { $null: value } }), isFlag),
        place(`${where} $or ${name}`, parameter, value => wrap({ $or: [{ [name]: { $eq: value } }] }), or(isNull, fits)),
      ]
    })
    .concat(
      place(`${where} title $like`, parameter, value => wrap({ title: { $like: value } }), isText),
      place(
        `${where} title $like, twice`,
        parameter,
        value => wrap({ title: { $like: value }, $or: [{ title: { $like: value } }] }),
        isText,
      ),
      place(
        `${where} the filter itself`,
        parameter,
        value => wrap(value as object),
        value => isJsonObject(value) && Object.keys(value as object).length === 0,
      ),
      place(`${where} $or`, parameter, value => wrap({ $or: value }), none),
      place(`${where} $or [ ]`, parameter, value => wrap({ $or: [value] }), none),
      place(`${where} a relation`, parameter, value => wrap({ marks: value }), isNull),
      place(`${where} a field of a relation`, parameter, value => wrap({ marks: { name: value } }), or(isNull, isText, listOf(isText))),
      place(`${where} meta $null`, parameter, value => wrap({ meta: { $null: value } }), isFlag),
    )
}

/** The parameters of a list, whichever route has them. */
const listOfPath = (path: string, ...without: string[]): Place[] =>
  [
    inQuery(path, 'page', isPageNumber),
    inQuery(path, 'limit', isPageNumber),
    inQuery(path, 'cursor', matches(/^$/)),
    inQuery(path, 'count', isCount),
    inQuery(path, 'sort', namesNothing),
    inQuery(path, 'fields', namesNothing),
    inQuery(path, 'cursorFields', namesNothing, { cursor: '' }),
    inQuery(path, 'include', matches(/^(?:[\s,]*|\{\})$/)),
    inQuery(path, 'aggregate', namesNothing),
    inQuery(path, 'includeDeleted', isFlagText),
    inQuery(path, 'onlyDeleted', isFlagText),
    inQuery(path, 'filter', matches(/^\{\}$/)),
  ].filter(({ name }) => !without.some(parameter => name.endsWith(`?${parameter}=`)))

const filtered = (path: string) => (filter: object): Sent => ({ path, query: { filter: json(filter) ?? 'null' } })

const READS: Place[] = [
  ...conditions('filter', 'filter', filtered('/things'), Object.keys(FIELDS)),
  ...conditions('filter of an include', 'include', filter => ({ path: '/marks', query: { include: json({ things: { filter } }) } })),
  ...conditions('filter of /aggregate', 'filter', filtered('/things/aggregate')),
  ...Object.entries(FIELDS).flatMap(([name]) => [
    place(
      `filter[${name}][x]`,
      'filter',
      value => ({ path: '/things', query: { [`filter[${name}][${asText(value)}]`]: '1' } }),
      value => value === '' && name !== 'at',
    ),
  ]),
  ...['amount', 'score', 'at', 'big', 'price'].map(name =>
    inQuery(
      '/things',
      `filter[${name}]`,
      { amount: isWhole, score: isNumber, at: isIso, big: texts(isWholeText), price: isNumber }[name]!,
      {},
      'filter',
    ),
  ),
  ...listOfPath('/things'),
  inQuery('/things', 'groupBy', namesNothing),
  ...['limit', 'sort', 'fields', 'filter', 'include'].map(option =>
    place(
      `include ${option}`,
      'include',
      value => ({ path: '/things', query: { include: json({ marks: { [option]: value } }) } }),
      option === 'limit'
        ? or(isPageNumber)
        : option === 'filter' || option === 'include'
          ? value => json(value) === '{}'
          : or(
              listOf(value => typeof value === 'string' && value.trim() === ''),
              value => typeof value === 'string' && value.trim() === '',
            ),
    ),
  ),
  place(
    'include a relation',
    'include',
    value => ({ path: '/things', query: { include: json({ marks: value }) } }),
    or(isFlag, value => json(value) === '{}'),
  ),
  place(
    'include',
    'include',
    value => ({ path: '/things', query: { include: `${json(value)}` } }),
    value => json(value) === '{}',
  ),
  inQuery('/things/1', 'fields', namesNothing),
  inQuery('/things/1', 'include', matches(/^(?:[\s,]*|\{\})$/)),
  inQuery('/things/1', 'includeDeleted', isFlagText),
  inQuery('/things/aggregate', 'page', isPageNumber),
  inQuery('/things/aggregate', 'limit', isPageNumber),
  inQuery('/things/aggregate', 'sort', namesNothing),
  inQuery('/things/aggregate', 'aggregate', namesNothing),
  inQuery('/things/aggregate', 'groupBy', namesNothing),
  inQuery('/things/aggregate', 'having', matches(/^\{\}$/)),
  ...COMPARISONS.flatMap(operator => [
    place(
      `having count ${operator}`,
      'having',
      value => ({ path: '/things/aggregate', query: { having: json({ count: { [operator]: value } }) } }),
      or(isNumber, isNumberText),
    ),
    place(
      `having max(title) ${operator}`,
      'having',
      value => ({ path: '/things/aggregate', query: { aggregate: 'max(title)', having: json({ max_title: { [operator]: value } }) } }),
      isText,
    ),
    place(
      `having sum(amount) ${operator}`,
      'having',
      value => ({ path: '/things/aggregate', query: { aggregate: 'sum(amount)', having: json({ sum_amount: { [operator]: value } }) } }),
      or(isNumber, isNumberText),
    ),
  ]),
  place(
    'having count',
    'having',
    value => ({ path: '/things/aggregate', query: { having: json({ count: value }) } }),
    or(isNumber, isNumberText),
  ),
  ...listOfPath('/things/1/relations/marks', 'includeDeleted', 'onlyDeleted'),
  inQuery('/things/1/relations/marks', 'includeMetadata', isFlagText),
  // A resource that does not exist is ignored, because a caller may not know it.
  inQuery('/_schema', 'resources', any),
  inQuery('/things/permissions', 'ids', any),
  inQuery('/pairs/permissions', 'ids', any),
]

function isNumberText(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value) && Number.isFinite(Number(value))
}

const PATHS: Place[] = [
  ...['/things/', '/pairs/'].flatMap(path =>
    ['GET', 'PATCH', 'DELETE'].map(method =>
      // `1,2` is no key, and `1` is the first thing.
      place(
        `${method} ${path}:id`,
        'NOT_FOUND',
        value => ({ method, path: path + encodeURIComponent(toPathText(value)), ...(method === 'PATCH' && { body: {} }) }),
        none,
        404,
      ),
    ),
  ),
  ...['history', 'relations/marks', 'permissions']
    .slice(0, 2)
    .map(end =>
      place(
        `GET /things/:id/${end}`,
        'NOT_FOUND',
        value => ({ path: `/things/${encodeURIComponent(toPathText(value))}/${end}` }),
        none,
        404,
      ),
    ),
  place(
    'GET /things/1/relations/:relation',
    'NOT_FOUND',
    value => ({ path: `/things/1/relations/${encodeURIComponent(toPathText(value))}` }),
    none,
    404,
  ),
  place(
    'POST /audit-log/:id/revert',
    'NOT_FOUND',
    value => ({ method: 'POST', path: `/audit-log/${encodeURIComponent(toPathText(value))}/revert` }),
    none,
    404,
  ),
  place(
    'POST /apiTokens/:id/rotate',
    'NOT_FOUND',
    value => ({ method: 'POST', path: `/apiTokens/${encodeURIComponent(toPathText(value))}/rotate` }),
    none,
    404,
  ),
  place(
    'POST /things/:id/upload/cover',
    'NOT_FOUND',
    value => ({
      method: 'POST',
      path: `/things/${encodeURIComponent(toPathText(value))}/upload/cover`,
      raw: 'a',
      headers: { 'content-type': 'text/csv' },
    }),
    none,
    404,
  ),
  place(
    'GET /things/1/files/cover/:key',
    'NOT_FOUND',
    value => ({ path: `/things/1/files/cover/${encodeURIComponent(toPathText(value))}` }),
    none,
    404,
  ),
  place(
    'DELETE /things/1/files/cover/:key',
    'NOT_FOUND',
    value => ({ method: 'DELETE', path: `/things/1/files/cover/${encodeURIComponent(toPathText(value))}` }),
    none,
    404,
  ),
]

/** An empty segment, and `1`, are other paths. */
const toPathText = (value: unknown) => `x${asText(value)}`.toWellFormed()

/** The columns of a body. A number, a boolean or a date that is text is refused as in a filter. */
const columns = (method: string, path: string, wrap: (record: object) => unknown): Place[] => [
  ...Object.entries(FIELDS).map(([name, fits]) => inBody(method, path, name, name, value => wrap({ [name]: value }), or(isNull, fits))),
]

const isId = or(value => typeof value === 'string', value => typeof value === 'number')
/** An id that is a string or a number, but not of a record: 404 for the item. */
const ids = (method: string, path: string, form: string, says: Place['says'], toBody: (value: unknown) => unknown): Place =>
  inBody(method, path, form, says, toBody, isId)

const WRITES: Place[] = [
  ...columns('POST', '/things?dryRun=true', record => record),
  ...columns('PATCH', '/things/1?dryRun=true', record => record),
  ...columns('POST', '/things/bulk?dryRun=true', record => ({ items: [record] })),
  ...columns('PATCH', '/things/bulk?dryRun=true', record => ({ items: [{ id: 1, data: record }] })),
  inBody('POST', '/things?dryRun=true', 'body', 'body', value => value, isJsonObject),
  inBody('PATCH', '/things/1?dryRun=true', 'body', 'body', value => value, isJsonObject),
  ...['POST', 'PATCH'].flatMap(method => [
    inBody(method, '/things/bulk?dryRun=true', 'body', /body|items/, value => value, none),
    inBody(
      method,
      '/things/bulk?dryRun=true',
      'items',
      /tem|"index":0/,
      items => ({ items }),
      value => method === 'POST' && json(value) === '[{}]',
    ),
    inBody(
      method,
      '/things/bulk?dryRun=true',
      'items [ ]',
      /tem|"index":0/,
      item => ({ items: [item] }),
      value => method === 'POST' && json(value) === '{}',
    ),
  ]),
  ids('PATCH', '/things/bulk?dryRun=true', 'items id', '`items`', id => ({ items: [{ id, data: {} }] })),
  inBody('PATCH', '/things/bulk?dryRun=true', 'items data', 'body', data => ({ items: [{ id: 1, data }] }), isJsonObject),
  inBody('PATCH', '/things/bulk?dryRun=true', 'items ifMatch', 'ifMatch', ifMatch => ({ items: [{ id: 1, data: {}, ifMatch }] }), none),
  ...[
    ['DELETE', '/things/bulk'],
    ['POST', '/things/bulk/restore'],
    ['DELETE', '/things/bulk?force=true'],
  ].flatMap(([method, path]) => {
    const dry = `${path}${path!.includes('?') ? '&' : '?'}dryRun=true`
    return [
      inBody(method!, dry, 'body', /body|ids/, value => value, none),
      inBody(method!, dry, 'ids', 'ids', value => ({ ids: value }), listOf(isId)),
      ids(method!, dry, 'ids [ ]', '`ids`', id => ({ ids: [id] })),
      ids(method!, dry, 'ids id', '`ids`', id => ({ ids: [{ id }] })),
      inBody(method!, dry, 'ids ifMatch', 'ifMatch', ifMatch => ({ ids: [{ id: 1, ifMatch }] }), none),
      ...(path === '/things/bulk'
        ? []
        : [
            inBody(
              method!,
              dry,
              'deletionId',
              'deletionId',
              deletionId => ({ deletionId }),
              value => isText(value) && value !== '',
            ),
          ]),
    ]
  }),
  ...['PUT', 'POST', 'DELETE'].flatMap(method => [
    inBody(method, '/things/1/relations/marks?dryRun=true', 'body', /body|ids/, value => value, none),
    inBody(method, '/things/1/relations/marks?dryRun=true', 'ids', 'ids', value => ({ ids: value }), listOf(isId)),
    ids(method, '/things/1/relations/marks?dryRun=true', 'ids [ ]', 'ids', id => ({ ids: [id] })),
    inBody(
      method,
      '/things/1/relations/marks?dryRun=true',
      'metadata',
      /metadata|Unknown field/,
      metadata => ({ ids: [1], metadata }),
      value => json(value) === '{}',
    ),
    inBody(
      method,
      '/things/1/relations/marks?dryRun=true',
      'metadataById',
      'metadataById',
      metadataById => ({ ids: [1], metadataById }),
      value => json(value) === '{}',
    ),
    inBody(
      method,
      '/things/1/relations/marks?dryRun=true',
      'metadataById 1',
      /metadataById|Unknown field/,
      value => ({ ids: [1], metadataById: { 1: value } }),
      value => json(value) === '{}',
    ),
    ...(method === 'DELETE'
      ? []
      : [
          inBody(
            method,
            '/things/1/relations/marks?dryRun=true',
            'metadata position',
            'position',
            position => ({ ids: [1], metadata: { position } }),
            or(isNull, isWhole),
          ),
        ]),
  ]),
  inBody('PUT', '/things/1/relations?dryRun=true', 'relations', /relations|metadata/, relations => ({ relations }), none),
  inBody('PUT', '/things/1/relations?dryRun=true', 'relations marks', /relations|ids/, marks => ({ relations: { marks } }), none),
  ids('PUT', '/things/1/relations?dryRun=true', 'relations marks ids [ ]', 'ids', id => ({ relations: { marks: { ids: [id] } } })),
  ...(
    [
      'POST /things',
      'PATCH /things/1',
      'DELETE /things/1',
      'POST /things/2/restore',
      'POST /things/import',
      'POST /things/bulk',
      'PUT /things/1/relations/marks',
    ] as const
  ).flatMap((route) => {
    const [method, path] = route.split(' ') as [string, string]
    return [
      place(`${route}?dryRun=`, 'dryRun', value => ({ method, path, query: { dryRun: asText(value) }, body: {} }), isFlagText),
      place(
        `${route} Prefer: tx=`,
        'Prefer',
        value => ({ method, path, body: {}, headers: { prefer: `tx="${asText(value).replaceAll('"', '\'')}"` } }),
        isNamed('rollback', 'commit'),
      ),
    ]
  }),
  place(
    'DELETE /things/1?force=',
    'force',
    value => ({ method: 'DELETE', path: '/things/1', query: { force: asText(value), dryRun: 'true' } }),
    isFlagText,
  ),
  place(
    'DELETE /things/bulk?force=',
    'force',
    value => ({ method: 'DELETE', path: '/things/bulk', query: { force: asText(value), dryRun: 'true' }, body: { ids: [1] } }),
    isFlagText,
  ),
  place(
    'DELETE /things/1?reason=',
    'reason',
    value => ({ method: 'DELETE', path: '/things/1', query: { reason: asText(value), dryRun: 'true' } }),
    texts(text => !text.includes('\0')),
  ),
  inHeader('If-Match', { method: 'PATCH', path: '/things/1', body: {} }, matches(/^"[^"]*"$/)),
]

const mcpCall = (name: string, args: unknown): Sent => ({
  method: 'POST',
  path: '/mcp',
  headers: { 'content-type': 'application/json' },
  raw: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${json(name)},"arguments":${json(args) ?? 'null'}}}`,
})
const ofTool = (tool: string, argument: string, fits: Fits, more: object, says: Place['says'] = argument): Place =>
  place(`mcp ${tool} ${argument}`, says, value => mcpCall(tool, { ...more, [argument]: value }), fits)
const isNames = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every(name => typeof name === 'string' && name.trim() === '')
const isEmptyObject: Fits = value => json(value) === '{}'
const THINGS = { resource: 'things' }

/** The cells of a CSV file that each field takes. An empty cell is no value. */
const CELLS: Readonly<Record<string, Fits>> = {
  title: texts(text => !text.includes('\0')),
  loud: texts(text => !text.includes('\0')),
  amount: or(
    matches(/^$/),
    texts(text => isNumberText(text) && isWhole(Number(text))),
  ),
  score: or(matches(/^$/), texts(isNumberText)),
  done: matches(/^(?:true|false|0|1)?$/i),
  at: or(matches(/^$/), isIso),
  price: or(matches(/^$/), isDecimalText, isNumber),
  big: or(matches(/^$/), texts(isWholeText)),
}

const PLUGINS: Place[] = [
  ...listOfPath('/things/export', 'page', 'limit', 'cursor', 'count', 'cursorFields', 'aggregate', 'include'),
  ...conditions('filter of an export', 'filter', filtered('/things/export')),
  inQuery('/things/export', 'format', isNamed('csv', 'json', 'ndjson')),
  inQuery('/things/export', 'bom', isFlagText, { format: 'csv' }),
  inQuery('/things/export', 'separator', isNamed(',', ';', 'tab', '\t'), { format: 'csv' }),
  inQuery('/things/export', 'formulas', isNamed('keep'), { format: 'csv' }),
  ...['mode', 'separator', 'formulas'].map(parameter =>
    place(
      `import ${parameter}`,
      parameter,
      value => ({
        method: 'POST',
        path: '/things/import',
        query: { [parameter]: asText(value), dryRun: 'true' },
        raw: 'title\na\n',
        headers: { 'content-type': 'text/csv' },
      }),
      { mode: isNamed('create', 'upsert'), separator: isNamed(',', ';', 'tab', '\t'), formulas: isNamed('keep') }[parameter]!,
    ),
  ),
  place(
    'import key',
    'key',
    value => ({
      method: 'POST',
      path: '/things/import',
      query: { mode: 'upsert', key: asText(value), dryRun: 'true' },
      raw: 'title\na\n',
      headers: { 'content-type': 'text/csv' },
    }),
    none,
  ),
  place(
    'import a line of NDJSON',
    'line',
    value => ({
      method: 'POST',
      path: '/things/import?dryRun=true',
      raw: `${json(value)}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    }),
    isJsonObject,
  ),
  ...Object.entries(FIELDS).flatMap(([name, fits]) => [
    place(
      `import NDJSON ${name}`,
      name,
      value => ({
        method: 'POST',
        path: '/things/import?dryRun=true',
        raw: `${json({ [name]: value })}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      }),
      or(isNull, fits),
    ),
    place(
      `import CSV ${name}`,
      name,
      value => ({
        method: 'POST',
        path: '/things/import?dryRun=true',
        raw: `${name},parentId\n"${asText(value).replaceAll('"', '""')}",\n`,
        headers: { 'content-type': 'text/csv' },
      }),
      CELLS[name]!,
    ),
  ]),
  ...['/audit-log', '/things/1/history', '/activity'].flatMap(path => [
    inQuery(path, 'limit', isPageNumber),
    inQuery(path, 'page', isPageNumber),
    inQuery(path, 'cursor', matches(/^$/)),
    inQuery(path, 'count', isCount),
  ]),
  ...['/audit-log', '/things/1/history'].flatMap(path => [
    inQuery(path, 'from', isIso, {}, 'from'),
    inQuery(path, 'to', isIso, {}, 'to'),
    inQuery(
      path,
      'kind',
      texts(text => !text.includes('\0')),
    ),
    inQuery(
      path,
      'userId',
      texts(text => !text.includes('\0')),
    ),
  ]),
  inQuery(
    '/audit-log',
    'resource',
    texts(text => !text.includes('\0')),
  ),
  inQuery(
    '/audit-log',
    'recordId',
    texts(text => !text.includes('\0')),
  ),
  inBody('POST', '/apiTokens', 'name', 'name', name => ({ name }), isText),
  inBody(
    'POST',
    '/apiTokens',
    'scopes',
    'scopes',
    scopes => ({ name: 'x', scopes }),
    or(isNull, value => Array.isArray(value) && value.every(scope => typeof scope === 'string' && scope !== '')),
  ),
  inBody(
    'POST',
    '/apiTokens',
    'scopes [ ]',
    'scopes',
    scope => ({ name: 'x', scopes: [scope] }),
    value => typeof value === 'string' && /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(value),
  ),
  inBody('POST', '/apiTokens', 'expiresAt', 'expiresAt', expiresAt => ({ name: 'x', expiresAt }), isIso),
  inBody(
    'POST',
    '/tokens/introspect',
    'token',
    'token',
    token => ({ token }),
    value => typeof value === 'string' && value !== '',
  ),
  inBody('POST', '/tokens/introspect', 'body', '', value => value, none),
  inQuery('/things/1/files/cover', 'download', or(isFlagText)),
  inHeader(
    'Idempotency-Key',
    { method: 'POST', path: '/things', query: { dryRun: 'true' }, body: {} },
    matches(/^(?:[\x21\x23-\x5B\x5D-\x7E](?:[\x20\x21\x23-\x5B\x5D-\x7E]*[\x21\x23-\x5B\x5D-\x7E])?|"[^"\\]+")$/),
  ),
  inHeader('MCP-Protocol-Version', { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'ping' } }, none),
  inBody('POST', '/mcp', 'body', 'JSON-RPC', value => value, none),
  inBody(
    'POST',
    '/mcp',
    'method',
    'JSON-RPC',
    method => ({ jsonrpc: '2.0', id: 1, method }),
    value => typeof value === 'string',
  ),
  inBody('POST', '/mcp', 'id', 'JSON-RPC', id => ({ jsonrpc: '2.0', id, method: 'ping' }), isId),
  inBody('POST', '/mcp', 'params', 'JSON-RPC', params => ({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }), isJsonObject),
]

const TOOLS: readonly (readonly [tool: string, more: object])[] = [
  ['list', {}],
  ['aggregate', {}],
  ['create', { values: {} }],
  ['update', { id: 1, values: {} }],
  ...['get', 'history', 'delete', 'restore'].map(tool => [tool, { id: 1 }] as const),
]

const IN_TOOLS: Place[] = [
  ...TOOLS.map(([tool, more]) => ({ ...ofTool(tool, 'resource', none, more), orUnknown: true as const })),
  ...['get', 'history', 'update', 'delete', 'restore'].map(tool =>
    ofTool(tool, 'id', isId, { ...THINGS, ...(tool === 'update' && { values: {} }) }),
  ),
  ...['list', 'aggregate'].flatMap(tool => [
    ofTool(tool, 'filter', isEmptyObject, THINGS),
    ofTool(tool, 'sort', isNames, THINGS),
    ofTool(tool, 'limit', value => isWhole(value) && Number(value) > 0 && Number(value) < 101, THINGS),
    ofTool(tool, 'trash', none, THINGS),
    ...conditions(`mcp ${tool} filter`, 'filter', filter => mcpCall(tool, { ...THINGS, filter })),
  ]),
  ...['list', 'get']
    .flatMap(tool => [
      ofTool(tool, 'fields', isNames, { ...THINGS, id: 1 }),
      ofTool(tool, 'include', or(isNames, isEmptyObject), { ...THINGS, id: 1 }),
    ])
    .filter(({ name }) => !name.startsWith('mcp list')),
  ...['fields', 'include'].map(argument => ofTool('list', argument, argument === 'include' ? or(isNames, isEmptyObject) : isNames, THINGS)),
  ...['list', 'history'].map(tool => ofTool(tool, 'cursor', value => value === '', tool === 'list' ? THINGS : { ...THINGS, id: 1 })),
  ofTool('aggregate', 'functions', isNames, THINGS, /functions|aggregate/),
  ofTool('aggregate', 'groupBy', isNames, THINGS),
  ofTool('aggregate', 'having', isEmptyObject, THINGS),
  ofTool('aggregate', 'page', isPageNumber, THINGS),
  ofTool('create', 'values', isEmptyObject, THINGS, /values|Unknown field/),
  ofTool('update', 'values', isEmptyObject, { ...THINGS, id: 1 }, /values|Unknown field/),
  ofTool('update', 'ifMatch', none, { ...THINGS, id: 1, values: {} }, /if-?match/i),
  ofTool('delete', 'confirm', value => typeof value === 'string', { ...THINGS, id: 1 }),
]

export const PLACES: readonly Place[] = [...READS, ...PATHS, ...WRITES, ...PLUGINS, ...IN_TOOLS]

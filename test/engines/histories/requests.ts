/** The requests of the clients, each with how often it is sent. */
import type { Operation, Write } from './check/history'
import { foundIn, type Client, type Sent } from './client'
import { KEYS, readCells, readItems, readMark, readPins, readSets, type Cell, type Known, type Shelf } from './shelf'

type Request = (client: Client, shelf: Shelf) => Promise<unknown>
interface Row { readonly id: number }
interface Entry { readonly id: string, readonly cellId: string, readonly cell: Cell }

const append = (cell: number, value: number): Write => ({ kind: 'append', key: KEYS.items(cell), value })
const write = (cell: number, value: number): Write => ({ kind: 'write', key: KEYS.mark(cell), value })

const listPath = ({ number }: Shelf, resource: string, more = '') =>
  `${resource}?filter[shelf]=${number}&sort=id&limit=100&count=none${more}`

/** Pairs of a cell and an included record. */
const pairsOf = (rows: readonly { readonly id: string, readonly [name: string]: unknown }[], name: string) =>
  rows.flatMap(row => (row[name] as readonly Row[]).map(({ id }) => [Number(row.id), id] as const))

/** One change of a cell, as part of a bulk request or as steps of a batch. */
interface Part {
  readonly id: number
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly known?: Known
  readonly writes: readonly Operation[]
}

function markPart({ newValue }: Shelf, id: number, times: number): Part {
  const marks = Array.from({ length: times }, newValue)
  return { id, data: marks.map(mark => ({ mark })), writes: marks.map(mark => write(id, mark)) }
}

function appendPart({ newValue }: Shelf, id: number, known: Known, times: number): Part {
  const values = Array.from({ length: times }, newValue)
  const data = values.map((_, index) => ({ items: [...known.items, ...values.slice(0, index + 1)].join() }))
  return { id, data, known, writes: values.map(value => append(id, value)) }
}

function linkPart(shelf: Shelf, id: number): Part {
  const [mark, tag] = [shelf.newValue(), shelf.newTag()]
  if (tag === undefined) return markPart(shelf, id, 1)
  return { id, data: [{ mark, tags: { link: [tag] } }], writes: [write(id, mark), { kind: 'add', key: KEYS.tags(id), value: tag }] }
}

/** Changes of two cells or more, each written up to so many times. */
async function partsOf(client: Client, shelf: Shelf, times: number): Promise<Part[]> {
  const ids = shelf.ids.filter(() => client.random() < 0.7)
  const parts: Part[] = []
  for (const id of ids.length < 2 ? shelf.ids.slice(0, 2) : ids) {
    const kind = client.random()
    const known = kind < 0.4 ? client.known.get(id) ?? await client.get(shelf, id) : undefined
    const count = 1 + client.below(times)
    parts.push(known ? appendPart(shelf, id, known, count) : kind < 0.85 ? markPart(shelf, id, count) : linkPart(shelf, id))
  }
  return parts
}

/** The response has each cell as the commit left it: what the request did not write is a read. */
const readsOf = (parts: readonly Part[], rows: readonly Cell[]): Operation[] => {
  const byId = new Map(rows.map(row => [Number(row.id), row]))
  return parts.filter(({ known }) => !known).map(({ id }) => readItems(id, byId.get(id)!.items))
}

const foundBy = (parts: readonly Part[]) => parts.flatMap(({ id, known }) => known ? foundIn(id, known) : [])

async function sendBulk(client: Client, shelf: Shelf, options: Pick<Sent, 'isDryRun'> = {}): Promise<void> {
  const parts = await partsOf(client, shelf, 1)
  await client.send(shelf, {
    method: 'PATCH', path: `cells/bulk${options.isDryRun ? '?dryRun=true' : ''}`,
    body: { items: parts.map(({ id, data: [data], known }) => ({ id: String(id), data, ...known && { ifMatch: known.tag } })) },
    writes: parts.flatMap(({ writes }) => writes), found: foundBy(parts), refusals: [412],
    reads: ({ data }) => readsOf(parts, data),
    ...options,
  })
  client.forget(parts.map(({ id }) => id))
}

/** A batch. If it `breaks`, its last step violates a constraint of the database, after the others were written. */
async function sendBatch(client: Client, shelf: Shelf, { breaks = false, isDryRun = false } = {}): Promise<void> {
  const parts = await partsOf(client, shelf, 2)
  const entries = [client.cellOf(shelf), client.cellOf(shelf)].flatMap((cellId) => {
    const id = shelf.newEntry()
    return id === undefined ? [] : [{ id, cellId, shelf: shelf.number }]
  })
  const removed = client.random() < 0.3 ? shelf.removable.entries.pop() : undefined
  const creates = entries.map(entry => ({ resource: 'entries', operation: 'create', data: toEntry(entry) }))
  const updates = parts.flatMap(({ id, data, known }) => data.map((values, index) =>
    ({ resource: 'cells', operation: 'update', id: String(id), data: values, ...index === 0 && known && { ifMatch: known.tag } })))
  const steps = [
    ...updates, ...creates, ...removed ? [{ resource: 'entries', operation: 'delete', id: String(removed.value) }] : [],
    ...breaks ? creates.slice(0, 1) : [],
  ]
  const answer = await client.send(shelf, {
    method: 'POST', path: `batch${isDryRun ? '?dryRun=true' : ''}`, body: { steps },
    writes: [
      ...parts.flatMap(({ writes }) => writes),
      ...entries.map(({ id, cellId }): Write => ({ kind: 'add', key: KEYS.entries(cellId), value: id })),
      ...removed ? [{ kind: 'remove', key: KEYS.entries(removed.cell), value: removed.value } as const] : [],
    ],
    found: foundBy(parts), refusals: breaks && creates.length > 0 ? [409, 412] : [412], isDryRun,
    reads: ({ data }) => readsOf(parts, data.slice(0, updates.length)),
  })
  client.forget(parts.map(({ id }) => id))
  if (answer && !isDryRun) keep(shelf, 'entries', entries.map(({ id, cellId }) => ({ cell: cellId, value: id })))
}

const keep = ({ removable }: Shelf, name: 'entries' | 'tags', members: Shelf['removable']['tags']) =>
  void removable[name].push(...members)

interface NewEntry { readonly id: number, readonly cellId: number, readonly shelf: number }

/** The body of a create. */
const toEntry = ({ id, cellId, shelf }: NewEntry) => ({ id: String(id), cellId: String(cellId), shelf })

async function createEntries(client: Client, shelf: Shelf, count: number): Promise<void> {
  const entries = Array.from({ length: count }, () => ({ id: shelf.newEntry(), cellId: client.cellOf(shelf), shelf: shelf.number }))
    .filter((entry): entry is NewEntry => entry.id !== undefined)
  if (entries.length === 0) return
  const answer = await client.send(shelf, {
    method: 'POST', path: count === 1 ? 'entries' : 'entries/bulk',
    body: count === 1 ? toEntry(entries[0]!) : { items: entries.map(toEntry) },
    writes: entries.map(({ id, cellId }) => ({ kind: 'add', key: KEYS.entries(cellId), value: id })),
  })
  if (answer) keep(shelf, 'entries', entries.map(({ id, cellId }) => ({ cell: cellId, value: id })))
}

const READS: readonly (readonly [weight: number, request: Request])[] = [
  [8, (client, shelf) => client.get(shelf, client.cellOf(shelf))],
  [14, (client, shelf) => client.send(shelf, {
    method: 'GET', path: listPath(shelf, 'cells'), reads: ({ data }) => readCells(shelf.ids, data),
  })],
  // The included links are read by statements of their own.
  [8, (client, shelf) => client.send(shelf, {
    method: 'GET', path: listPath(shelf, 'cells', '&include=tags,pins'),
    reads: ({ data }) => readCells(shelf.ids, data),
    later: ({ data }) => data.length < shelf.ids.length
      ? []
      : [readSets(KEYS.tags, shelf.ids, pairsOf(data, 'tags')), readPins(shelf.ids, pairsOf(data, 'pins'))],
  })],
  // A record of a to-one relation is joined: entries and their cells are read at one moment.
  [8, (client, shelf) => client.send(shelf, {
    method: 'GET', path: listPath(shelf, 'entries', '&include=cell'),
    reads: ({ data }: { data: Entry[] }) => {
      const cells = [...new Map(data.map(({ cellId, cell }) => [Number(cellId), cell]))]
      return [
        ...readSets(KEYS.entries, shelf.ids, data.map(({ id, cellId }) => [Number(cellId), Number(id)])),
        ...cells.flatMap(([id, { items, mark }]) => [readItems(id, items), readMark(id, mark)]),
      ]
    },
  })],
]

const WRITES: readonly (readonly [weight: number, request: Request])[] = [
  [4, (client, shelf) => {
    const id = client.cellOf(shelf)
    return client.send(shelf, {
      method: 'GET', path: `cells/${id}/relations/tags?limit=100&count=none`,
      reads: ({ data }: { data: Row[] }) => readSets(KEYS.tags, [id], data.map(tag => [id, tag.id])),
    })
  }],
  [4, (client, shelf) => {
    const id = client.cellOf(shelf)
    return client.send(shelf, {
      method: 'GET', path: `cells/${id}/relations/pins?limit=100&count=none`,
      reads: ({ data }: { data: Row[] }) => readPins([id], data.map(pin => [id, pin.id])),
    })
  }],
  [14, async (client, shelf) => {
    const id = client.cellOf(shelf)
    const known = await client.read(shelf, id)
    if (!known) return
    const { data: [data], writes } = appendPart(shelf, id, known, 1)
    await client.update(shelf, id, { data: data!, known, writes })
  }],
  [5, (client, shelf) => {
    const [id, mark] = [client.cellOf(shelf), shelf.newValue()]
    return client.update(shelf, id, { data: { mark }, writes: [write(id, mark)], reads: ({ items }) => [readItems(id, items)] })
  }],
  [5, async (client, shelf) => {
    const id = client.cellOf(shelf)
    const known = await client.read(shelf, id)
    const mark = shelf.newValue()
    if (known) await client.update(shelf, id, { data: { mark }, known, writes: [write(id, mark)] })
  }],
  [5, (client, shelf) => {
    const id = client.cellOf(shelf)
    const { data: [data], writes } = linkPart(shelf, id)
    return client.update(shelf, id, { data: data!, writes, reads: ({ items }) => [readItems(id, items)] })
  }],
  [8, (client, shelf) => sendBulk(client, shelf)],
  [10, (client, shelf) => sendBatch(client, shelf)],
  [3, (client, shelf) => sendBatch(client, shelf, { breaks: true })],
  [4, (client, shelf) => createEntries(client, shelf, 1)],
  [2, (client, shelf) => createEntries(client, shelf, 3)],
  [3, async (client, shelf) => {
    const removed = shelf.removable.entries.pop()
    if (removed) await client.send(shelf, {
      method: 'DELETE', path: `entries/${removed.value}`,
      writes: [{ kind: 'remove', key: KEYS.entries(removed.cell), value: removed.value }],
    })
  }],
  [4, async (client, shelf) => {
    const [cell, value] = [client.cellOf(shelf), shelf.newTag()]
    if (value === undefined) return
    const answer = await client.send(shelf, {
      method: 'POST', path: `cells/${cell}/relations/tags`, body: { ids: [value] },
      writes: [{ kind: 'add', key: KEYS.tags(cell), value }],
    })
    if (answer) keep(shelf, 'tags', [{ cell, value }])
  }],
  [2, async (client, shelf) => {
    const removed = shelf.removable.tags.pop()
    if (removed) await client.send(shelf, {
      method: 'DELETE', path: `cells/${removed.cell}/relations/tags`, body: { ids: [removed.value] },
      writes: [{ kind: 'remove', key: KEYS.tags(removed.cell), value: removed.value }],
    })
  }],
  [6, async (client, shelf) => {
    const [cell, ids] = [client.cellOf(shelf), shelf.newPins()]
    if (ids) await client.send(shelf, {
      method: 'PUT', path: `cells/${cell}/relations/pins`, body: { ids },
      writes: [{ kind: 'write', key: KEYS.pins(cell), value: ids[0] * 1000 + ids[1] }],
    })
  }],
  // Nothing of a dry run stays.
  [2, (client, shelf) => {
    const [id, mark] = [client.cellOf(shelf), shelf.newValue()]
    return client.update(shelf, id, { data: { mark }, path: `cells/${id}?dryRun=true`, writes: [write(id, mark)], isDryRun: true })
  }],
  [1, (client, shelf) => sendBulk(client, shelf, { isDryRun: true })],
  [1, (client, shelf) => sendBatch(client, shelf, { isDryRun: true })],
]

function chooser(requests: readonly (readonly [weight: number, request: Request])[]): (client: Client) => Request {
  const total = requests.reduce((sum, [weight]) => sum + weight, 0)
  return (client) => {
    let at = client.random() * total
    return requests.find(([weight]) => (at -= weight) < 0)![1]
  }
}

const anyRequest = chooser([...READS, ...WRITES])
const anyRead = chooser(READS.slice(1))

/** Before the cells of a shelf exist, lists find none of them, or all of them. */
export const sendAny = (client: Client, shelf: Shelf): Promise<unknown> => (shelf.isReady ? anyRequest : anyRead)(client)(client, shelf)

/** Creates all cells of a shelf in one commit. */
export async function createCells(client: Client, shelf: Shelf): Promise<void> {
  const cells = shelf.ids.map(id => ({ id, shelf: shelf.number, items: '', mark: shelf.newValue() }))
  const answer = await client.send(shelf, {
    method: 'POST', path: 'cells/bulk', body: { items: cells.map(cell => ({ ...cell, id: String(cell.id) })) },
    writes: cells.map(({ id, mark }) => write(id, mark)),
  })
  if (answer) shelf.isReady = true
  else shelf.isFull = true
}

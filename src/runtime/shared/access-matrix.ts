/** The text of an access matrix: Markdown tables that a reviewer can read and compare, for the test kit and the command `check`. */

export interface AccessTable {
  /** The heading of the table, such as the name of a resource. */
  readonly name: string
  /** The heading of each column. The first column contains the subjects. */
  readonly columns: readonly string[]
  /** Each row begins with its subject, which is unique in the table. */
  readonly rows: readonly (readonly string[])[]
}

export interface AccessMatrix {
  /** The first lines of the text. */
  readonly head: readonly string[]
  readonly tables: readonly AccessTable[]
}

/** @returns the text with a line break at its end */
export function toMarkdown({ head, tables }: AccessMatrix): string {
  return `${[...head, ...tables.flatMap(toLines)].join('\n')}\n`
}

function toLines({ name, columns, rows }: AccessTable): string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.map(escape).join(' | ')} |`
  return ['', `## ${name}`, '', toLine(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(toLine)]
}

const escape = (cell: string) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')

/** Shows code in a cell. Code with a backtick needs two of them around it. */
export const toCode = (text: string) => text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``

/** Returns every difference of two texts of a matrix as a sentence. Empty if the texts are equal. */
export function findMatrixChanges(before: string, after: string): string[] {
  const [old, current] = [parseTables(before), parseTables(after)]
  const changes = [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), current.get(name)]
    if (!was) return [`\`${name}\` is new.`]
    if (!is) return [`\`${name}\` is missing.`]
    return findTableChanges(name, was, is)
  })
  const isSame = normalize(before) === normalize(after)
  return changes.length > 0 || isSame ? changes : ['The text around the tables, or the order of the lines, has changed.']
}

// Git can change line breaks when it checks out a file.
const normalize = (text: string) => text.replaceAll('\r\n', '\n').trimEnd()

/** The cells by subject and column. */
type Cells = ReadonlyMap<string, ReadonlyMap<string, string>>

function parseTables(text: string): Map<string, Cells> {
  const tables = new Map<string, Cells>()
  for (const part of normalize(text).split(/^## /m).slice(1)) {
    const [name, ...lines] = part.split('\n')
    const [columns, , ...rows] = lines.filter(line => line.startsWith('|')).map(parseLine)
    tables.set(name!, new Map(rows.map(([subject, ...cells]) =>
      [subject!, new Map(cells.map((cell, index) => [columns?.[index + 1] ?? '', cell]))])))
  }
  return tables
}

const parseLine = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1).map(cell => cell.trim().replaceAll('\\|', '|'))

function findTableChanges(name: string, was: Cells, is: Cells): string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((subject) => {
    const [before, after] = [was.get(subject), is.get(subject)]
    if (!before) return [`${name}: "${subject}" is new: ${listCells(after!)}.`]
    if (!after) return [`${name}: "${subject}" is missing. It was: ${listCells(before)}.`]
    return [...new Set([...before.keys(), ...after.keys()])].flatMap((column) => {
      const [from = 'absent', to = 'absent'] = [before.get(column), after.get(column)]
      return from === to ? [] : [`${name}: "${subject}" for ${column} was ${from}, is ${to}.`]
    })
  })
}

const listCells = (cells: ReadonlyMap<string, string>) => [...cells].map(([column, cell]) => `${column} ${cell}`).join(', ')

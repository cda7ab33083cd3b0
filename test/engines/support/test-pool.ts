/** A pool of node-postgres whose database can be dropped as soon as it has ended. */
import pg from 'pg'

/**
 * `end()` resolves before the server has closed the connections. If the database is dropped in between, the server ends them with an
 * error, and the pool throws it because nobody listens.
 */
export class TestPool extends pg.Pool {
  override end(): Promise<void>
  override end(callback: () => void): void
  override end(callback?: () => void): Promise<void> | void {
    this.on('error', () => {})
    return callback ? super.end(callback) : super.end()
  }
}

/** The Nitro plugin that explains a driver that this Node cannot load. It is the first one. */
import { guardNativeDriver } from '../../shared/native-driver'

// Not in the plugin: files of the app can open a database while they are loaded, which is before any plugin runs.
guardNativeDriver()

export default function nativeDriver(): void {}

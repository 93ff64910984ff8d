// The thread of yaml-thread.ts. What goes wrong here beside the text itself ends it, and is told there.

import { parentPort } from "node:worker_threads"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"

parentPort?.on("message", (bytes: Uint8Array) => parentPort?.postMessage(convertYaml(bytes)))

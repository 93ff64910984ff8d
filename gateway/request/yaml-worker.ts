// The thread of yaml-thread.ts. What goes wrong here beside the text itself ends it, and is told there.

import { parentPort, workerData } from "node:worker_threads"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"

const { maxDepth } = workerData as { maxDepth: number }

parentPort?.on("message", (bytes: Uint8Array) => parentPort?.postMessage(convertYaml(bytes, maxDepth)))

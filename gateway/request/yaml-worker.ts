// The worker of yaml-thread.ts. Errors other than in the text itself terminate it and are reported there.

import { parentPort } from "node:worker_threads"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"

parentPort?.on("message", (bytes: Uint8Array) => parentPort?.postMessage(convertYaml(bytes)))

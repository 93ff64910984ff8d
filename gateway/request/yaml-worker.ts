// The worker of yaml-thread.ts. Errors other than in the text itself terminate it and are reported there.

import { parentPort } from "node:worker_threads"
import { parseJson } from "../../apimachinery/schema/exact-integers.ts"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"
import { printYaml } from "../../apimachinery/schema/yaml/print.ts"
import type { YamlJob } from "./yaml-thread.ts"

parentPort?.on("message", ({ bytes, isPrinted }: YamlJob) =>
  parentPort?.postMessage(isPrinted ? printYaml(parseJson(Buffer.from(bytes))) : convertYaml(bytes)),
)

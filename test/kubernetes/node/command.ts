// npm run kubernetes:node [-- up [--nodes N] | down | status]: a cluster of real nodes that runs until it is stopped.

import { parseArgs } from "node:util"
import { withProgress } from "../../../cli/progress.ts"
import { clustersDirectory } from "./layout.ts"
import { exists, MachineLacks, unavailable } from "./machine.ts"
import { RealKubernetes } from "./real-kubernetes.ts"
import { directoryOf, removeCluster } from "./state.ts"

const name = "nodes"
const help = `usage: npm run kubernetes:node [-- up [--nodes N] | down]

up    starts a real Kubernetes with N nodes (default 2) on this machine and prints the path of its kubeconfig
down  ends it; nothing of it stays
`

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { nodes: { type: "string", default: "2" }, help: { type: "boolean", default: false } },
  })
  const [verb = "up", ...rest] = positionals
  if (values.help || rest.length > 0 || (verb !== "up" && verb !== "down")) {
    process.stdout.write(help)
    return values.help ? 0 : 2
  }
  const directory = directoryOf(name)
  if (verb === "down") {
    if (process.getuid?.() !== 0 && (await exists(directory))) throw new Error("only root can end it")
    await removeCluster(directory)
    return 0
  }
  if (await exists(directory))
    throw new Error(`it runs already, or broke (${directory}): npm run kubernetes:node -- down`)
  const nodes = Number(values.nodes)
  const made = await withProgress("starting real nodes", (say) =>
    RealKubernetes.start({ nodes, name, stays: true, say }),
  )
  process.stdout.write(`${made.kubeconfig}\n`)
  return 0
}

try {
  process.exit(await main())
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  if (await exists(directoryOf(name))) process.stderr.write(`logs are in ${clustersDirectory}/${name}/node*/logs\n`)
  process.exit(error instanceof MachineLacks ? unavailable : 1)
}

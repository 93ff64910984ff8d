// Random sessions of kubectl, run manually: the same commands against a kube-apiserver and a tenant, both without controllers. Commands
// that differ are printed; after the first of a session, others may differ only because of it.
//
//   node test/kubernetes/kubectl/random.ts [--seed N] [--rounds N] [--seconds N] [--minor 1.33]

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { parse, stringify } from "yaml"
import { seedOf } from "../../../apimachinery/testing/random.ts"
import type { ServiceAddresses } from "../../../gateway/control-plane/service-addresses.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { succeed } from "../../harness/processes.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { randomSession } from "./random-commands.ts"
import { difference } from "./normalise.ts"
import { type Client, kubectls, typed } from "./session.ts"

const objects = fileURLToPath(new URL("objects/random/", import.meta.url))

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3600" },
    minor: { type: "string" },
  },
})
const seed = seedOf(values.seed)
const deadline = Date.now() + Number(values.seconds) * 1000
const { program, minor } = kubectls.find((one) => one.minor === values.minor) ?? kubectls.at(-1) ?? fail()
console.log(`seed ${seed}, ${values.rounds} rounds, kubectl ${minor}`)

await using stack = new AsyncDisposableStack()
const home = await mkdtemp(path.join(tmpdir(), "random-kubectl-"))
stack.defer(() => rm(home, { recursive: true }))
const kubernetes = stack.use(await TestKubernetes.start({ serviceAccounts: true }))
const gateway = stack.use(await startTestGateway({ superCluster: false, serviceAddresses }))
const tenant = await gateway.createTenant("random", { controllers: false })
const clients = await Promise.all([
  client("real", await readFile(kubernetes.kubeconfig, "utf8")),
  client("tenant", tenant.kubeconfig),
])
for (const { env } of clients) await succeed(program, ["create", "-f", `${objects}node.yaml`], { env })
for (let round = 0; round < Number(values.rounds) && Date.now() < deadline; round++) {
  const namespace = `random-${seed + round}`
  for (const { env } of clients) {
    await succeed(program, ["create", "namespace", namespace], { env })
    await succeed(program, ["create", "serviceaccount", "default", "-n", namespace], { env })
    await succeed(program, ["config", "set-context", "--current", `--namespace=${namespace}`], { env })
  }
  console.log(`seed ${seed + round}`)
  for (const step of randomSession(seed + round)) {
    if (Date.now() > deadline) break
    const [expected = "", found = ""] = await Promise.all(
      clients.map(async (each) => withoutStructs(await typed(each, step, objects))),
    )
    if (expected !== found) console.log(`$ kubectl ${step.command}\n${difference(expected, found)}`)
  }
}

/** Upstream prints its structs in memory, and differences between them, with other names than those of fields. */
function withoutStructs(printed: string): string {
  const value = /Invalid value: \{.*?\}: (?=field is immutable)/g
  const changedLines = /(pod updates may not change fields other than .*\n)(?:[ @+-].*\n|\n)*/g
  return printed.replaceAll(value, "Invalid value: ").replaceAll(changedLines, "$1")
}

function serviceAddresses(): ServiceAddresses {
  return new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: () => Promise.resolve([]) })
}

function fail(): never {
  throw new Error("there is no kubectl")
}

/** Both servers know the user by the same name. */
async function client(name: string, kubeconfig: string): Promise<Client> {
  const folder = path.join(home, name)
  const temporary = path.join(folder, "tmp")
  await succeed("mkdir", ["-p", temporary])
  const config = parse(kubeconfig) as { users: { user: object }[] }
  const user = { as: "random", "as-groups": ["system:masters", "system:authenticated"] }
  const users = config.users.map((one) => ({ ...one, user: { ...one.user, ...user } }))
  await writeFile(path.join(folder, "config"), stringify({ ...config, users }))
  const own = { HOME: folder, TMPDIR: temporary, KUBECACHEDIR: `${folder}/cache`, KUBECONFIG: `${folder}/config` }
  return { program, env: { ...process.env, ...own } }
}

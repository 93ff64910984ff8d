// The operations that a gateway has acknowledged (gateway-program.ts), and whether a gateway on the same data directory still has
// their results.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps, namespaces } from "../../client/resources.ts"
import { checkDataDirectory } from "../../gateway/stores/check-data-directory.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"

export type Told =
  | { what: "gateway"; authority: string }
  | { what: "tenant"; name: string; uid: string; certificate: string; key: string }
  | { what: "deleting" | "deleted"; name: string }
  | { what: "object"; tenant: string; name: string; resourceVersion: string }
  | { what: "gone"; tenant: string; name: string }

interface Expected {
  uid: string
  certificate: string
  key: string
  /** Undefined if the tenant must exist. */
  deletion: "deleting" | "deleted" | undefined
  /** Resource versions by name; undefined for deleted objects. */
  objects: Map<string, string | undefined>
}

/** Starts a gateway on the directory and returns what is missing, as sentences. */
export async function whatIsMissing(dataDir: string, lines: readonly string[]): Promise<readonly string[]> {
  const told = lines.map((line) => JSON.parse(line) as Told)
  const faults: string[] = []
  {
    await using gateway = await startTestGateway({ dataDir })
    const authority = told.find((each) => each.what === "gateway")?.authority
    if (authority !== undefined && authority !== gateway.gateway.certificateAuthority)
      faults.push("the gateway has another authority than before: no client trusts it any more")
    for (const [name, expected] of expectedOf(told)) faults.push(...(await faultsOf(gateway, name, expected)))
    for (const { name } of gateway.gateway.tenants.list()) faults.push(...(await useOf(gateway, name)))
  }
  for await (const { name, faults: found } of checkDataDirectory(dataDir))
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  return faults
}

function expectedOf(told: readonly Told[]): ReadonlyMap<string, Expected> {
  const tenants = new Map<string, Expected>()
  const of = (name: string): Expected => {
    const found = tenants.get(name)
    if (found === undefined) throw new Error(`nothing was told of tenant ${name}`)
    return found
  }
  for (const each of told)
    if (each.what === "tenant") tenants.set(each.name, { ...each, deletion: undefined, objects: new Map() })
    else if (each.what === "deleting" || each.what === "deleted") of(each.name).deletion = each.what
    else if (each.what === "object") of(each.tenant).objects.set(each.name, each.resourceVersion)
    else if (each.what === "gone") of(each.tenant).objects.set(each.name, undefined)
  return tenants
}

async function faultsOf(gateway: TestGateway, name: string, expected: Expected): Promise<readonly string[]> {
  const tenant = gateway.gateway.tenants.get(name)
  if (expected.deletion === "deleted")
    return tenant === undefined ? [] : [`tenant ${name} was deleted and is there again`]
  if (expected.deletion === "deleting") return []
  if (tenant?.uid !== expected.uid) return [`tenant ${name} is not there any more`]
  const { certificate, key } = expected
  const { code } = await gateway.request(`/tenants/${name}/api/v1/namespaces/default`, { certificate, key })
  if (code !== 200) return [`tenant ${name} answers its own certificate with ${code}`]
  const { items } = await gateway.gateway.tenants.client(name).list<ConfigMap>(configMaps, { namespace: "default" })
  const found = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
  return [...expected.objects]
    .filter(([object, version]) => found.get(object) !== version && !mayBeGone(object, expected))
    .map(
      ([object, version]) => `${object} of tenant ${name}: ${version ?? "deleted"}, but there is ${found.get(object)}`,
    )
}

/** Includes tenants whose creation was not acknowledged: they must be usable too. */
async function useOf(gateway: TestGateway, name: string): Promise<readonly string[]> {
  try {
    await gateway.gateway.tenants.client(name).get(namespaces, undefined, "default")
    return []
  } catch (error) {
    return [`tenant ${name} cannot be used: ${errorMessage(error)}`]
  }
}

/** Whether the object may be deleted: its deletion is requested when all objects of its round have been created. */
function mayBeGone(object: string, { objects }: Expected): boolean {
  return object.endsWith("-0") && objects.get(object) !== undefined && objects.has(object.replace(/0$/, "4"))
}

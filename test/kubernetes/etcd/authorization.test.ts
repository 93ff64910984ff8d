// An etcd that knows its users by the names in their certificates, and lets each of them do what its roles allow.

import { rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  type Authority,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
} from "../../../gateway/pki/pki.ts"
import { EtcdStorage } from "../../../gateway/stores/etcd-storage.ts"
import { EtcdDatabase } from "../../../storage/etcd/database.ts"
import type { Store } from "../../../storage/types.ts"
import { eventually } from "../../harness/eventually.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { call } from "../../harness/https.ts"
import { lacks } from "../harness/needs.ts"
import { TestEtcd } from "./test-etcd.ts"

const put = (store: Store, key: string, value: string) =>
  store.txn({ compare: [], operations: [{ type: "put", key, value: Buffer.from(value) }] })
const base64 = (text: string): string => Buffer.from(text).toString("base64")

const prefix = "/polyplane"
const keys = { key: base64(`${prefix}/`), range_end: base64(`${prefix}0`) }
const denied = expect.objectContaining({ code: "Unavailable", message: "etcd: etcdserver: permission denied" })

describe.skipIf(lacks(["etcd"]))("in an etcd with users and roles", () => {
  const stack = new AsyncDisposableStack()
  let authority: Authority
  let etcd: TestEtcd
  let admin: (action: string, body: object) => Promise<{ token?: string }>

  const issue = (name: string) => issueClientCertificate(authority, { name, groups: [] })

  beforeAll(async () => {
    authority = await createAuthority("etcd")
    const serving = await issueServingCertificate(authority, ["127.0.0.1", "localhost"])
    // Its JSON API refuses certificates with a name, and itself calls the server with one.
    const nameless = await issue("")
    const folder = await temporaryFolder("polyplane-etcd")
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const files = [path.join(folder, "tls.crt"), path.join(folder, "tls.key")] as const
    await writeFile(files[0], nameless.certificate)
    await writeFile(files[1], nameless.key)
    const tls = { certificateAuthority: authority.certificate, serving, client: nameless }
    etcd = stack.use(
      await TestEtcd.start({ tls, flags: [`--client-cert-file=${files[0]}`, `--client-key-file=${files[1]}`] }),
    )
    const [server = ""] = etcd.servers
    let token: string | undefined
    admin = async (action, body) => {
      const { status, text } = await call(server, {
        path: `/v3/auth/${action}`,
        method: "POST",
        body: JSON.stringify(body),
        headers: token === undefined ? {} : { authorization: token },
        ...nameless,
      })
      if (status !== 200) throw new Error(`${action}: ${text}`)
      return JSON.parse(text) as { token?: string }
    }
    const root = { name: "root", password: "secret" }
    await admin("user/add", root)
    await admin("user/grant", { user: "root", role: "root" })
    await admin("role/add", { name: "tenants" })
    await admin("role/grant", { name: "tenants", perm: { permType: "READWRITE", ...keys } })
    for (const name of ["polyplane", "other"]) await admin("user/add", { name, options: { no_password: true } })
    await admin("user/grant", { user: "polyplane", role: "tenants" })
    await admin("enable", {})
    token = (await admin("authenticate", root)).token
  })

  afterAll(() => stack.disposeAsync())

  const optionsOf = async (name: string) => {
    const { certificate, key } = await issue(name)
    const [certificateAuthority, ...pair] = [authority.certificate, certificate, key].map((text) => Buffer.from(text))
    return {
      servers: etcd.servers,
      prefix,
      tls: { certificateAuthority, certificate: pair[0], key: pair[1] } as object,
    }
  }

  test("a user without a role is told so", async () => {
    const options = await optionsOf("other")
    await expect(EtcdDatabase.open(options)).rejects.toEqual(denied)
    await expect(EtcdStorage.open(options)).rejects.toThrow(
      /^etcd at .* cannot be used: etcd: etcdserver: permission denied$/,
    )
  })

  test("a role for the keys below the prefix is enough, and may be taken away for a while", async () => {
    const failures: string[] = []
    await using database = await EtcdDatabase.open({
      ...(await optionsOf("polyplane")),
      onFailure: ({ message }) => failures.push(message),
    })
    const quota = { maxObjects: 100, maxBytes: 1024 * 1024, prefix: "/", reserveBytes: 0 }
    const store = await database.openStore("tenant", undefined, quota)
    const seen: string[] = []
    const watching = (async () => {
      for await (const events of store.watch("/", { after: store.revision })) {
        for (const { current } of events) seen.push(Buffer.from(current.value).toString())
        if (seen.includes("3")) break
      }
    })()
    await put(store, "/a", "1")
    await eventually(() => seen.includes("1"))
    const held = await database.hold("name", "holder", { ttlSeconds: 5, waitMs: 0 })
    await held[Symbol.asyncDispose]()

    await admin("role/revoke", { role: "tenants", ...keys })
    const attempts = [() => put(store, "/a", "2"), () => store.get("/a"), () => store.range("/"), () => store.latest()]
    for (const attempt of attempts) await expect(attempt()).rejects.toEqual(denied)
    await admin("role/grant", { name: "tenants", perm: { permType: "READWRITE", ...keys } })
    await put(store, "/a", "3")
    await watching
    expect(seen).toEqual(["1", "3"])
    await database.removeStore("tenant")
    expect((await store.range("/")).items).toEqual([])
    expect(failures).toEqual([])
  })

  // In an etcd before 3.7 every user may do so.
  test("only a user with the role root may compact, which others are told once in a while", async () => {
    const failures: string[] = []
    const open = async () =>
      EtcdDatabase.open({
        ...(await optionsOf("polyplane")),
        etcdLimits: { historyRevisions: 4 },
        onFailure: ({ message }) => failures.push(message),
      })
    const write = async (): Promise<number> => {
      await using database = await open()
      const store = await database.openStore("compacted")
      for (let i = 0; i < 20; i++) await put(store, "/a", String(i))
      return store.compactedRevision
    }
    expect(await write()).toBe(0)
    expect(failures).toEqual(["the history cannot be compacted: etcd: etcdserver: permission denied"])
    await admin("user/grant", { user: "polyplane", role: "root" })
    expect(await write()).toBeGreaterThan(0)
    expect(failures).toHaveLength(1)
  })
})

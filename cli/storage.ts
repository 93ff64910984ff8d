// The flags and configuration fields that select the storage: the data directory, or an etcd that several gateways share.

import { readFile } from "node:fs/promises"
import { errorMessage } from "../apimachinery/error-message.ts"
import { whole } from "../client/credentials/kubeconfig.ts"
import type { EtcdTls } from "../storage/etcd/certificates.ts"
import type { EtcdStorageOptions } from "../gateway/stores/etcd-storage.ts"
import { UsageError, UserError } from "./command.ts"
import { filePath, listOf, optional, section, text, type ConfigOf, type Field, type Place } from "./config.ts"

export const storageFlags = {
  storage: {
    type: "string",
    default: "level",
    takes: "KIND",
    help: "level: LevelDB in the data directory; etcd: the etcd at --etcd-servers",
  },
  "etcd-servers": {
    type: "string",
    takes: "URLS",
    help: "comma-separated etcd members, http://HOST:PORT or https://HOST:PORT",
  },
  "etcd-prefix": { type: "string", takes: "PREFIX", help: "prefix of all keys (default /polyplane)" },
  "etcd-ca": {
    type: "string",
    takes: "FILE",
    help: "certificate authority of the etcd members (default: the system's authorities)",
  },
  "etcd-cert": { type: "string", takes: "FILE", help: "client certificate for etcd" },
  "etcd-key": { type: "string", takes: "FILE", help: "key of the client certificate" },
} as const

type Given = { [K in keyof typeof storageFlags]?: string | undefined }

/** Returns undefined for the data directory. */
export async function etcdOfFlags(flags: Given): Promise<EtcdStorageOptions | undefined> {
  const { storage, "etcd-servers": servers } = flags
  if (storage !== "level" && storage !== "etcd")
    throw new UsageError(`--storage must be level or etcd, not "${storage}"`)
  if (storage === "level") {
    const names = Object.keys(storageFlags) as (keyof Given)[]
    const given = names.find((name) => name !== "storage" && flags[name] !== undefined)
    if (given !== undefined) throw new UsageError(`--${given} needs --storage etcd`)
    return undefined
  }
  if (servers === undefined) throw new UsageError("--storage etcd needs --etcd-servers")
  const list = servers.split(",")
  for (const server of list)
    if (!isServer(server))
      throw new UsageError(`--etcd-servers must be URLs like https://10.0.0.1:2379, not "${server}"`)
  return etcdOptions(list, {
    prefix: flags["etcd-prefix"],
    certificateAuthority: flags["etcd-ca"],
    certificate: flags["etcd-cert"],
    key: flags["etcd-key"],
  })
}

const server: Field<string> = {
  read(value: unknown, place: Place) {
    const given = text.read(value, place)
    if (!isServer(given))
      throw new UserError(
        `${place.file}: field "${place.field}" must be a URL like https://10.0.0.1:2379, not "${given}"`,
      )
    return given
  },
}

/** The section "etcd" of a configuration file. */
export const etcdSection = section({
  servers: listOf(server),
  prefix: optional(text),
  certificateAuthority: optional(filePath),
  certificate: optional(filePath),
  key: optional(filePath),
})

export function etcdOfSection({
  servers,
  ...more
}: ConfigOf<{ etcd: typeof etcdSection }>["etcd"]): Promise<EtcdStorageOptions> {
  return etcdOptions(servers, more)
}

interface More {
  prefix?: string | undefined
  certificateAuthority?: string | undefined
  certificate?: string | undefined
  key?: string | undefined
}

async function etcdOptions(servers: readonly string[], { prefix, ...files }: More): Promise<EtcdStorageOptions> {
  if (servers.length === 0) throw new UserError("etcd needs at least one server")
  if (new Set(servers.map((each) => new URL(each).protocol)).size > 1)
    throw new UserError("the members of etcd are either all reached by http:// or all by https://")
  if ((files.certificate === undefined) !== (files.key === undefined))
    throw new UserError("a certificate for etcd needs its key, and the key its certificate")
  const read = async (file: string | undefined): Promise<Buffer | undefined> => {
    try {
      return file === undefined ? undefined : await readFile(file)
    } catch (error) {
      throw new UserError(`${file} cannot be read: ${errorMessage(error)}`, {
        cause: error,
      })
    }
  }
  const named = Object.values(files).filter((file) => file !== undefined)
  const readTls = async (): Promise<EtcdTls> => {
    const [certificateAuthority, certificate, key] = await Promise.all([
      read(files.certificateAuthority),
      read(files.certificate),
      read(files.key),
    ])
    try {
      whole(named.join(", "), {
        ...(certificateAuthority === undefined ? {} : { certificateAuthority: certificateAuthority.toString() }),
        ...(certificate === undefined ? {} : { certificate: certificate.toString() }),
        ...(key === undefined ? {} : { key: key.toString() }),
      })
    } catch (error) {
      throw new UserError(errorMessage(error), { cause: error })
    }
    return {
      ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
      ...(certificate === undefined ? {} : { certificate }),
      ...(key === undefined ? {} : { key }),
    }
  }
  return {
    servers,
    ...(prefix === undefined ? {} : { prefix }),
    tls: await readTls(),
    ...(named.length > 0 ? { tlsAgain: readTls } : {}),
  }
}

function isServer(given: string): boolean {
  if (!URL.canParse(given)) return false
  const { protocol, pathname, host } = new URL(given)
  return (protocol === "http:" || protocol === "https:") && pathname === "/" && host !== ""
}

import { storeSuite } from "../testing/store-suite/store-suite.ts"
import { createMemoryStore } from "./store.ts"

storeSuite({ name: "memory store", open: async (options) => createMemoryStore(options) })
